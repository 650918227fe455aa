/** Areas on the ellipsoid, and the part of a shape that lies in another. */
import type { AreaGeometry, Position } from './geometry.ts'

const SEMI_MAJOR_KM = 6_378.137
const ECCENTRICITY_SQUARED = 0.006_694_379_990_14
const ECCENTRICITY = Math.sqrt(ECCENTRICITY_SQUARED)

/** Twice the area between the equator and a latitude, for each radian of longitude, on an ellipsoid of semi-major axis 1. */
function beltTo(latitude: number): number {
  const sin = Math.sin((latitude * Math.PI) / 180)
  const e = ECCENTRICITY
  return (1 - ECCENTRICITY_SQUARED) * (sin / (1 - ECCENTRICITY_SQUARED * sin * sin) + Math.log((1 + e * sin) / (1 - e * sin)) / (2 * e))
}

/** Signed by the ring's direction. Edges are straight in longitude and equal-area latitude. */
function ringSqKm(ring: readonly Position[]): number {
  let sum = 0
  for (let i = 0; i + 1 < ring.length; i++) {
    const [x1, y1] = ring[i]!
    const [x2, y2] = ring[i + 1]!
    sum += ((x2 - x1) * Math.PI * (beltTo(y1) + beltTo(y2))) / 180
  }
  return (-sum * SEMI_MAJOR_KM ** 2) / 4
}

export const polygonsOf = (geometry: AreaGeometry): readonly (readonly Position[][])[] =>
  geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates

/** Square kilometres on the ellipsoid of WGS 84, whatever the direction of the rings. */
export function sqKmOf(geometry: AreaGeometry): number {
  return polygonsOf(geometry).reduce((sum, rings) => {
    const [outer = 0, ...holes] = rings.map((ring) => Math.abs(ringSqKm(ring)))
    return sum + outer - holes.reduce((holesSum, hole) => holesSum + hole, 0)
  }, 0)
}

/** The part of a shape that lies in a convex ring; null where they share no area. */
export function clipToConvex(geometry: AreaGeometry, convex: readonly Position[]): AreaGeometry | null {
  const window = ringSqKm(convex) >= 0 ? convex : convex.toReversed()
  const parts: Position[][][] = []
  for (const rings of polygonsOf(geometry)) {
    const clipped = rings.map((ring) => clipRing(ring, window)).filter((ring) => ring.length > 3)
    const [outer] = clipped
    if (outer && rings[0] && clipRing(rings[0], window).length > 3 && Math.abs(ringSqKm(outer)) > MIN_SQ_KM) parts.push(clipped)
  }
  if (parts.length === 0) return null
  return parts.length === 1 ? { type: 'Polygon', coordinates: parts[0]! } : { type: 'MultiPolygon', coordinates: parts }
}

/** A square metre: less is the touch of two edges. */
const MIN_SQ_KM = 1e-6

/** Cuts a ring by one edge of the window after the other (Sutherland and Hodgman); the window runs counter-clockwise. */
function clipRing(ring: readonly Position[], window: readonly Position[]): Position[] {
  let open = ring.slice(0, -1).map(([x, y]): Position => [x, y])
  for (let edge = 0; edge + 1 < window.length && open.length > 0; edge++) {
    const [ax, ay] = window[edge]!
    const [bx, by] = window[edge + 1]!
    const side = ([x, y]: Position) => (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    const kept: Position[] = []
    open.forEach((at, i) => {
      const before = open.at(i - 1)!
      const [here, there] = [side(at), side(before)]
      if (here < 0 !== there < 0) {
        const share = there / (there - here)
        kept.push([before[0] + (at[0] - before[0]) * share, before[1] + (at[1] - before[1]) * share])
      }
      if (here >= 0) kept.push(at)
    })
    open = kept
  }
  return open.length > 2 ? [...open, [...open[0]!]] : []
}
