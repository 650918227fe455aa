/** What areas have in common, what one leaves of another, and what they are together. */
import { difference, intersection, union, type Geom } from 'polyclip-ts'
import { polygonsOf } from './area.ts'
import type { AreaGeometry, Position } from './geometry.ts'

/** Positions may have a height, which no area has. */
const flat = (area: AreaGeometry): Geom => polygonsOf(area).map((polygon) => polygon.map((ring) => ring.map(([x, y]): Position => [x, y])))

const areaOf = (polygons: Position[][][]): AreaGeometry | null =>
  polygons.length === 0
    ? null
    : polygons.length === 1
      ? { type: 'Polygon', coordinates: polygons[0]! }
      : { type: 'MultiPolygon', coordinates: polygons }

/** Null: there is nothing. */
export function unionOf(areas: readonly AreaGeometry[]): AreaGeometry | null {
  const [first, ...rest] = areas
  return first ? areaOf(union(flat(first), ...rest.map(flat)) as Position[][][]) : null
}

export function commonOf(a: AreaGeometry, b: AreaGeometry): AreaGeometry | null {
  return areaOf(intersection(flat(a), flat(b)) as Position[][][])
}

/** What of the first the second leaves. */
export function restOf(a: AreaGeometry, b: AreaGeometry | null): AreaGeometry | null {
  return b ? areaOf(difference(flat(a), flat(b)) as Position[][][]) : a
}

const KM_PER_DEGREE = 111.32

/** A square around a place, with its sides along meridians and parallels. */
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
