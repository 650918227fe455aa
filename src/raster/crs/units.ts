import { key, KEY, USER_DEFINED, type GeoKeys } from '#raster/crs/geokeys.ts'
import { RasterError } from '#raster/errors.ts'

/** Metres per unit, by EPSG code. */
const LINEAR: ReadonlyMap<number, number> = new Map([
  [9001, 1],
  [9002, 0.3048],
  [9003, 1200 / 3937],
  [9005, 0.3047972654],
  [9036, 1000],
  [9084, 0.3047995],
  [9094, 0.304799710181509],
])

/** Degrees per unit, by EPSG code. */
const ANGULAR: ReadonlyMap<number, number> = new Map([
  [9101, 180 / Math.PI],
  [9102, 1],
  [9103, 1 / 60],
  [9104, 1 / 3600],
  [9105, 0.9],
  [9106, 0.9],
  [9122, 1],
])

export function linearUnitMetres(keys: GeoKeys): number {
  const code = key(keys, KEY.linearUnits) ?? 9001
  const size = code === USER_DEFINED ? key(keys, KEY.linearUnitSize) : LINEAR.get(code)
  if (!size || !(size > 0)) throw new RasterError('unknown_crs', `The raster has the unknown linear unit ${code}`)
  return size
}

const CITED: Readonly<Record<string, number>> = {
  meters: 1,
  feet: 1200 / 3937,
  us_survey_feet: 1200 / 3937,
  international_feet: 0.3048,
}

/**
 * ERDAS Imagine writes the coordinate unit into the citation, which overrides the key, as in GDAL; false offsets
 * use the key.
 */
export function citedUnitMetres(citations: ReadonlyMap<number, string>): number | null {
  for (const id of [KEY.projectedCitation, KEY.citation]) {
    const text = citations.get(id) ?? ''
    const unit = text.includes('IMAGINE GeoTIFF Support') ? /^Units = (\w+)/m.exec(text)?.[1] : undefined
    if (unit !== undefined && CITED[unit] !== undefined) return CITED[unit]
  }
  return null
}

/** Degrees per unit of the projection's angles. */
export function angularUnitDegrees(keys: GeoKeys): number {
  const code = key(keys, KEY.angularUnits) ?? 9102
  const radians = key(keys, KEY.angularUnitSize)
  const size = code === USER_DEFINED ? radians && (radians * 180) / Math.PI : ANGULAR.get(code)
  if (!size || !(size > 0)) throw new RasterError('unknown_crs', `The raster has the unknown angular unit ${code}`)
  return size
}
