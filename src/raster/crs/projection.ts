import { key, KEY, USER_DEFINED, type GeoKeys } from '#raster/crs/geokeys.ts'
import { projectionOfConversion } from '#raster/crs/registry.ts'
import { angularUnitDegrees } from '#raster/crs/units.ts'
import { RasterError } from '#raster/errors.ts'

interface Projection {
  /** In proj4's notation, without ellipsoid and unit. */
  readonly projection: string
  readonly utmZone: number | null
}

/** The projection of a user-defined system: a UTM zone by its code, or a method with its parameters. */
export function projectionFromKeys(keys: GeoKeys, unitMetres: number): Projection {
  const code = key(keys, KEY.projection)
  if (code !== null && code !== USER_DEFINED) {
    const utm = utmProjection(code)
    if (utm) return utm
    const projection = projectionOfConversion(code)
    if (projection) return { projection, utmZone: null }
  }
  const method = key(keys, KEY.coordinateTransformation)
  const build = method === null ? undefined : METHODS[method]
  if (!build) {
    const projection = method === null ? `projection ${code ?? 'without method'}` : `projection method ${method}`
    throw new RasterError('unknown_crs', `The raster's ${projection} is not supported`)
  }
  return { projection: build(new Parameters(keys, unitMetres)), utmZone: null }
}

/** EPSG 16001–16060 are the northern UTM zones, 16101–16160 the southern ones. */
function utmProjection(code: number): Projection | null {
  const zone = code % 100
  if (zone < 1 || zone > 60) return null
  if (Math.floor(code / 100) === 160) return { projection: `+proj=utm +zone=${zone}`, utmZone: zone }
  if (Math.floor(code / 100) === 161) return { projection: `+proj=utm +zone=${zone} +south`, utmZone: zone }
  return null
}

/** Writers use different keys for the same parameter: each getter takes the first one present. */
class Parameters {
  readonly #keys: GeoKeys
  readonly #unitMetres: number
  readonly #degrees: number

  constructor(keys: GeoKeys, unitMetres: number) {
    this.#keys = keys
    this.#unitMetres = unitMetres
    this.#degrees = angularUnitDegrees(keys)
  }

  get lat0(): string {
    return `+lat_0=${this.latitude}`
  }

  get latitude(): number {
    return this.#angle(0, KEY.naturalOriginLatitude, KEY.falseOriginLatitude, KEY.centerLatitude)
  }

  get lon0(): string {
    const { naturalOriginLongitude, falseOriginLongitude, centerLongitude, straightVerticalPoleLongitude } = KEY
    return `+lon_0=${this.#angle(0, naturalOriginLongitude, falseOriginLongitude, centerLongitude, straightVerticalPoleLongitude)}`
  }

  get poleLon(): string {
    const { straightVerticalPoleLongitude, naturalOriginLongitude, falseOriginLongitude, centerLongitude } = KEY
    return `+lon_0=${this.#angle(0, straightVerticalPoleLongitude, naturalOriginLongitude, falseOriginLongitude, centerLongitude)}`
  }

  get parallel1(): number {
    return this.#angle(0, KEY.standardParallel1, KEY.naturalOriginLatitude)
  }

  get parallels(): string {
    return `+lat_1=${this.parallel1} +lat_2=${this.#angle(this.parallel1, KEY.standardParallel2)}`
  }

