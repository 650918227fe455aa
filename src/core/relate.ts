/**
 * Spatial relations between two geometries after OGC Simple Features (DE-9IM), in the plane of longitude and latitude. On which side of
 * a line a point lies is computed exactly; where two lines cross, to 1e-12 of their length.
 */
import type { Geometry } from './geometry.ts'
import { side } from './orientation.ts'
import { boundsOf, type Position } from './position.ts'

export const SPATIAL_RELATIONS = ['s_contains', 's_crosses', 's_equals', 's_overlaps', 's_touches', 's_within'] as const
export type SpatialRelation = (typeof SPATIAL_RELATIONS)[number]

type Segment = readonly [Position, Position]
type Location = 'interior' | 'boundary' | 'exterior'
type Box = ReturnType<typeof boundsOf>

/** A geometry of one dimension, prepared once for many comparisons. */
export interface Shape {
  readonly dimension: 0 | 1 | 2
  readonly points: readonly Position[]
  readonly segments: readonly Segment[]
  /** Polygons, each an outer ring with its holes. */
  readonly polygons: readonly (readonly Position[][])[]
  /** End points that belong to the boundary: those where an odd number of lines end. */
  readonly ends: ReadonlyMap<string, Position>
  readonly box: Box
}

/** Repeated points are skipped. */
const segmentsOf = (path: readonly Position[]): Segment[] =>
  path
    .slice(1)
    .map((to, index): Segment => [path[index]!, to])
    .filter(([from, to]) => from[0] !== to[0] || from[1] !== to[1])

const keyOf = ([x, y]: Position): string => `${x + 0} ${y + 0}`

export function shapeOf(geometry: Geometry): Shape {
  const { type } = geometry
  const points = type === 'Point' ? [geometry.coordinates] : type === 'MultiPoint' ? geometry.coordinates : []
  const lines = type === 'LineString' ? [geometry.coordinates] : type === 'MultiLineString' ? geometry.coordinates : []
  const polygons = type === 'Polygon' ? [geometry.coordinates] : type === 'MultiPolygon' ? geometry.coordinates : []
  const paths = [...lines, ...polygons.flat()]
  const vertices = [...points, ...paths.flat()]
  const ends = new Map<string, Position>()
  for (const line of lines) for (const end of [line[0]!, line.at(-1)!]) if (!ends.delete(keyOf(end))) ends.set(keyOf(end), end)
  return {
    dimension: polygons.length > 0 ? 2 : lines.length > 0 ? 1 : 0,
    points: [...points, ...paths.flat()],
    segments: paths.flatMap(segmentsOf),
    polygons,
    ends,
    box: boundsOf(vertices),
  }
}

const areApart = (a: Box, b: Box): boolean => a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1]

export function holds(relation: SpatialRelation, a: Shape, b: Shape): boolean {
  if (areApart(a.box, b.box)) return false
  switch (relation) {
    case 's_within':
      return isWithin(a, b)
    case 's_contains':
      return isWithin(b, a)
    case 's_equals':
      return a.dimension === b.dimension && isWithin(a, b) && isWithin(b, a)
    case 's_touches':
      return interiorsMeet(a, b) === -1 && intersect(a, b)
    case 's_overlaps':
      return a.dimension === b.dimension && interiorsMeet(a, b) === a.dimension && leaves(a, b) && leaves(b, a)
    case 's_crosses':
      if (a.dimension === 1 && b.dimension === 1) return interiorsMeet(a, b) === 0
      if (a.dimension === b.dimension) return false
      return interiorsMeet(a, b) !== -1 && (a.dimension < b.dimension ? leaves(a, b) : leaves(b, a))
  }
}

/** The sets are closed: if no part of the interior is outside, no part of the boundary is. */
const isWithin = (a: Shape, b: Shape): boolean => a.dimension <= b.dimension && !leaves(a, b) && interiorsMeet(a, b) !== -1

