/** Changes of single corners of an area. Rings are closed: their last point repeats the first. */
import { areaFromPolygons, polygonsOf, type AreaShape, type Position } from './geo.ts'

/** A corner: which polygon, which of its rings, and which point of it. */
export interface Corner {
  polygon: number
  ring: number
  index: number
}

const ringOf = (area: AreaShape, { polygon, ring }: Corner): Position[] => polygonsOf(area)[polygon]?.[ring] ?? []

function withRing(area: AreaShape, { polygon, ring }: Corner, open: readonly Position[]): AreaShape {
  const polygons = polygonsOf(area)
  return areaFromPolygons(polygons.with(polygon, polygons[polygon]!.with(ring, [...open, open[0]!])))!
}

/** All corners, polygon by polygon. */
export const cornersIn = (area: AreaShape): Corner[] =>
  polygonsOf(area).flatMap((rings, polygon) =>
    rings.flatMap((points, ring) => points.slice(0, -1).map((_, index) => ({ polygon, ring, index }))),
  )

export const positionOf = (area: AreaShape, corner: Corner): Position | null => ringOf(area, corner)[corner.index] ?? null

/** The middle of the edge from this corner to the next. */
export function middleAfter(area: AreaShape, corner: Corner): Position {
  const ring = ringOf(area, corner)
  const [[x1, y1], [x2, y2]] = [ring[corner.index]!, ring[corner.index + 1]!]
  return [(x1 + x2) / 2, (y1 + y2) / 2]
}

const clamp = ([x, y]: Position): Position => [Math.max(-180, Math.min(180, x)), Math.max(-90, Math.min(90, y))]

export function moveCorner(area: AreaShape, corner: Corner, to: Position): AreaShape {
  return withRing(area, corner, ringOf(area, corner).slice(0, -1).with(corner.index, clamp(to)))
}

/** The new corner is the next after this one. */
export function addCornerAfter(area: AreaShape, corner: Corner, at: Position): AreaShape {
  return withRing(
    area,
    corner,
    ringOf(area, corner)
      .slice(0, -1)
      .toSpliced(corner.index + 1, 0, clamp(at)),
  )
}

export const mayRemove = (area: AreaShape, corner: Corner): boolean => ringOf(area, corner).length > 4

/** Unchanged if the ring would no longer enclose anything. */
export function removeCorner(area: AreaShape, corner: Corner): AreaShape {
  return mayRemove(area, corner) ? withRing(area, corner, ringOf(area, corner).slice(0, -1).toSpliced(corner.index, 1)) : area
}

export function removePolygon(area: AreaShape, polygon: number): AreaShape | null {
  return areaFromPolygons(polygonsOf(area).toSpliced(polygon, 1))
}
