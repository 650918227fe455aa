/** Areas on the ellipsoid, and clipping of shapes. */
import type { AreaGeometry, Position } from './geometry.ts'
import { boundsOf } from './position.ts'

const SEMI_MAJOR_KM = 6_378.137
const ECCENTRICITY_SQUARED = 0.006_694_379_990_14
const ECCENTRICITY = Math.sqrt(ECCENTRICITY_SQUARED)

/** Twice the area between the equator and a latitude, per radian of longitude, on an ellipsoid with semi-major axis 1. */
function beltTo(latitude: number): number {
  const sin = Math.sin((latitude * Math.PI) / 180)
  const e = ECCENTRICITY
  return (1 - ECCENTRICITY_SQUARED) * (sin / (1 - ECCENTRICITY_SQUARED * sin * sin) + Math.log((1 + e * sin) / (1 - e * sin)) / (2 * e))
}

/** Signed by the ring's direction. Edges are straight in longitude and equal-area latitude. */
function ringSqKm(ring: readonly Position[]): number {
  if (ring.length === 0) return 0
  // Relative to the ring's start, so that a small area is not the difference of two large numbers.
  const start = beltTo(ring[0]![1])
  let sum = 0
  for (let i = 0; i + 1 < ring.length; i++) {
    const [x1, y1] = ring[i]!
    const [x2, y2] = ring[i + 1]!
    sum += ((x2 - x1) * Math.PI * (beltTo(y1) - start + (beltTo(y2) - start))) / 180
  }
  return (-sum * SEMI_MAJOR_KM ** 2) / 4
}

export const polygonsOf = (geometry: AreaGeometry): readonly (readonly Position[][])[] =>
  geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates

/** West, south, east and north of an area. */
export const areaBounds = (area: AreaGeometry): [number, number, number, number] => boundsOf(polygonsOf(area).flat(2))

/** The middle of an area's bounds. */
export function centreOf(area: AreaGeometry): [longitude: number, latitude: number] {
  const [west, south, east, north] = areaBounds(area)
  return [(west + east) / 2, (south + north) / 2]
}

/** Square kilometres on the WGS 84 ellipsoid, whatever the direction of the rings. */
export function sqKmOf(geometry: AreaGeometry): number {
  return polygonsOf(geometry).reduce((sum, rings) => {
    const [outer = 0, ...holes] = rings.map((ring) => Math.abs(ringSqKm(ring)))
    return sum + outer - holes.reduce((holesSum, hole) => holesSum + hole, 0)
  }, 0)
}

/** The part of a valid shape inside a convex ring; null if they share no area. */
export function clipToConvex(geometry: AreaGeometry, convex: readonly Position[]): AreaGeometry | null {
  const window = ringSqKm(convex) >= 0 ? convex : convex.toReversed()
  let polygons = polygonsOf(geometry).map((rings) => rings.map((ring) => ring.map(([x, y]): Position => [x, y])))
  for (let edge = 0; edge + 1 < window.length; edge++)
    polygons = polygons.flatMap((rings) => cutByLine(rings, window[edge]!, window[edge + 1]!))
  const parts = polygons.filter(([outer]) => Math.abs(ringSqKm(outer!)) > MIN_SQ_KM)
  if (parts.length === 0) return null
  return parts.length === 1 ? { type: 'Polygon', coordinates: parts[0]! } : { type: 'MultiPolygon', coordinates: parts }
}

/** A square metre; smaller areas are touching edges. */
const MIN_SQ_KM = 1e-6

/** A piece of a ring to the left of a line, and the positions along the line where it enters and leaves. */
interface Chain {
  points: Position[]
  enters: number
  leaves: number
}

