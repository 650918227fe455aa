/** STAC fields of an asset beyond our columns: those it was registered with, and those measured in the file. */
import type { ShownAsset } from './asset-page.ts'

type Json = Record<string, unknown>
type Described = Pick<ShownAsset, 'raster' | 'href'>

/** Asset fields that have columns. */
const IN_COLUMNS = new Set(['href', 'title', 'type', 'roles', 'file:size'])
/** Per asset, as JSON. Larger metadata is not stored. */
const MAX_STATED_BYTES = 16_384

/** The fields of an imported asset that are returned unchanged. */
export function fieldsToKeep(asset: Json): Json | null {
  const kept = Object.fromEntries(Object.entries(asset).filter(([name]) => !IN_COLUMNS.has(name)))
  const isKept = Object.keys(kept).length > 0 && JSON.stringify(kept).length <= MAX_STATED_BYTES
  return isKept ? kept : null
}

export function statedFields({ raster }: Described): Json {
  const stated = raster?.['stac']
  return stated !== null && typeof stated === 'object' ? (stated as Json) : {}
}

/** The current band names, each with what the catalogue states about that band. */
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

/** For stored files: projection, size and bands as measured. */
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