/** Whether part of the interior of `a` is outside `b`. */
function leaves(a: Shape, b: Shape): boolean {
  if (a.dimension > b.dimension) return true
  if (a.dimension === 0) return a.points.some((point) => locate(point, b) === 'exterior')
  if (pieces(a, b).some((piece) => piece === 'exterior')) return true
  if (a.dimension === 1) return false
  // An edge of `b` inside `a` has the outside of `b` on one side; a polygon can also fill a hole of `b`.
  return pieces(b, a).some((piece) => piece === 'interior') || insides(a).some((point) => locate(point, b) === 'exterior')
}

/** The dimension of the intersection of the interiors; -1 if it is empty. */
function interiorsMeet(a: Shape, b: Shape): -1 | 0 | 1 | 2 {
  if (a.dimension > b.dimension) return interiorsMeet(b, a)
  if (a.dimension === 0) return a.points.some((point) => locate(point, b) === 'interior') ? 0 : -1
  if (b.dimension === 1) return linesMeet(a, b)
  if (pieces(a, b).some((piece) => piece === 'interior')) return a.dimension
  if (a.dimension === 1) return -1
  const isInside = (of: Shape, other: Shape) => insides(of).some((point) => locate(point, other) === 'interior')
  return pieces(b, a).some((piece) => piece === 'interior') || isInside(a, b) || isInside(b, a) ? 2 : -1
}

function linesMeet(a: Shape, b: Shape): -1 | 0 | 1 {
  let dimension: -1 | 0 = -1
  // Where lines cross, another line of the same geometry may end.
  const ends = [...a.ends.values(), ...b.ends.values()]
  const isAtEnd = (...crossed: Segment[]) => ends.some((end) => crossed.every((segment) => isOn(end, segment)))
  for (const first of a.segments) {
    for (const second of b.segments) {
      const crossing = crossingOf(first, second)
      if (!crossing) continue
      if (crossing.to > crossing.from) return 1
      if (crossing.isProper && !isAtEnd(first, second)) dimension = 0
    }
  }
  if (dimension === 0) return 0
  const isShared = (point: Position) => locate(point, a) === 'interior' && locate(point, b) === 'interior'
  return a.points.some(isShared) || b.points.some(isShared) ? 0 : -1
}

export const areDisjoint = (a: Shape, b: Shape): boolean => areApart(a.box, b.box) || !intersect(a, b)

function intersect(a: Shape, b: Shape): boolean {
  if (a.points.some((point) => locate(point, b) !== 'exterior') || b.points.some((point) => locate(point, a) !== 'exterior')) return true
  return a.segments.some((first) => b.segments.some((second) => crossingOf(first, second) !== null))
}

interface Crossing {
  /** Fractions of the first segment; equal for a point. */
  readonly from: number
  readonly to: number
  /** Inside both segments, not at an end. */
  readonly isProper: boolean
}

function crossingOf([p, q]: Segment, [r, s]: Segment): Crossing | null {
  if (Math.max(p[0], q[0]) < Math.min(r[0], s[0]) || Math.max(r[0], s[0]) < Math.min(p[0], q[0])) return null
  if (Math.max(p[1], q[1]) < Math.min(r[1], s[1]) || Math.max(r[1], s[1]) < Math.min(p[1], q[1])) return null
  const [sideR, sideS] = [side(p, q, r), side(p, q, s)]
  if (sideR === 0 && sideS === 0) {
    const [first, second] = [shareOf(p, q, r), shareOf(p, q, s)]
    const [from, to] = [Math.max(0, Math.min(first, second)), Math.min(1, Math.max(first, second))]
    return from <= to ? { from, to, isProper: false } : null
  }
  const [sideP, sideQ] = [side(r, s, p), side(r, s, q)]
  if (sideR * sideS > 0 || sideP * sideQ > 0) return null
  // A corner has the same fraction for both of its edges.
  const share = sideP === 0 ? 0 : sideQ === 0 ? 1 : sideR === 0 ? shareOf(p, q, r) : sideS === 0 ? shareOf(p, q, s) : null
  const at = share ?? Math.abs(sideP) / (Math.abs(sideP) + Math.abs(sideQ))
  return { from: at, to: at, isProper: share === null }
}

/** The position of a point along the segment, as a fraction; the point is on its line. */
function shareOf(p: Position, q: Position, point: Position): number {
  const axis = Math.abs(q[0] - p[0]) > Math.abs(q[1] - p[1]) ? 0 : 1
  return (point[axis] - p[axis]) / (q[axis] - p[axis])
}

