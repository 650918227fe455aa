/** What STAC tells of an asset beyond our columns: what it was registered with, and what we measured in the file itself. */
import type { ShownAsset } from './asset-page.ts'

type Json = Record<string, unknown>
type Described = Pick<ShownAsset, 'raster' | 'href'>

/** Fields of an asset that we have columns for. */
const IN_COLUMNS = new Set(['href', 'title', 'type', 'roles', 'file:size'])
/** Of one asset, as JSON. Beyond it the fields are left with their catalogue. */
const MAX_STATED_BYTES = 16_384

/** What an imported asset says of itself, to be given back as it came. */
export function fieldsToKeep(asset: Json): Json | null {
  const kept = Object.fromEntries(Object.entries(asset).filter(([name]) => !IN_COLUMNS.has(name)))
  const isKept = Object.keys(kept).length > 0 && JSON.stringify(kept).length <= MAX_STATED_BYTES
  return isKept ? kept : null
}

export function statedFields({ raster }: Described): Json {
  const stated = raster?.['stac']
  return stated !== null && typeof stated === 'object' ? (stated as Json) : {}
}

/** The names as they are now, and beside each whatever the catalogue said of that band. */
export function namedBands(asset: Described & Pick<ShownAsset, 'bandNames'>): Json {
  if (asset.bandNames === null) return {}
  const stated = statedFields(asset)['eo:bands']
  const bands: readonly unknown[] = Array.isArray(stated) ? stated : []
  return { 'eo:bands': asset.bandNames.map((name, index) => ({ ...(bands[index] as Json | undefined), name })) }
}

interface Facts {
  width: number
  height: number
  data_type: string
  epsg: number | null
  transform: number[] | null
  bands: { nodata: number | string | null; scale: number | null; offset: number | null; unit: string | null; statistics: Json | null }[]
}

/** Of files of ours: projection, size and bands as we found them. */
export function measuredFields({ raster, href }: Described): Json {
  if (href !== null || raster === null || !Array.isArray(raster['bands'])) return {}
  const { width, height, data_type: dataType, epsg, transform, bands } = raster as Json & Facts
  const [a, b, c, d, e, f] = transform ?? []
  return {
    'proj:epsg': epsg,
    'proj:shape': [height, width],
    ...(f === undefined ? {} : { 'proj:transform': [b, c, a, e, f, d] }),
    'raster:bands': bands.map((band) => bandOf(band, dataType)),
  }
}

const NOT_FINITE: Readonly<Record<string, string>> = { NaN: 'nan', Infinity: 'inf', '-Infinity': '-inf' }

function bandOf({ nodata, scale, offset, unit, statistics }: Facts['bands'][number], dataType: string): Json {
  const { min, max, mean, std } = (statistics ?? {}) as Record<string, number | null>
  const numbers = Object.entries({ minimum: min, maximum: max, mean, stddev: std }).filter(([, value]) => typeof value === 'number')
  return {
    data_type: dataType,
    ...(nodata === null ? {} : { nodata: typeof nodata === 'number' ? nodata : (NOT_FINITE[nodata] ?? 'nan') }),
    ...(scale === null ? {} : { scale }),
    ...(offset === null ? {} : { offset }),
    ...(unit === null || unit === '' ? {} : { unit }),
    ...(numbers.length > 0 ? { statistics: Object.fromEntries(numbers) } : {}),
  }
}
