import proj4 from 'proj4'
import { definitionsOf } from '#raster/crs/datums.ts'

import type { Crs } from '#raster/types.ts'

import { fromMercator, WEB_MERCATOR, WEB_MERCATOR_EPSG, WGS84, WORLD_M } from './mercator.ts'

/** Converts a point to another CRS; NaN if it is outside. Writes into `out` to avoid an allocation. */
export type Projector = (x: number, y: number, out: Point) => void
export type Point = [number, number]

const FULL_CIRCLE = 360
const WGS84_EPSG = 4326

/**
 * Web Mercator to `crs`. The x can be beyond the square world: a window across the antimeridian is one
 * piece. In a geographic CRS the longitude continues in the same turn, so that nothing jumps at 180°.
 */
export function projectorFromMercator(crs: Crs): Projector {
  if (crs.epsg === WEB_MERCATOR_EPSG) {
    return (x, y, out) => {
      out[0] = x
      out[1] = y
    }
  }
  if (crs.epsg === WGS84_EPSG) {
    return (x, y, out) => {
      const [longitude, latitude] = fromMercator(x, y)
      out[0] = longitude
      out[1] = latitude
    }
  }
  const converter = proj4(WEB_MERCATOR, crs.proj4)
  const isGeographic = crs.kind === 'geographic'
  return (x, y, out) => {
    const turns = Math.round(x / WORLD_M)
    convert(converter.forward, x - turns * WORLD_M, y, out)
    if (isGeographic) out[0] = nearestTurn(out[0], (x / WORLD_M) * FULL_CIRCLE)
  }
}

/** From `crs` to longitude and latitude on WGS84. */
export function projectorToLonLat(crs: Crs): Projector {
  if (crs.epsg === WGS84_EPSG) {
    return (x, y, out) => {
      out[0] = x
      out[1] = y
    }
  }
  const converter = proj4(crs.proj4, WGS84)
  return (x, y, out) => convert(converter.forward, x, y, out)
}

/** From longitude and latitude on WGS84 to `crs`. */
export function projectorFromLonLat(crs: Crs): Projector {
  const { inverse } = proj4(crs.proj4, WGS84)
  return (x, y, out) => convert(inverse, x, y, out)
}

/** Between any two CRSs. */
export function projectorBetween(from: Crs, to: Crs): Projector {
  const converter = proj4(...definitionsOf(from, to))
  return (x, y, out) => convert(converter.forward, x, y, out)
}

type Transform = (point: number[], enforceAxis?: boolean) => number[]

/** Some CRSs have axes to the west or south; the library respects that only if told to. */
function convert(transform: Transform, x: number, y: number, out: Point): void {
  try {
    const [px = Number.NaN, py = Number.NaN] = transform([x, y], true)
    const isFinite = Number.isFinite(px) && Number.isFinite(py)
    out[0] = isFinite ? px : Number.NaN
    out[1] = isFinite ? py : Number.NaN
  } catch {
    // proj4 throws for points outside a projection's domain.
    out[0] = Number.NaN
    out[1] = Number.NaN
  }
}

/** The same longitude, in the turn nearest to `near`. */
export const nearestTurn = (longitude: number, near: number): number =>
  longitude + FULL_CIRCLE * Math.round((near - longitude) / FULL_CIRCLE)
