/** Clips areas in longitude and latitude to a raster before they are projected. */
import { cutInTurns, cutToBox, onceAround } from '#raster/geometry/cut.ts'
import { boxOf, densify, type Box, type Polygon, type Position } from '#raster/geometry/polygon.ts'
import type { Crs } from '#raster/types.ts'

import { lonLatExtent, type Placed } from './extent.ts'
import { nearestTurn, projectorFromLonLat, projectorToLonLat, type Point } from './projector.ts'

/** Between two points of the border, a projected edge deviates by a small fraction of its length. */
const MARGIN_SHARE = 0.02
/** Degrees: a box around the whole Earth ends this far before its start, so that both ends stay on their side. */
const SEAM = 1e-9
/** Cells of a raster that is larger than its projection: from 45° down to about a sixth of a degree. */
const CELL_DEGREES = 45
const CELL_CUTS = 8
const LEAF_DEGREES = CELL_DEGREES / 2 ** CELL_CUTS
/** Maximum round-trip error of a projected point, in degrees. */
const RETURN_TOLERANCE = 1e-4

/**
 * The parts of an area that can intersect a raster, with every point inside the domain of the raster's projection and within one turn
 * around the Earth. Otherwise an area around the whole Earth would be folded onto itself, and a pole is undefined in Mercator.
 */
export function cutToRaster(placed: Placed, polygons: readonly Polygon[]): Polygon[] {
  const extent = lonLatExtent(placed)
  if (!extent) return cutToDomain(placed.crs, polygons)
  const { west, south, east, north, holdsPole } = extent
  const margin = (north - south) * MARGIN_SHARE
  const [minY, maxY] = [Math.max(-90, south - margin), Math.min(90, north + margin)]
  if (holdsPole) {
    const { minX, maxX } = boxOf(polygons)
    return cutToBox(onceAround(polygons), south + north > 0 ? { minX, maxX, minY, maxY: 90 } : { minX, maxX, minY: -90, maxY })
  }
  const half = ((east - west) / 2) * (1 + 2 * MARGIN_SHARE)
  // A raster around the whole Earth is split where its projection is; a narrower one can cross that line.
  const middle = half < 180 || placed.crs.kind === 'geographic' ? (west + east) / 2 : nearestTurn(middleOf(placed.crs), (west + east) / 2)
  const reach = Math.min(half, 180 - SEAM)
  return cutInTurns(polygons, { minX: middle - reach, maxX: middle + reach, minY, maxY })
}

const middleOf = (crs: Crs): number => Number(/\+lon_0=(\S+)/.exec(crs.proj4)?.[1] ?? 0)

/** From longitude and latitude, after `cutToRaster`, to the raster's CRS. */
export function projectorFromTurns(crs: Crs): (position: Position) => Position {
  const project = projectorFromLonLat(crs)
  const point: Point = [0, 0]
  const isGeographic = crs.kind === 'geographic'
  return ([longitude, latitude]) => {
    project(longitude, latitude, point)
    return [isGeographic ? nearestTurn(point[0], longitude / crs.unit) : point[0], point[1]]
  }
}

/**
 * If a raster's corners are not on Earth (a disc seen from space, the whole world in an oval), its border is useless:
 * the area is divided into cells, which are divided further at the edge of the projection.
 */
function cutToDomain(crs: Crs, polygons: readonly Polygon[]): Polygon[] {
  const west = middleOf(crs) - 180
  const forward = projectorFromLonLat(crs)
  const back = projectorToLonLat(crs)
  const target: Point = [0, 0]
  const again: Point = [0, 0]
  const hasPlace = ([x, y]: Position): boolean => {
    forward(x, y, target)
    back(target[0], target[1], again)
    const dx = (nearestTurn(again[0], x) - x) * Math.cos((y * Math.PI) / 180)
    return Math.hypot(dx, again[1] - y) < RETURN_TOLERANCE
  }
  const kept: Polygon[] = []
  const visit = (parts: readonly Polygon[], cell: Box, cutsLeft: number): void => {
    const inside = cutToBox(parts, cell)
    if (inside.length === 0) return
    if (inside.every((polygon) => polygon.every((ring) => densify(ring, LEAF_DEGREES).every(hasPlace)))) kept.push(...inside)
    else if (cutsLeft > 0) for (const quarter of quarters(cell)) visit(inside, quarter, cutsLeft - 1)
  }
  const world = { minX: west + SEAM, maxX: west + 360 - SEAM, minY: -90 + SEAM, maxY: 90 - SEAM }
  const all = cutInTurns(polygons, world)
  for (let x = 0; x < 360; x += CELL_DEGREES)
    for (let y = -90; y < 90; y += CELL_DEGREES)
      visit(all, { minX: west + x, maxX: west + x + CELL_DEGREES, minY: y, maxY: y + CELL_DEGREES }, CELL_CUTS)
  return kept
}

function quarters({ minX, minY, maxX, maxY }: Box): Box[] {
  const [x, y] = [(minX + maxX) / 2, (minY + maxY) / 2]
  return [
    { minX, minY, maxX: x, maxY: y },
    { minX: x, minY, maxX, maxY: y },
    { minX, minY: y, maxX: x, maxY },
    { minX: x, minY: y, maxX, maxY },
  ]
}
