/** Items whose bands are in several files: what their STAC metadata says of each band. */
import type { StackBand } from '#ports/raster.ts'

type Json = Readonly<Record<string, unknown>>

/** An asset with one band. */
export interface StatedAsset {
  key: string
  /** As a user or the file named it. */
  bandName: string | null
  /** STAC fields: `eo:bands`, `raster:bands`, `bands`, `gsd`, `proj:transform`. */
  fields: Json
}

/**
 * Which values apply: those that the catalogue states, the rule of Sentinel-2's processing baseline where it states none, or the
 * samples as they are.
 */
export type Scaling = 'stac' | 's2-baseline' | 'none'

/** Names of Sentinel-2's bands, of the reflectances first by number and then as catalogues call them. */
const SENTINEL_2: readonly (readonly [band: string, name: string])[] = [
  ['B01', 'coastal'],
  ['B02', 'blue'],
  ['B03', 'green'],
  ['B04', 'red'],
  ['B05', 'rededge1'],
  ['B06', 'rededge2'],
  ['B07', 'rededge3'],
  ['B08', 'nir'],
  ['B8A', 'nir08'],
  ['B09', 'nir09'],
  ['B11', 'swir16'],
  ['B12', 'swir22'],
]
const SENTINEL_2_SCALE = 0.0001
/** From this processing baseline on, samples are reflectance · 10,000 + 1,000, so that dark pixels are not cut off. */
const OFFSET_BASELINE = 4
const BASELINE_OFFSET = -0.1

/** Sorts the assets of a stack as the item lists its bands. Bands that the item does not list follow in the order of the assets. */
export function inBandOrder<A extends StatedAsset>(assets: readonly A[], properties: Json): A[] {
  const listed = itemBands(properties)
  if (listed.length === 0) return [...assets]
  const placeOf = (asset: A): number => {
    const { ownName, commonName } = statementOf(asset, properties)
    const names = [ownName, textOf(statedOf(asset)['name']), asset.key, commonName].filter((name) => name !== null)
    const places = names.map((name) => listed.findIndex((band) => [band['name'], commonNameIn(band)].includes(name)))
    return places.find((place) => place !== -1) ?? listed.length
  }
  return assets.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/**
 * The bands of a stack, in the order of the assets. `properties` are those of the item. A band is called by its common name, otherwise
 * by its own name; if several bands share that, by its asset key. The other names are aliases.
 */
export function stackBands(assets: readonly StatedAsset[], properties: Json, scaling: Scaling = 'stac'): StackBand[] {
  const statements = assets.map((asset) => statementOf(asset, properties))
  const candidates = statements.map(({ givenName, commonName, ownName, key }) => [givenName, commonName, ownName, key].filter(isText))
  const names = candidates.map((own) => own.find((name) => candidates.filter((others) => others.includes(name)).length === 1))
  const bands = statements.map((statement, index) => stackBand(statement, { name: names[index] ?? statement.key, properties, scaling }))
  const called = new Set(bands.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((each) => each.toLowerCase())))
  // Landsat calls its near infrared `nir08`, and has no other.
  return called.has('nir')
    ? bands
    : bands.map((band) => (isNarrowNir(band) ? { ...band, aliases: [...(band.aliases ?? []), 'nir'] } : band))
}

const isNarrowNir = ({ name, aliases = [] }: StackBand): boolean => [name, ...aliases].includes('nir08')

/** The bands that the item itself lists: STAC 1.1 allows them in its properties. */
const itemBands = (properties: Json): Json[] => {
  const listed = properties['bands'] ?? properties['eo:bands']
  return Array.isArray(listed) ? listed.map((band: unknown) => (isObject(band) ? band : {})) : []
}

const commonNameIn = (band: Json): string | null => textOf(band['eo:common_name'] ?? band['common_name'])

const statedOf = ({ fields }: StatedAsset): Json => ({
  ...firstOf(fields['eo:bands']),
  ...firstOf(fields['raster:bands']),
  ...firstOf(fields['bands']),
})

/** What the item and the asset state about a band. */
interface Statement {
  key: string
  /** The name that a user gave to the band; it goes before those of the catalogue. */
  givenName: string | null
  ownName: string | null
  commonName: string | null
  sentinel2: (typeof SENTINEL_2)[number] | undefined
  stated: Json
  fields: Json
}

