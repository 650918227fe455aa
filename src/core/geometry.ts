/** GeoJSON as callers send it: checked once, completely, before anything is computed from it. */
import { invalidField, type Problem } from './problem.ts'

export type Position = [number, number]
type PolygonGeometry = { type: 'Polygon'; coordinates: Position[][] }
type MultiPolygonGeometry = { type: 'MultiPolygon'; coordinates: Position[][][] }
export type AreaGeometry = PolygonGeometry | MultiPolygonGeometry
/** Every GeoJSON geometry except collections of them. */
export type Geometry =
  | AreaGeometry
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString'; coordinates: Position[][] }

/** Over all rings, closing points included. */
export const MAX_VERTICES = 999

/**
 * A Polygon or MultiPolygon in WGS84 whose rings are closed and do not cross themselves. Geometries that cross the
 * antimeridian come split, as RFC 7946 asks.
 */
export function requireArea(
  value: unknown,
  field: string,
  types: readonly AreaGeometry['type'][] = ['Polygon', 'MultiPolygon'],
): AreaGeometry {
  const refuse = (message: string): Problem => invalidField(field, message)
  const { type, coordinates } = (value ?? {}) as { type?: unknown; coordinates?: unknown }
  if (!types.includes(type as AreaGeometry['type'])) throw refuse(`must be a GeoJSON ${types.join(' or ')}`)
  const polygons = type === 'Polygon' ? [coordinates] : coordinates
  if (!Array.isArray(polygons) || polygons.length === 0) throw refuse('has no coordinates')
  let vertices = 0
  for (const polygon of polygons as unknown[]) {
    if (!Array.isArray(polygon) || polygon.length === 0) throw refuse('has a polygon without rings')
    for (const ring of polygon as unknown[]) {
      if (!Array.isArray(ring)) throw refuse('has a ring that is not a list of positions')
      vertices += ring.length
      if (vertices > MAX_VERTICES) throw refuse(`has more than ${MAX_VERTICES} vertices`)
      requireRing(ring, refuse)
    }
  }
  return { type, coordinates } as AreaGeometry
}

/** Any geometry that an item may have: an area as above, or points and lines. */
export function requireGeometry(value: unknown, field: string): Geometry {
  const refuse = (message: string): Problem => invalidField(field, message)
  const { type, coordinates } = (value ?? {}) as { type?: unknown; coordinates?: unknown }
  if (type === 'Polygon' || type === 'MultiPolygon') return requireArea(value, field)
  if (type !== 'Point' && type !== 'MultiPoint' && type !== 'LineString' && type !== 'MultiLineString')
    throw refuse('must be a GeoJSON geometry, but not a collection of them')
  const least = type === 'LineString' || type === 'MultiLineString' ? 2 : 1
  const lines = type === 'Point' ? [[coordinates]] : type === 'MultiLineString' ? coordinates : [coordinates]
  if (!Array.isArray(lines) || lines.length === 0) throw refuse('has no coordinates')
  let vertices = 0
  for (const line of lines as unknown[]) {
    if (!Array.isArray(line) || line.length < least) throw refuse('has too few positions')
    vertices += line.length
    if (vertices > MAX_VERTICES) throw refuse(`has more than ${MAX_VERTICES} vertices`)
    requirePositions(line, refuse)
  }
  return { type, coordinates } as Geometry
}

function requireRing(ring: readonly unknown[], refuse: (message: string) => Problem): void {
  if (ring.length < 4) throw refuse('has a ring with fewer than 4 positions')
  requirePositions(ring, refuse)
  const points = ring as Position[]
  const [first, last] = [points[0]!, points.at(-1)!]
  if (first[0] !== last[0] || first[1] !== last[1]) throw refuse('has a ring that is not closed')
  if (crossesItself(points)) throw refuse('has a ring that crosses itself')
}

function requirePositions(positions: readonly unknown[], refuse: (message: string) => Problem): void {
  for (const position of positions) {
    if (
      !Array.isArray(position) ||
      position.length < 2 ||
      position.length > 3 ||
      !position.every((part) => typeof part === 'number' && Number.isFinite(part))
    )
      throw refuse('has a position that is not [longitude, latitude]')
    const [longitude, latitude] = position as Position
    if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90)
      throw refuse(`has the position [${longitude}, ${latitude}], which is not on the Earth${swapHint(longitude, latitude)}`)
  }
}

/** Latitudes never reach beyond 90, so a pair that would fit the other way round was probably meant so. */
export const swapHint = (longitude: number, latitude: number): string =>
  Math.abs(latitude) > 90 && Math.abs(latitude) <= 180 && Math.abs(longitude) <= 90 ? '; longitude comes first, then latitude' : ''

/** Every pair of edges that are not neighbours. At most 999 vertices, so at most half a million cheap tests. */
function crossesItself(ring: readonly Position[]): boolean {
  const edgeCount = ring.length - 1
  for (let i = 0; i < edgeCount; i++) {
    for (let j = i + 2; j < edgeCount; j++) {
      if (i === 0 && j === edgeCount - 1) continue // The last edge ends where the first begins.
      if (meet(ring[i]!, ring[i + 1]!, ring[j]!, ring[j + 1]!)) return true
    }
  }
  return false
}

const side = (a: Position, b: Position, p: Position) => (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

/** Whether two edges properly cross; edges that only touch at a vertex are left to be. */
function meet(a: Position, b: Position, c: Position, d: Position): boolean {
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}