  /** A scale of 1 has no effect beside a standard parallel. */
  get hasOtherScale(): boolean {
    return (key(this.#keys, KEY.scaleAtNaturalOrigin) ?? 1) !== 1
  }

  get hasParallel1(): boolean {
    return key(this.#keys, KEY.standardParallel1) !== null
  }

  get scale(): string {
    return `+k_0=${this.#first([KEY.scaleAtNaturalOrigin, KEY.scaleAtCenter]) ?? 1}`
  }

  get azimuth(): string {
    const azimuth = this.#angle(0, KEY.azimuth)
    return `+alpha=${azimuth} +gamma=${this.#angle(azimuth, KEY.rectifiedGridAngle)}`
  }

  get centerLon(): string {
    return `+lonc=${this.#angle(0, KEY.centerLongitude, KEY.naturalOriginLongitude)}`
  }

  get offset(): string {
    const x = this.#first([KEY.falseEasting, KEY.falseOriginEasting, KEY.centerEasting]) ?? 0
    const y = this.#first([KEY.falseNorthing, KEY.falseOriginNorthing, KEY.centerNorthing]) ?? 0
    return `+x_0=${x * this.#unitMetres} +y_0=${y * this.#unitMetres}`
  }

  #first(ids: readonly number[]): number | null {
    for (const id of ids) {
      const value = key(this.#keys, id)
      if (value !== null && Number.isFinite(value)) return value
    }
    return null
  }

  #angle(fallback: number, ...ids: number[]): number {
    const value = this.#first(ids)
    return value === null ? fallback : value * this.#degrees
  }
}

/** Projection methods by GeoTIFF's coordinate transformation codes. */
const METHODS: Readonly<Record<number, (p: Parameters) => string>> = {
  1: (p) => `+proj=tmerc ${p.lat0} ${p.lon0} ${p.scale} ${p.offset}`,
  3: (p) => `+proj=omerc ${p.lat0} ${p.centerLon} ${p.azimuth} ${p.scale} ${p.offset} +no_uoff`,
  7: (p) =>
    p.parallel1 !== 0 && !p.hasOtherScale
      ? `+proj=merc ${p.lon0} +lat_ts=${p.parallel1} ${p.offset}`
      : `+proj=merc ${p.lon0} ${p.scale} ${p.offset}`,
  8: (p) => `+proj=lcc ${p.parallels} ${p.lat0} ${p.lon0} ${p.offset}`,
  9: (p) => `+proj=lcc +lat_1=${p.latitude} ${p.lat0} ${p.lon0} ${p.scale} ${p.offset}`,
  10: (p) => `+proj=laea ${p.lat0} ${p.lon0} ${p.offset}`,
  11: (p) => `+proj=aea ${p.parallels} ${p.lat0} ${p.lon0} ${p.offset}`,
  12: (p) => `+proj=aeqd ${p.lat0} ${p.lon0} ${p.offset}`,
  13: (p) => `+proj=eqdc ${p.parallels} ${p.lat0} ${p.lon0} ${p.offset}`,
  14: (p) => `+proj=stere ${p.lat0} ${p.lon0} ${p.scale} ${p.offset}`,
  15: polarStereographic,
  16: (p) => `+proj=sterea ${p.lat0} ${p.lon0} ${p.scale} ${p.offset}`,
  17: (p) => `+proj=eqc +lat_ts=${p.hasParallel1 ? p.parallel1 : p.latitude} ${p.lon0} ${p.offset}`,
  18: (p) => `+proj=cass ${p.lat0} ${p.lon0} ${p.offset}`,
  20: (p) => `+proj=mill ${p.lon0} ${p.offset}`,
  22: (p) => `+proj=poly ${p.lat0} ${p.lon0} ${p.offset}`,
  24: (p) => `+proj=sinu ${p.lon0} ${p.offset}`,
  25: (p) => `+proj=vandg ${p.lon0} ${p.offset}`,
  26: (p) => `+proj=nzmg ${p.lat0} ${p.lon0} ${p.offset}`,
  28: (p) => `+proj=cea +lat_ts=${p.parallel1} ${p.lon0} ${p.offset}`,
  9815: (p) => `+proj=omerc ${p.lat0} ${p.centerLon} ${p.azimuth} ${p.scale} ${p.offset}`,
}

/** The latitude is the pole if there is a scale, otherwise the standard parallel. */
function polarStereographic(p: Parameters): string {
  const latitude = p.latitude
  if (latitude === 0) throw new RasterError('unknown_crs', 'The raster has a polar projection without a pole')
  const pole = latitude < 0 ? -90 : 90
  const size = Math.abs(latitude) === 90 ? p.scale : `+lat_ts=${latitude}`
  return `+proj=stere +lat_0=${pole} ${size} ${p.poleLon} ${p.offset}`
}
