/** Converts between pixels of a scene and places on the Earth. */
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { crsTransform, type CrsTransform } from '#raster/crs/transform.ts'
import type { Affine } from '#raster/types.ts'
import { toU, toV, type Points } from './noise.ts'

const WGS84_EPSG = 4326
const UTM_NORTH = 32600
const UTM_SOUTH = 32700
const ZONE_DEGREES = 6
const FULL_CIRCLE = 360
/** Pixels between two exact projections; interpolation between them errs by less than 0.1 m at 30 m. */
const KNOT_PX = 64

export function utmEpsg(longitude: number, latitude: number): number {
  const zone = Math.min(60, Math.floor((longitude + 180) / ZONE_DEGREES) + 1)
  return (latitude < 0 ? UTM_SOUTH : UTM_NORTH) + zone
}

/** Between WGS 84 and a scene's CRS. */
export const toScene = (epsg: number): CrsTransform => crsTransform(crsFromEpsg(WGS84_EPSG), crsFromEpsg(epsg))

export interface Grid {
  readonly transform: Affine
  readonly crs: CrsTransform
  /** Longitudes stay within 180° of this one, so that nothing jumps at the antimeridian. */
  readonly nearLongitude: number
}

export function lonLatAt({ transform, crs, nearLongitude }: Grid, column: number, row: number): [number, number] {
  const [longitude, latitude] = crs.inverse(transform[0] + column * transform[1], transform[3] + row * transform[5])
  return [longitude + FULL_CIRCLE * Math.round((nearLongitude - longitude) / FULL_CIRCLE), latitude]
}

interface Line {
  readonly column: number
  readonly row: number
  readonly stepX: number
  readonly stepY: number
  readonly count: number
}

/** Places along a straight line of pixels. */
export function readLine(out: Points, grid: Grid, { column, row, stepX, stepY, count }: Line): void {
  out.count = count
  const perKnot = Math.max(1, Math.floor(KNOT_PX / Math.hypot(stepX, stepY)))
  const at = (i: number): [number, number] => {
    const [longitude, latitude] = lonLatAt(grid, column + i * stepX, row + i * stepY)
    return [toU(longitude), toV(latitude)]
  }
  let [u0, v0] = at(0)
  for (let start = 0; start < count; start += perKnot) {
    const [u1, v1] = at(start + perKnot)
    const end = Math.min(perKnot, count - start)
    for (let i = 0; i < end; i++) {
      out.u[start + i] = u0 + ((u1 - u0) * i) / perKnot
      out.v[start + i] = v0 + ((v1 - v0) * i) / perKnot
    }
    u0 = u1
    v0 = v1
  }
}
