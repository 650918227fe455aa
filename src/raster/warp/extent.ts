import type { Affine, Crs } from '#raster/types.ts'

import { applyAffine } from './affine.ts'
import { HALF_WORLD_M, toMercator } from './mercator.ts'
import { nearestTurn, projectorFromLonLat, projectorToLonLat, type Point } from './projector.ts'

/**
 * The extent of a raster in Web Mercator. A raster across the antimeridian is one piece: `maxX` (or `minX`) is then
 * outside the square world, and a tile finds it by adding or subtracting whole turns.
 */
export interface MercatorExtent {
  minX: number
  maxX: number
  minY: number
  maxY: number
}

const POINTS_PER_SIDE = 32
/** Between two points of the border, a projected edge deviates by a small fraction of its length. */
const MARGIN_SHARE = 0.01
const WHOLE_WORLD: MercatorExtent = { minX: -HALF_WORLD_M, maxX: HALF_WORLD_M, minY: -HALF_WORLD_M, maxY: HALF_WORLD_M }

export interface Placed {
  width: number
  height: number
  transform: Affine
  crs: Crs
}

/** Degrees. Across the antimeridian, `east` (or `west`) is beyond 180. */
interface LonLatExtent {
  west: number
  south: number
  east: number
  north: number
  /** The border encircles the Earth: a pole is inside. */
  holdsPole: boolean
}

/** Maximum round-trip error of a border point, in pixels. */
const RETURN_PX = 2
const RETURN_M = 1

/**
 * The extent of a raster's border; null if a part of it is outside the projection, which says nothing about the rest. Some
 * projections accept any point: one that does not round-trip is outside.
 */
export function lonLatExtent({ width, height, transform, crs }: Placed): LonLatExtent | null {
  const toLonLat = projectorToLonLat(crs)
  const back = crs.kind === 'projected' ? projectorFromLonLat(crs) : null
  const tolerance = Math.max(
    RETURN_PX * Math.sqrt(Math.abs(transform[1] * transform[5] - transform[2] * transform[4])),
    RETURN_M / crs.unit,
  )
  const point: Point = [0, 0]
  const again: Point = [0, 0]
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity]
  let first: number | null = null
  let longitude = 0
  for (const [column, row] of borderPixels(width, height)) {
    const [x, y] = applyAffine(transform, column, row)
    toLonLat(x, y, point)
    back?.(point[0], point[1], again)
    if (Number.isNaN(point[0]) || (back && !(Math.hypot(again[0] - x, again[1] - y) <= tolerance))) return null
    longitude = first === null ? point[0] : nearestTurn(point[0], longitude)
    first ??= longitude
    west = Math.min(west, longitude)
    east = Math.max(east, longitude)
    south = Math.min(south, point[1])
    north = Math.max(north, point[1])
  }
  return { west, south, east, north, holdsPole: Math.abs(longitude - (first ?? 0)) > 180 }
}

export function mercatorExtent(placed: Placed): MercatorExtent {
  const extent = lonLatExtent(placed)
  if (!extent) return WHOLE_WORLD
  const { west, south, east, north, holdsPole } = extent
  return holdsPole ? aroundPole(south, north) : withMargin(west, east, south, north)
}

function aroundPole(south: number, north: number): MercatorExtent {
  const isNorth = south + north > 0
  const edge = toMercator(0, isNorth ? south : north)[1]
  return { ...WHOLE_WORLD, ...(isNorth ? { minY: edge } : { maxY: edge }) }
}

function withMargin(west: number, east: number, south: number, north: number): MercatorExtent {
  const marginX = (east - west) * MARGIN_SHARE
  const marginY = (north - south) * MARGIN_SHARE
  const [minX, minY] = toMercator(west - marginX, south - marginY)
  const [maxX, maxY] = toMercator(east + marginX, north + marginY)
  return { minX, maxX, minY, maxY }
}

/** Points around the border, corner to corner, and back to the first. */
function* borderPixels(width: number, height: number): Generator<Point> {
  const corners: Point[] = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
    [0, 0],
  ]
  for (let side = 0; side < 4; side++) {
    const [x0, y0] = corners[side]!
    const [x1, y1] = corners[side + 1]!
    for (let i = 0; i < POINTS_PER_SIDE; i++) {
      const share = i / POINTS_PER_SIDE
      yield [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share]
    }
  }
  yield [0, 0]
}
