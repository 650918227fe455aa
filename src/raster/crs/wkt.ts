import { figureOf, type Figure } from './figure.ts'
import { crsFromEpsg, datumOf, geographicCodeOf } from './registry.ts'
import { RasterError } from '#raster/errors.ts'
import type { Crs } from '#raster/types.ts'

/** A WKT node: a keyword with values in brackets, such as `UNIT["Meter",1.0]`. */
interface WktNode {
  readonly word: string
  readonly texts: readonly string[]
  readonly numbers: readonly number[]
  readonly parts: readonly WktNode[]
}

/** Real definitions are about a kilobyte long and five brackets deep. */
const MAX_LENGTH = 16_384
const MAX_DEPTH = 12

/** Parses a CRS in WKT 1, as ArcGIS and older versions of GDAL write it. */
export function crsFromWkt(text: string): Crs {
  const root = parseWkt(text)
  if (root.word === 'GEOGCS') return geographic(root)
  if (root.word === 'PROJCS') return projected(root)
  if (root.word === 'COMPD_CS') {
    const map = root.parts.find(({ word }) => word === 'PROJCS' || word === 'GEOGCS')
    if (map) return map.word === 'PROJCS' ? projected(map) : geographic(map)
  }
  throw refused(`${root.word || 'its text'} is not a map projection`)
}

function parseWkt(text: string): WktNode {
  if (text.length > MAX_LENGTH) throw refused('its text is too long')
  const tokens = text.match(/"[^"]*"|[A-Za-z_][A-Za-z0-9_]*|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[[\](),]/g) ?? []
  let at = 0
  const node = (depth: number): WktNode => {
    if (depth > MAX_DEPTH) throw refused('its brackets are too deep')
    const word = (tokens[at++] ?? '').toUpperCase()
    const [texts, numbers, parts]: [string[], number[], WktNode[]] = [[], [], []]
    if (tokens[at] !== '[' && tokens[at] !== '(') return { word, texts, numbers, parts }
    at++
    while (at < tokens.length && tokens[at] !== ']' && tokens[at] !== ')') {
      const token = tokens[at]!
      if (token.startsWith('"')) texts.push(tokens[at++]!.slice(1, -1))
      else if (/^[-+.\d]/.test(token)) numbers.push(Number(tokens[at++]))
      else if (token === ',' || token === '[' || token === '(') at++
      else parts.push(node(depth + 1))
    }
    at++
    return { word, texts, numbers, parts }
  }
  return node(0)
}

const part = (node: WktNode | undefined, word: string): WktNode | undefined => node?.parts.find((child) => child.word === word)

/** The EPSG code in a definition. */
function codeOf(node: WktNode): number | null {
  const authority = part(node, 'AUTHORITY')
  if (authority?.texts[0] !== 'EPSG') return null
  const code = Number(authority.texts[1] ?? authority.numbers[0])
  return Number.isInteger(code) ? code : null
}

function geographic(node: WktNode): Crs {
  const unit = part(node, 'UNIT')?.numbers[0] ?? Math.PI / 180
  if (Math.abs(unit - Math.PI / 180) > 1e-9) throw refused('its longitudes and latitudes are not in degrees')
  const code = codeOf(node) ?? geographicCodeOf(node.texts[0] ?? '')
  if (code !== null) return crsFromEpsg(code)
  const { figure, accuracyM, note } = figureFromWkt(node)
  const name = node.texts[0] ?? 'user-defined geographic system'
  return { epsg: null, name, kind: 'geographic', proj4: `+proj=longlat ${figure} +no_defs`, unit: 1, accuracyM, note }
}

function figureFromWkt(node: WktNode): Figure {
  const code = codeOf(node) ?? geographicCodeOf(node.texts[0] ?? '')
  if (code !== null) return datumOf(code)
  const datum = part(node, 'DATUM')
  const [a, rf] = part(datum, 'SPHEROID')?.numbers ?? []
  if (a === undefined || rf === undefined || !(a > 0) || !(rf >= 0)) throw refused('it names no ellipsoid')
  const shift = part(datum, 'TOWGS84')?.numbers ?? null
  return figureOf([a, rf], part(node, 'PRIMEM')?.numbers[0] ?? 0, shift && (shift.length === 3 || shift.length === 7) ? shift : null)
}