/** The part of a polygon to the left of the line from a to b, which can be several polygons. */
function cutByLine(rings: readonly Position[][], a: Position, b: Position): Position[][][] {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]]
  const side = ([x, y]: Position) => dx * (y - a[1]) - dy * (x - a[0])
  const along = ([x, y]: Position) => dx * (x - a[0]) + dy * (y - a[1])
  const whole: Position[][] = []
  const chains: Chain[] = []
  for (const ring of rings) {
    const open = ring.slice(0, -1)
    const first = open.findIndex((at, i) => side(at) >= 0 && side(open.at(i - 1)!) < 0)
    if (first >= 0) chains.push(...chainsOf([...open.slice(first), ...open.slice(0, first)], side, along))
    else if (side(open[0]!) >= 0) whole.push(ring)
    else if (ring === rings[0]) return []
  }
  if (chains.length === 0) return [whole]
  const outers = joined(chains)
  const holes = whole.filter((ring) => ring !== rings[0])
  return outers.map((outer) => [outer, ...holes.filter(([at]) => isIn(outer, at!))])
}

/** For a ring that starts on the left, just after a crossing. */
function chainsOf(open: readonly Position[], side: (at: Position) => number, along: (at: Position) => number): Chain[] {
  const chains: Chain[] = []
  let points: Position[] = []
  open.forEach((at, i) => {
    const before = open.at(i - 1)!
    const [previous, current] = [side(before), side(at)]
    if (current < 0 !== previous < 0) {
      const share = previous / (previous - current)
      const border: Position = [before[0] + (at[0] - before[0]) * share, before[1] + (at[1] - before[1]) * share]
      points.push(border)
      if (current < 0) {
        chains.push({ points, enters: along(points[0]!), leaves: along(border) })
        points = []
      }
    }
    if (current >= 0) points.push(at)
  })
  return chains
}

/** Between every second pair of neighbouring crossings the line is inside the polygon; there it closes the open pieces. */
function joined(chains: readonly Chain[]): Position[][] {
  const crossings = chains
    .flatMap((chain) => [
      { chain, at: chain.enters, isEntry: true },
      { chain, at: chain.leaves, isEntry: false },
    ])
    .toSorted((a, b) => a.at - b.at)
  const next = new Map<Chain, Chain>()
  for (let i = 0; i + 1 < crossings.length; i += 2) {
    const [first, second] = [crossings[i]!, crossings[i + 1]!]
    const [entry, exit] = first.isEntry ? [first, second] : [second, first]
    next.set(exit.chain, entry.chain)
  }
  const rings: Position[][] = []
  const visited = new Set<Chain>()
  for (const start of chains) {
    const ring: Position[] = []
    for (let chain: Chain | undefined = start; chain && !visited.has(chain); chain = next.get(chain)) {
      visited.add(chain)
      ring.push(...chain.points)
    }
    if (ring.length > 2) rings.push([...ring, [...ring[0]!]])
  }
  return rings
}

function isIn(ring: readonly Position[], [x, y]: Position): boolean {
  let isInside = false
  for (let i = 0; i + 1 < ring.length; i++) {
    const [[x1, y1], [x2, y2]] = [ring[i]!, ring[i + 1]!]
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) isInside = !isInside
  }
  return isInside
}

/** Number of samples per side of an area's bounding box. */
const SAMPLES = 64

/** Estimates how much of an area the shapes cover, in percent, from samples: for any shapes, in bounded time. */
export function sampledPercent(area: AreaGeometry, shapes: readonly AreaGeometry[]): number {
  const [west, south, east, north] = areaBounds(area)
  let inside = 0
  let covered = 0
  for (let row = 0; row < SAMPLES; row++)
    for (let column = 0; column < SAMPLES; column++) {
      const place: Position = [west + ((column + 0.5) / SAMPLES) * (east - west), south + ((row + 0.5) / SAMPLES) * (north - south)]
      if (!isInArea(area, place)) continue
      inside++
      if (shapes.some((shape) => isInArea(shape, place))) covered++
    }
  return inside === 0 ? 100 : Math.round((covered / inside) * 1e4) / 100
}

/** Inside an odd number of rings, which handles holes too. */
const isInArea = (area: AreaGeometry, point: Position): boolean =>
  polygonsOf(area).reduce((count, rings) => count + rings.filter((ring) => isIn(ring, point)).length, 0) % 2 === 1
