import { figureFromKeys } from './figure.ts'
import { key, KEY, USER_DEFINED, type GeoKeys } from './geokeys.ts'
import { projectionFromKeys } from './projection.ts'
import { crsFromEpsg } from './registry.ts'
import { angularUnitDegrees, citedUnitMetres, linearUnitMetres } from './units.ts'
import { crsFromWkt } from './wkt.ts'
import { RasterError } from '#raster/errors.ts'
import type { Crs, RasterInfo } from '#raster/types.ts'

const MODEL = { projected: 1, geographic: 2 } as const
const UNIT_TOLERANCE = 1e-9
/** ArcGIS writes a complete WKT definition after this prefix. */
const ESRI_WKT = 'ESRI PE String = '

type Citations = ReadonlyMap<number, string>

/**
 * The CRS of a file. A file can be read without one, so a failure is returned, not thrown; callers that
 * need coordinates use `requireCrs`.
 */
export function crsFromGeoKeys(keys: GeoKeys, citations: Citations = new Map()): Pick<RasterInfo, 'crs' | 'crsProblem'> {
  try {
    return { crs: resolve(keys, citations), crsProblem: null }
  } catch (error) {
    if (error instanceof RasterError && error.code === 'unknown_crs') return { crs: null, crsProblem: error.message }
    throw error
  }
}

/**
 * Degrees per coordinate unit of a geographic system; 1 for a projected one. Files with an EPSG code in degrees often state another,
 * wrong unit, so it is only used if `fitsDegrees` is false.
 */
export function degreesAUnit(keys: GeoKeys, fitsDegrees: boolean): number {
  const model = key(keys, KEY.modelType)
  const geographic = key(keys, KEY.geographicType)
  if (model !== MODEL.geographic && !(model === null && geographic !== null && key(keys, KEY.projectedType) === null)) return 1
  if (isCode(geographic) && fitsDegrees) return 1
  try {
    return angularUnitDegrees(keys)
  } catch {
    // An unknown unit is reported when the system is resolved.
    return 1
  }
}

/** The CRS of a raster; throws the reason if there is none. */
export function requireCrs(info: RasterInfo): Crs {
  if (info.crs) return info.crs
  throw new RasterError('unknown_crs', info.crsProblem ?? 'The raster has no coordinate reference system')
}

function resolve(keys: GeoKeys, citations: Citations): Crs | null {
  const model = key(keys, KEY.modelType)
  const projected = key(keys, KEY.projectedType)
  const geographic = key(keys, KEY.geographicType)
  // 0 and 32767 mean "no model": files with only a pixel type, and files of ArcGIS, which defines the system elsewhere.
  const isOpen = model === null || model === 0 || model === USER_DEFINED
  if (model === MODEL.projected || (isOpen && projected !== null && (model === null || isCode(projected)))) {
    return resolveProjected(keys, projected ?? USER_DEFINED, citations)
  }
  if (model === MODEL.geographic || (model === null && geographic !== null)) return resolveGeographic(keys, geographic ?? USER_DEFINED)
  if (isOpen) return fromCitation(citations)
  throw new RasterError('unknown_crs', `GeoTIFF model type ${model} is not supported`)
}

const isCode = (code: number | null): code is number => code !== null && code !== USER_DEFINED && code !== 0

function fromCitation(citations: Citations): Crs | null {
  for (const id of [KEY.projectedCitation, KEY.citation]) {
    const text = citations.get(id)
    if (text?.startsWith(ESRI_WKT)) return crsFromWkt(text.slice(ESRI_WKT.length))
  }
  return null
}

function resolveProjected(keys: GeoKeys, code: number, citations: Citations): Crs {
  if (isCode(code)) return withUnit(crsFromEpsg(code), key(keys, KEY.linearUnits) === null ? null : linearUnitMetres(keys))
  const hasKeys = isCode(key(keys, KEY.projection)) || isCode(key(keys, KEY.coordinateTransformation))
  const cited = hasKeys ? null : fromCitation(citations)
  if (cited) return cited
  const keyUnit = linearUnitMetres(keys)
  const unit = citedUnitMetres(citations) ?? keyUnit
  const { projection, utmZone } = projectionFromKeys(keys, keyUnit)
  const { figure, accuracyM, note } = figureFromKeys(keys)
  const units = unit === 1 ? '' : ` +to_meter=${unit}`
  const name = utmZone ? `user-defined UTM zone ${utmZone}` : 'user-defined projection'
  return { epsg: null, name, kind: 'projected', proj4: `${projection} ${figure}${units} +no_defs`, unit, accuracyM, note }
}

function resolveGeographic(keys: GeoKeys, code: number): Crs {
  if (isCode(code)) return crsFromEpsg(code)
  angularUnitDegrees(keys)
  const { figure, accuracyM, note } = figureFromKeys(keys)
  const proj4 = `+proj=longlat ${figure} +no_defs`
  return { epsg: null, name: 'user-defined geographic system', kind: 'geographic', proj4, unit: 1, accuracyM, note }
}

/** If a file states another unit than its system has, its coordinates are in the file's unit, as in GDAL. */
function withUnit(crs: Crs, unit: number | null): Crs {
  if (unit === null || Math.abs(unit - crs.unit) <= UNIT_TOLERANCE) return crs
  const proj4 = `${crs.proj4.replaceAll(/\+(?:units|to_meter)=\S+\s*/g, '').replace(' +no_defs', '')} +to_meter=${unit} +no_defs`
  return { ...crs, epsg: null, name: `${crs.name} in units of ${unit} m`, proj4, unit }
}