function projected(node: WktNode): Crs {
  const code = codeOf(node)
  if (code !== null) return crsFromEpsg(code)
  const method = (part(node, 'PROJECTION')?.texts[0] ?? '').toLowerCase()
  const unit = part(node, 'UNIT')?.numbers[0] ?? 1
  if (!(unit > 0)) throw refused('its unit of length is not a length')
  const parameters = new Map<string, number>()
  for (const { word, texts, numbers } of node.parts)
    if (word === 'PARAMETER') parameters.set((texts[0] ?? '').toLowerCase(), numbers[0] ?? 0)
  const given = new Parameters(parameters, unit)
  if (method === 'mercator_auxiliary_sphere' && unit === 1 && given.isPlain) return crsFromEpsg(WEB_MERCATOR)
  const build = method === GEOSTATIONARY ? geostationary(part(node, 'EXTENSION')?.texts[1] ?? '') : METHODS[method]
  const base = part(node, 'GEOGCS')
  if (!build || !base) throw refused(`its projection ${method.slice(0, 60) || 'has no name'} is not supported`)
  const { figure, accuracyM, note } = figureFromWkt(base)
  const units = unit === 1 ? '' : ` +to_meter=${unit}`
  const proj4 = `${build(given)} ${given.offset} ${figure}${units} +no_defs`
  return { epsg: null, name: node.texts[0] ?? 'user-defined projection', kind: 'projected', proj4, unit, accuracyM, note }
}

const WEB_MERCATOR = 3857

class Parameters {
  readonly #values: ReadonlyMap<string, number>
  readonly #unit: number

  constructor(values: ReadonlyMap<string, number>, unit: number) {
    this.#values = values
    this.#unit = unit
  }

  get(fallback: number, ...names: string[]): number {
    for (const name of names) {
      const value = this.#values.get(name)
      if (value !== undefined && Number.isFinite(value)) return value
    }
    return fallback
  }

