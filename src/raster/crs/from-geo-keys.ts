import { figureFromKeys } from './figure.ts'
import { key, KEY, USER_DEFINED, type GeoKeys } from './geokeys.ts'
import { projectionFromKeys } from './projection.ts'
import { crsFromEpsg } from './registry.ts'
import { angularUnitDegrees, linearUnitMetres } from './units.ts'
import { RasterError } from '#raster/errors.ts'
import type { Crs, RasterInfo } from '#raster/types.ts'

const MODEL = { projected: 1, geographic: 2 } as const
const UNIT_TOLERANCE = 1e-9

/**
 * The CRS of a file. A file may be read without one, so what cannot be resolved is told and not
 * thrown; who needs coordinates calls `requireCrs`.
 */
export function crsFromGeoKeys(keys: GeoKeys): Pick<RasterInfo, 'crs' | 'crsProblem'> {
  try {
    return { crs: resolve(keys), crsProblem: null }
  } catch (error) {
    if (error instanceof RasterError && error.code === 'unknown_crs') return { crs: null, crsProblem: error.message }
    throw error
  }
}

/** The CRS of a raster, or the error that says why there is none. */
export function requireCrs(info: RasterInfo): Crs {
  if (info.crs) return info.crs
  throw new RasterError('unknown_crs', info.crsProblem ?? 'The raster does not name a coordinate reference system')
}

function resolve(keys: GeoKeys): Crs | null {
  const model = key(keys, KEY.modelType)
  const projected = key(keys, KEY.projectedType)
  const geographic = key(keys, KEY.geographicType)
  if (model === MODEL.projected || (model === null && projected !== null)) return resolveProjected(keys, projected ?? USER_DEFINED)
  if (model === MODEL.geographic || (model === null && geographic !== null)) return resolveGeographic(keys, geographic ?? USER_DEFINED)
  // 0 and 32767 say "no model" in files that only have a pixel type.
  if (model === null || model === 0 || model === USER_DEFINED) return null
  throw new RasterError('unknown_crs', `GeoTIFF model type ${model} is not a map`)
}

function resolveProjected(keys: GeoKeys, code: number): Crs {
  if (code !== USER_DEFINED && code !== 0) return withUnitCheck(crsFromEpsg(code), keys)
  const unit = linearUnitMetres(keys)
  const { projection, utmZone } = projectionFromKeys(keys, unit)
  const units = unit === 1 ? '' : ` +to_meter=${unit}`
  const name = utmZone ? `user-defined UTM zone ${utmZone}` : 'user-defined projection'
  return { epsg: null, name, kind: 'projected', proj4: `${projection} ${figureFromKeys(keys)}${units} +no_defs`, unit }
}

function resolveGeographic(keys: GeoKeys, code: number): Crs {
  if (code !== USER_DEFINED && code !== 0) return crsFromEpsg(code)
  if (angularUnitDegrees(keys) !== 1) throw new RasterError('unknown_crs', 'The raster has geographic coordinates that are not degrees')
  const proj4 = `+proj=longlat ${figureFromKeys(keys)} +no_defs`
  return { epsg: null, name: 'user-defined geographic system', kind: 'geographic', proj4, unit: 1 }
}

/** A file may name a system and another unit than the system's: then its coordinates mean either, and we do not choose. */
function withUnitCheck(crs: Crs, keys: GeoKeys): Crs {
  if (key(keys, KEY.linearUnits) === null) return crs
  const unit = linearUnitMetres(keys)
  if (Math.abs(unit - crs.unit) > UNIT_TOLERANCE) {
    throw new RasterError('unknown_crs', `The raster names EPSG:${crs.epsg} but another linear unit`)
  }
  return crs
}
