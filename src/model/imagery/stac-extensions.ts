/** The STAC extensions a document declares: those whose schemas define all of its fields with their prefix. */

/** A version of an extension by the fields it defines; its schema rejects any other field with the same prefix. */
interface Version {
  version: string
  fields: ReadonlySet<string>
}

interface Extension {
  name: string
  /** Preferred first. */
  versions: readonly Version[]
}

const version = (name: string, ...fields: string[]): Version => ({ version: name, fields: new Set(fields) })

const PROJECTION = ['proj:wkt2', 'proj:projjson', 'proj:geometry', 'proj:bbox', 'proj:centroid', 'proj:shape', 'proj:transform']
const VIEW = ['view:off_nadir', 'view:incidence_angle', 'view:azimuth', 'view:sun_azimuth', 'view:sun_elevation']
const FILE = ['file:byte_order', 'file:checksum', 'file:header_size', 'file:size', 'file:values']
const RASTER_2 = ['bits_per_sample', 'histogram', 'offset', 'sampling', 'scale', 'spatial_resolution'].map((name) => `raster:${name}`)
const EO_2 = ['cloud_cover', 'snow_cover', 'common_name', 'center_wavelength', 'full_width_half_max', 'solar_illumination']

/** By the prefix of their fields. */
const EXTENSIONS: Readonly<Record<string, Extension>> = {
  eo: {
    name: 'eo',
    versions: [
      version('v1.1.0', 'eo:cloud_cover', 'eo:snow_cover', 'eo:bands'),
      version('v2.0.0', ...EO_2.map((name) => `eo:${name}`)),
      version('v1.0.0', 'eo:cloud_cover', 'eo:bands'),
    ],
  },
  file: { name: 'file', versions: [version('v2.1.0', ...FILE, 'file:local_path'), version('v2.0.0', ...FILE)] },
  proj: {
    name: 'projection',
    versions: [
      version('v1.1.0', ...PROJECTION, 'proj:epsg'),
      version('v2.0.0', ...PROJECTION, 'proj:code'),
      version('v1.2.0', ...PROJECTION, 'proj:epsg', 'proj:code'),
      version('v1.0.0', ...PROJECTION, 'proj:epsg'),
    ],
  },
  raster: {
    name: 'raster',
    versions: [version('v1.1.0', 'raster:bands'), version('v2.0.0', ...RASTER_2), version('v1.0.0', 'raster:bands')],
  },
  view: {
    name: 'view',
    versions: [version('v1.0.0', ...VIEW), version('v1.1.0', ...VIEW, 'view:moon_azimuth', 'view:moon_elevation')],
  },
  classification: { name: 'classification', versions: [version('v1.1.0', 'classification:classes', 'classification:bitfields')] },
}

const HOME = 'https://stac-extensions.github.io/'
const uriOf = (name: string, { version: number }: Version): string => `${HOME}${name}/${number}/schema.json`

type Json = Readonly<Record<string, unknown>>

/**
 * A document keeps what it was registered with. Where we add fields, or a registered version does not know all of them, the
 * extension is declared in a version that does; where none does, it is not declared, because a validator would reject the item.
 */
export function declaredExtensions(registered: readonly string[], properties: Json, assets: Readonly<Record<string, Json>>): string[] {
  const declared = new Set(registered)
  for (const [prefix, fields] of fieldsInUse(properties, Object.values(assets))) {
    const { name, versions } = EXTENSIONS[prefix]!
    const current = registered.find((uri) => uri.startsWith(`${HOME}${name}/`))
    const fitting = versions.filter((each) => isKnownTo(each, fields, properties, assets)).map((each) => uriOf(name, each))
    if (current !== undefined && fitting.includes(current)) continue
    if (current !== undefined) declared.delete(current)
    if (fitting[0] !== undefined) declared.add(fitting[0])
  }
  return [...declared]
}

/** The fields of known extensions, by prefix. */
function fieldsInUse(properties: Json, assets: readonly Json[]): Map<string, Set<string>> {
  const used = new Map<string, Set<string>>()
  for (const object of [properties, ...assets]) {
    for (const field in object) {
      const end = field.indexOf(':')
      if (end < 0) continue
      const prefix = field.slice(0, end)
      if (!Object.hasOwn(EXTENSIONS, prefix)) continue
      const fields = used.get(prefix)
      if (fields) fields.add(field)
      else used.set(prefix, new Set([field]))
    }
  }
  return used
}

function isKnownTo(
  { fields: known }: Version,
  fields: ReadonlySet<string>,
  properties: Json,
  assets: Readonly<Record<string, Json>>,
): boolean {
  for (const field of fields) if (!known.has(field)) return false
  // Version 1 of `eo` allows bands of the whole item only beside bands of an asset.
  return !('eo:bands' in properties && known.has('eo:bands')) || Object.values(assets).some((asset) => 'eo:bands' in asset)
}