  /** No offset and no rotation. */
  get isPlain(): boolean {
    return [...this.#values.values()].every((value) => value === 0)
  }

  get offset(): string {
    return `+x_0=${this.get(0, 'false_easting') * this.#unit} +y_0=${this.get(0, 'false_northing') * this.#unit}`
  }

  get lon0(): string {
    return `+lon_0=${this.get(0, 'central_meridian', 'longitude_of_center', 'longitude_of_origin')}`
  }

  get latitude(): number {
    return this.get(0, 'latitude_of_origin', 'latitude_of_center', 'central_parallel')
  }

  get lat0(): string {
    return `+lat_0=${this.latitude}`
  }

  get scale(): string {
    return `+k_0=${this.get(1, 'scale_factor')}`
  }

  get parallel1(): number {
    return this.get(0, 'standard_parallel_1')
  }

  get parallels(): string {
    return `+lat_1=${this.parallel1} +lat_2=${this.get(this.parallel1, 'standard_parallel_2')}`
  }

  /** The standard parallel of a cylindrical projection. */
  get trueScale(): string {
    return `+lat_ts=${this.get(0, 'standard_parallel_1', 'latitude_of_origin')}`
  }

  get azimuth(): string {
    const azimuth = this.get(0, 'azimuth')
    return (
      `+lonc=${this.get(0, 'longitude_of_center', 'central_meridian')} +alpha=${azimuth} ` +
      `+gamma=${this.get(azimuth, 'rectified_grid_angle', 'xy_plane_rotation')}`
    )
  }
}

type Build = (p: Parameters) => string

const tmerc: Build = (p) => `+proj=tmerc ${p.lat0} ${p.lon0} ${p.scale}`
const aea: Build = (p) => `+proj=aea ${p.parallels} ${p.lat0} ${p.lon0}`
const merc: Build = (p) => `+proj=merc ${p.lon0} ${p.get(1, 'scale_factor') === 1 ? p.trueScale : p.scale}`
const eqc: Build = (p) => `+proj=eqc +lat_ts=${p.parallel1} ${p.lon0}`

function lcc(p: Parameters): string {
  const isOne = p.get(NaN, 'standard_parallel_2')
  if (Number.isNaN(isOne)) return `+proj=lcc +lat_1=${p.get(p.latitude, 'standard_parallel_1')} ${p.lat0} ${p.lon0} ${p.scale}`
  return `+proj=lcc ${p.parallels} ${p.lat0} ${p.lon0}`
}

/** The latitude is the pole if there is a scale, otherwise the standard parallel. */
function polar(p: Parameters): string {
  const latitude = p.get(90, 'standard_parallel_1', 'latitude_of_origin')
  const size = Math.abs(latitude) === 90 ? p.scale : `+lat_ts=${latitude}`
  return `+proj=stere +lat_0=${latitude < 0 ? -90 : 90} ${size} ${p.lon0}`
}

const GEOSTATIONARY = 'geostationary_satellite'
const GEOSTATIONARY_HEIGHT_M = 35_785_831

/** The view of a geostationary satellite. Only GDAL's extension node states the sweep axis. */
function geostationary(addition: string): Build {
  const sweep = /\+sweep=([xy])/.exec(addition)?.[1] ?? 'y'
  return (p) => `+proj=geos +sweep=${sweep} +h=${p.get(GEOSTATIONARY_HEIGHT_M, 'satellite_height', 'height')} ${p.lon0}`
}

/** Projections by their ArcGIS and OGC names. */
const METHODS: Readonly<Record<string, Build>> = {
  transverse_mercator: tmerc,
  gauss_kruger: tmerc,
  lambert_conformal_conic: lcc,
  lambert_conformal_conic_1sp: lcc,
  lambert_conformal_conic_2sp: lcc,
  albers: aea,
  albers_conic_equal_area: aea,
  lambert_azimuthal_equal_area: (p) => `+proj=laea ${p.lat0} ${p.lon0}`,
  azimuthal_equidistant: (p) => `+proj=aeqd ${p.lat0} ${p.lon0}`,
  equidistant_conic: (p) => `+proj=eqdc ${p.parallels} ${p.lat0} ${p.lon0}`,
  stereographic: (p) => `+proj=stere ${p.lat0} ${p.lon0} ${p.scale}`,
  double_stereographic: (p) => `+proj=sterea ${p.lat0} ${p.lon0} ${p.scale}`,
  oblique_stereographic: (p) => `+proj=sterea ${p.lat0} ${p.lon0} ${p.scale}`,
  stereographic_north_pole: polar,
  stereographic_south_pole: polar,
  polar_stereographic: polar,
  mercator: merc,
  mercator_1sp: merc,
  mercator_2sp: merc,
  plate_carree: eqc,
  equidistant_cylindrical: eqc,
  equirectangular: eqc,
  cylindrical_equal_area: (p) => `+proj=cea ${p.trueScale} ${p.lon0}`,
  sinusoidal: (p) => `+proj=sinu ${p.lon0}`,
  mollweide: (p) => `+proj=moll ${p.lon0}`,
  robinson: (p) => `+proj=robin ${p.lon0}`,
  cassini: (p) => `+proj=cass ${p.lat0} ${p.lon0}`,
  cassini_soldner: (p) => `+proj=cass ${p.lat0} ${p.lon0}`,
  polyconic: (p) => `+proj=poly ${p.lat0} ${p.lon0}`,
  miller_cylindrical: (p) => `+proj=mill ${p.lon0}`,
  new_zealand_map_grid: (p) => `+proj=nzmg ${p.lat0} ${p.lon0}`,
  hotine_oblique_mercator_azimuth_natural_origin: (p) => `+proj=omerc ${p.lat0} ${p.azimuth} ${p.scale} +no_uoff`,
  hotine_oblique_mercator: (p) => `+proj=omerc ${p.lat0} ${p.azimuth} ${p.scale} +no_uoff`,
  hotine_oblique_mercator_azimuth_center: (p) => `+proj=omerc ${p.lat0} ${p.azimuth} ${p.scale}`,
  hotine_oblique_mercator_azimuth_centre: (p) => `+proj=omerc ${p.lat0} ${p.azimuth} ${p.scale}`,
}

function refused(detail: string): RasterError {
  return new RasterError('unknown_crs', `The raster's WKT coordinate reference system is not supported: ${detail}`)
}
