/** Sizes and overlaps of areas on the Earth. Edges are straight in longitude and latitude, as GeoJSON has them. */
import { difference, intersection, union, type Geom } from 'polyclip-ts'
import type { AreaGeometry, Position } from './geometry.ts'

const KM2 = 1e-6
const SEMI_MAJOR_M = 6_378_137
const ECCENTRICITY2 = 0.006_694_379_990_14
const ECCENTRICITY = Math.sqrt(ECCENTRICITY2)
/** Longer edges are cut, so that the curve of the meridians is followed. */
const MAX_STEP_DEG = 0.5

const radians = (degrees: number) => (degrees * Math.PI) / 180

/** Area between the equator and a parallel, for one radian of longitude: exact on the ellipsoid WGS84. */
function zone(latitude: number): number {
  const sine = Math.sin(radians(latitude))
  const part = ECCENTRICITY * sine
  return ((SEMI_MAJOR_M ** 2 * (1 - ECCENTRICITY2)) / 2) * (sine / (1 - part ** 2) + Math.atanh(part) / ECCENTRICITY)
}

/** Under an edge, by Simpson's rule. */
function underEdge([x0, y0]: Position, [x1, y1]: Position): number {
  const steps = Math.max(1, Math.ceil(Math.abs(y1 - y0) / MAX_STEP_DEG))
  let sum = 0
  for (let step = 0; step < steps; step++) {
    const at = (t: number) => zone(y0 + ((step + t) / steps) * (y1 - y0))
    sum += (at(0) + 4 * at(0.5) + at(1)) / 6
  }
  return (radians(x1 - x0) * sum) / steps
}

const ringM2 = (ring: readonly Position[]): number =>
  Math.abs(ring.slice(1).reduce((sum, to, index) => sum + underEdge(ring[index]!, to), 0))

const polygonsOf = (area: AreaGeometry): Position[][][] => (area.type === 'Polygon' ? [area.coordinates] : area.coordinates)

export function areaKm2(area: AreaGeometry): number {
  const m2 = polygonsOf(area).reduce(
    (sum, [outer, ...holes]) => sum + ringM2(outer!) - holes.reduce((inner, hole) => inner + ringM2(hole), 0),
    0,
  )
  return m2 * KM2
}

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
  const wide = half / Math.max(0.01, Math.cos(radians(y)))
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