function statementOf(asset: StatedAsset, properties: Json): Statement {
  const { key, bandName, fields } = asset
  const ofAsset = statedOf(asset)
  const statedName = textOf(ofAsset['name'])
  const stated = { ...itemBands(properties).find((band) => statedName !== null && band['name'] === statedName), ...ofAsset }
  const ownName = bandName ?? statedName
  const isGiven = bandName !== null && statedName !== null && bandName !== statedName
  const sentinel2 = isSentinel2(properties)
    ? SENTINEL_2.find((names) => names.some((name) => name === key || name === statedName || name === ownName))
    : undefined
  // Catalogues differ in the common names of Sentinel-2: `rededge` is one of four bands.
  const commonName = sentinel2?.[1] ?? commonNameIn(stated)
  return { key, givenName: isGiven ? bandName : null, ownName, commonName, sentinel2, stated, fields }
}

function stackBand(
  { key, ownName, commonName, sentinel2, stated, fields }: Statement,
  { name, properties, scaling }: { name: string; properties: Json; scaling: Scaling },
): StackBand {
  const aliases = [
    key,
    ...(commonName ? [commonName] : []),
    ...(sentinel2 ? [sentinel2[0]] : []),
    ...(ownName ? [ownName, `${key}:${ownName}`] : []),
    plainName(key),
  ]
  const dataType = textOf(stated['data_type'] ?? fields['data_type'])
  const nodata = nodataOf(stated['nodata'] ?? fields['nodata'])
  const unit = textOf(stated['unit'] ?? fields['unit'])
  const resolutionM = resolutionOf(stated, fields)
  return {
    name,
    asset: key,
    aliases: [...new Set(aliases)].filter((alias) => alias !== name),
    ...(scaling === 'none' ? {} : scaleOf({ ...fields, ...stated }, properties, sentinel2 !== undefined)),
    ...(nodata === undefined ? {} : { nodata }),
    ...(unit === null ? {} : { unit }),
    ...(dataType === null ? {} : { dataType }),
    ...(resolutionM === undefined ? {} : { resolutionM }),
  }
}

/** A name that an expression can contain. */
const plainName = (key: string): string => key.replaceAll(/[^A-Za-z0-9_]/g, '_')

const isSentinel2 = (properties: Json): boolean =>
  Object.keys(properties).some((name) => name.startsWith('s2:')) ||
  ['constellation', 'platform'].some((name) => /^sentinel-2/i.test(textOf(properties[name]) ?? ''))

/**
 * Two traps of Sentinel-2. Earth Search states an offset of −0.1 even for scenes whose pixels it has already corrected, which
 * `earthsearch:boa_offset_applied` tells. Planetary Computer states nothing, so that the processing baseline decides.
 */
function scaleOf(stated: Json, properties: Json, isReflectance: boolean): Pick<StackBand, 'scale' | 'offset'> {
  const [scale, offset] = [numberOf(stated['raster:scale'] ?? stated['scale']), numberOf(stated['raster:offset'] ?? stated['offset'])]
  if (scale !== undefined || offset !== undefined) {
    const isApplied = properties['earthsearch:boa_offset_applied'] === true
    return { ...(scale === undefined ? {} : { scale }), ...(offset === undefined || isApplied ? {} : { offset }) }
  }
  const baseline = Number.parseFloat(textOf(properties['s2:processing_baseline']) ?? '')
  if (!isReflectance || Number.isNaN(baseline)) return {}
  return { scale: SENTINEL_2_SCALE, ...(baseline >= OFFSET_BASELINE ? { offset: BASELINE_OFFSET } : {}) }
}

/** In metres, if stated. A transform in degrees is not compared. */
function resolutionOf(stated: Json, fields: Json): number | undefined {
  const [side] = Array.isArray(fields['proj:transform']) ? (fields['proj:transform'] as unknown[]) : []
  const ofTransform = numberOf(side)
  return (
    numberOf(stated['raster:spatial_resolution'] ?? stated['spatial_resolution']) ??
    (ofTransform !== undefined && ofTransform >= MIN_METRES ? ofTransform : undefined) ??
    numberOf(stated['gsd'] ?? fields['gsd'])
  )
}

/** The smallest number that is a side in metres rather than degrees. */
const MIN_METRES = 0.05

function nodataOf(value: unknown): number | undefined {
  if (value === 'nan') return Number.NaN
  return numberOf(value)
}

const firstOf = (list: unknown): Json => {
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return isObject(first) ? first : {}
}
const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object'
const isText = (value: string | null): value is string => value !== null
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
const textOf = (value: unknown): string | null => (typeof value === 'string' && value.length > 0 ? value : null)
