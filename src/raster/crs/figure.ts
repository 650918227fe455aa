import { key, KEY, USER_DEFINED, type GeoKeys } from '#raster/crs/geokeys.ts'
import { datumOf, hasDatum } from '#raster/crs/registry.ts'
import { RasterError } from '#raster/errors.ts'

/** Semi-major axis and inverse flattening (0 for a sphere) by EPSG code of the ellipsoid. */
const ELLIPSOIDS: ReadonlyMap<number, readonly [number, number]> = new Map([
  [7001, [6377563.396, 299.3249646]],
  [7004, [6377397.155, 299.1528128]],
  [7008, [6378206.4, 294.978698213898]],
  [7012, [6378249.145, 293.465]],
  [7019, [6378137, 298.257222101]],
  [7022, [6378388, 297]],
  [7024, [6378245, 298.3]],
  [7030, [6378137, 298.257223563]],
  [7043, [6378135, 298.26]],
  [7048, [6371007, 0]],
])

/** In the classic range, datum codes are those of their geographic systems plus this. */
const DATUM_CODE_OFFSET = 2000

/** Ellipsoid and shift to WGS 84 in proj4's notation, and the accuracy of the shift. */
export type Figure = ReturnType<typeof datumOf>

export function figureFromKeys(keys: GeoKeys): Figure {
  const geographic = key(keys, KEY.geographicType)
  if (geographic !== null && geographic !== USER_DEFINED && geographic !== 0) return datumOf(geographic)
  const datum = key(keys, KEY.geodeticDatum)
  const shift = shiftFromKeys(keys)
  if (datum !== null && datum !== USER_DEFINED && shift === null && hasDatum(datum - DATUM_CODE_OFFSET)) {
    return datumOf(datum - DATUM_CODE_OFFSET)
  }
  return figureOf(ellipsoidFromKeys(keys), key(keys, KEY.primeMeridianLongitude) ?? 0, shift)
}

/** Every ellipsoid of the Earth is within these limits. */
const EARTH_RADIUS_M = [6_350_000, 6_400_000] as const

/** A user-defined ellipsoid of a file. */
export function figureOf([a, rf]: readonly [number, number], meridian: number, shift: readonly number[] | null): Figure {
  if (a < EARTH_RADIUS_M[0] || a > EARTH_RADIUS_M[1]) {
    const problem = `The raster is on a body with a radius of ${a} m, not on the Earth, and cannot be shown on its map`
    throw new RasterError('unknown_crs', problem)
  }
  const axes = rf === 0 ? `+R=${a}` : `+a=${a} +rf=${rf}`
  const pm = meridian === 0 ? '' : ` +pm=${meridian}`
  const asGiven = { accuracyM: null, note: null }
  if (shift) return { figure: `${axes} +towgs84=${shift.join(',')}${pm}`, ...asGiven }
  // Without a datum, coordinates are used unchanged. Authors mean that with a sphere or with the ellipsoid of GPS;
  // with an older ellipsoid it would be hundreds of metres off.
  const isModern = a === 6378137 && Math.abs(rf - 298.2572221) < 1e-5
  if (rf !== 0 && !isModern) throw new RasterError('unknown_crs', 'The raster has an old ellipsoid without a datum')
  return { figure: `${isModern ? '+datum=WGS84' : axes}${pm}`, ...asGiven }
}

function ellipsoidFromKeys(keys: GeoKeys): readonly [number, number] {
  const code = key(keys, KEY.ellipsoid)
  const known = code === null ? undefined : ELLIPSOIDS.get(code)
  if (known) return known
  const a = key(keys, KEY.semiMajorAxis)
  const b = key(keys, KEY.semiMinorAxis)
  const rf = key(keys, KEY.inverseFlattening)
  if (a !== null && a > 0 && rf !== null && rf >= 0) return [a, rf]
  if (a !== null && a > 0 && b !== null && b > 0 && b <= a) return [a, a === b ? 0 : a / (a - b)]
  throw new RasterError('unknown_crs', 'The raster has no known datum or ellipsoid')
}

/** Three or seven parameters; all zeros is a valid shift. */
function shiftFromKeys(keys: GeoKeys): readonly number[] | null {
  const values = keys.get(KEY.toWgs84)
  if (!values || (values.length !== 3 && values.length !== 7) || !values.every(Number.isFinite)) return null
  return values
}
