/** Intersection, difference and union of areas. Slow: see src/ports/overlays.ts. */
import { difference, intersection, union, type Geom } from 'polyclip-ts'
import { areaBounds, polygonsOf } from './area.ts'
import type { AreaGeometry, Position } from './geometry.ts'
import { side } from './orientation.ts'

/** Drops heights, which areas do not have. */
const flat = (area: AreaGeometry): Geom => polygonsOf(area).map((polygon) => polygon.map((ring) => ring.map(([x, y]): Position => [x, y])))

const areaOf = (polygons: Position[][][]): AreaGeometry | null =>
  polygons.length === 0
    ? null
    : polygons.length === 1
      ? { type: 'Polygon', coordinates: polygons[0]! }
      : { type: 'MultiPolygon', coordinates: polygons }

/** Null if empty. */
export function unionOf(areas: readonly AreaGeometry[]): AreaGeometry | null {
  const [first, ...rest] = areas
  return first ? areaOf(union(flat(first), ...rest.map(flat)) as Position[][][]) : null
}

export function commonOf(a: AreaGeometry, b: AreaGeometry): AreaGeometry | null {
  return areaOf(intersection(flat(a), flat(b)) as Position[][][])
}

/** The part of the first area outside the second. */
export function restOf(a: AreaGeometry, b: AreaGeometry | null): AreaGeometry | null {
  return b ? areaOf(difference(flat(a), flat(b)) as Position[][][]) : a
}

/** Areas with disjoint boxes are their own union; null if some boxes overlap. */
export function apart(areas: readonly AreaGeometry[]): AreaGeometry | null {
  const boxes = areas.map(areaBounds)
  const meet = boxes.some((a, index) => boxes.slice(index + 1).some((b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]))
  return meet ? null : areaOf(areas.flatMap((area) => polygonsOf(area) as Position[][][]))
}

/** Counts crossings between the edges of areas, up to a limit: each crossing makes an overlay slower. */
export function crossingsOf(areas: readonly AreaGeometry[], most: number): number {
  const edges = areas.flatMap((area) =>
    polygonsOf(area).flatMap((rings) =>
      rings.flatMap((ring) =>
        ring.slice(1).map((to, index) => {
          const from = ring[index]!
          return { from, to, area, west: Math.min(from[0], to[0]), east: Math.max(from[0], to[0]) }
        }),
      ),
    ),
  )
  edges.sort((a, b) => a.west - b.west)
  let count = 0
  for (let i = 0; i < edges.length; i++) {
    const a = edges[i]!
    for (let j = i + 1; j < edges.length && edges[j]!.west <= a.east; j++) {
      const b = edges[j]!
      if (a.area === b.area || !cross(a, b)) continue
      count++
      if (count > most) return count
    }
  }
  return count
}

interface Segment {
  from: Position
  to: Position
}

/** Edges that cross, or of which one ends on the other. A shared end point does not count. */
function cross(a: Segment, b: Segment): boolean {
  if (Math.max(a.from[1], a.to[1]) < Math.min(b.from[1], b.to[1]) || Math.max(b.from[1], b.to[1]) < Math.min(a.from[1], a.to[1]))
    return false
  const [start, end] = [side(a.from, a.to, b.from), side(a.from, a.to, b.to)]
  if (start * end > 0 || (start === 0 && end === 0)) return false
  const [begin, finish] = [side(b.from, b.to, a.from), side(b.from, b.to, a.to)]
  if (begin * finish > 0) return false
  return (start !== 0 && end !== 0) || (begin !== 0 && finish !== 0)
}

const KM_PER_DEGREE = 111.32

/** A square around a position, with sides along meridians and parallels. */
export function squareAround([x, y]: Position, sideKm: number): AreaGeometry {
  const half = sideKm / 2 / KM_PER_DEGREE
  const wide = half / Math.max(0.01, Math.cos((y * Math.PI) / 180))
  const [west, east] = [Math.max(-180, x - wide), Math.min(180, x + wide)]
  const [south, north] = [Math.max(-90, y - half), Math.min(90, y + half)]
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}