const LEAST_SHARE = 1e-12

/** The location of each piece of the lines or edges of `a`, split where `b` crosses. */
function pieces(a: Shape, b: Shape): Location[] {
  return a.segments.flatMap((segment) => piecesOf(segment, b))
}

function piecesOf(segment: Segment, b: Shape): Location[] {
  if (areApart(boundsOf(segment), b.box)) return ['exterior']
  const covered: [number, number][] = []
  const cuts = [0, 1]
  for (const other of b.segments) {
    const crossing = crossingOf(segment, other)
    if (!crossing) continue
    cuts.push(crossing.from, crossing.to)
    if (crossing.to > crossing.from) covered.push([crossing.from, crossing.to])
  }
  const [p, q] = segment
  const locations: Location[] = []
  const sorted = cuts.toSorted((x, y) => x - y)
  for (let index = 1; index < sorted.length; index++) {
    const [from, to] = [sorted[index - 1]!, sorted[index]!]
    if (to - from < LEAST_SHARE) continue
    const middle = (from + to) / 2
    if (covered.some(([first, last]) => first < middle && middle < last)) locations.push(b.dimension === 1 ? 'interior' : 'boundary')
    else if (b.dimension === 2) locations.push(locate([p[0] + middle * (q[0] - p[0]), p[1] + middle * (q[1] - p[1])], b))
    else locations.push('exterior')
  }
  return locations
}

function locate(point: Position, shape: Shape): Location {
  const [x, y] = point
  const [west, south, east, north] = shape.box
  if (x < west || x > east || y < south || y > north) return 'exterior'
  if (shape.dimension === 0) return shape.points.some(([u, v]) => u === x && v === y) ? 'interior' : 'exterior'
  if (shape.segments.some((segment) => isOn(point, segment)))
    return shape.dimension === 2 || shape.ends.has(keyOf(point)) ? 'boundary' : 'interior'
  if (shape.dimension === 1) return 'exterior'
  const isInside = shape.polygons.some(([outer, ...holes]) => isInRing(point, outer!) && !holes.some((hole) => isInRing(point, hole)))
  return isInside ? 'interior' : 'exterior'
}

function isOn(point: Position, [p, q]: Segment): boolean {
  const [x, y] = point
  if (x < Math.min(p[0], q[0]) || x > Math.max(p[0], q[0]) || y < Math.min(p[1], q[1]) || y > Math.max(p[1], q[1])) return false
  return side(p, q, point) === 0
}

/** For a point that is not on the ring: whether a ray to the east crosses it an odd number of times. */
function isInRing(point: Position, ring: readonly Position[]): boolean {
  let isInside = false
  for (let index = 1; index < ring.length; index++) {
    const [p, q] = [ring[index - 1]!, ring[index]!]
    if (p[1] > point[1] === q[1] > point[1]) continue
    if (side(p, q, point) > 0 === q[1] > p[1]) isInside = !isInside
  }
  return isInside
}

/** A point inside each polygon, halfway between two edges at a height without corners. */
function insides({ polygons }: Shape): Position[] {
  return polygons.map((rings) => {
    const heights = [...new Set(rings.flat().map(([, y]) => y))].toSorted((a, b) => a - b)
    const gaps = heights.slice(1).map((height, index) => [height - heights[index]!, (height + heights[index]!) / 2] as const)
    const [, y] = gaps.reduce((widest, gap) => (gap[0] > widest[0] ? gap : widest))
    const crossings = rings
      .flatMap(segmentsOf)
      .filter(([p, q]) => p[1] > y !== q[1] > y)
      .map(([p, q]) => p[0] + ((y - p[1]) / (q[1] - p[1])) * (q[0] - p[0]))
      .toSorted((a, b) => a - b)
    const spans = Array.from({ length: crossings.length / 2 }, (_, index) => [crossings[2 * index]!, crossings[2 * index + 1]!] as const)
    const [from, to] = spans.reduce((widest, span) => (span[1] - span[0] > widest[1] - widest[0] ? span : widest))
    return [(from + to) / 2, y]
  })
}
