/** GeoJSON from callers: validated once, completely, before anything is computed from it. */
import type { Position } from './position.ts'
import { invalidField, type Problem } from './problem.ts'
import { normalised, ringName } from './validity.ts'

export type { Position }
type PolygonGeometry = { type: 'Polygon'; coordinates: Position[][] }
type MultiPolygonGeometry = { type: 'MultiPolygon'; coordinates: Position[][][] }
export type AreaGeometry = PolygonGeometry | MultiPolygonGeometry
/** Every GeoJSON geometry except collections. */
export type Geometry =
  | AreaGeometry
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString'; coordinates: Position[][] }

/** Over all rings, including closing points. */
export const MAX_VERTICES = 999

/** Smaller coordinates become zero: they have no meaning, and their products would underflow. */
const LEAST_COORDINATE = 1e-100

/**
 * A Polygon or MultiPolygon in WGS84, valid as `validity.ts` defines it, or 422 with the ring and location of the fault. Measure, store
 * and pass on the returned geometry: repeated points and spikes are removed, and outer rings run counter-clockwise. Geometries across
 * the antimeridian must be split, as RFC 7946 requires.
 */
export function requireArea(
  value: unknown,
  field: string,
  types: readonly AreaGeometry['type'][] = ['Polygon', 'MultiPolygon'],
  maxVertices = MAX_VERTICES,
): AreaGeometry {
  const input = requireRings(value, field, types, maxVertices)
  return areaLike(input.type, requireValid(input.polygons, field))
}

function requireValid(polygons: readonly (readonly Position[][])[], field: string): Position[][][] {
  const result = normalised(polygons)
  if ('polygons' in result) return result.polygons
  const { ring, what, at } = result.fault
  const longitude = Math.abs(at[0]) > 180 ? at[0] - Math.sign(at[0]) * 360 : at[0]
  throw invalidField(field, `${ring} ${what} at [${longitude}, ${at[1]}]`)
}

const areaLike = (type: AreaGeometry['type'], polygons: Position[][][]): AreaGeometry =>
  type === 'Polygon' ? { type, coordinates: polygons[0]! } : { type, coordinates: polygons }

/** Checks that rings are closed lists of positions on the Earth, within the vertex limit; `requireValid` checks their validity. */
function requireRings(
  value: unknown,
  field: string,
  types: readonly AreaGeometry['type'][],
  maxVertices = MAX_VERTICES,
): { type: AreaGeometry['type']; polygons: Position[][][] } {
  const refuse = (message: string): Problem => invalidField(field, message)
  const { type, coordinates } = (value ?? {}) as { type?: unknown; coordinates?: unknown }
  if (!types.includes(type as AreaGeometry['type'])) throw refuse(`must be a GeoJSON ${types.join(' or ')}`)
  const polygons = type === 'Polygon' ? [coordinates] : coordinates
  if (!Array.isArray(polygons) || polygons.length === 0) throw refuse('must have coordinates')
  let vertices = 0
  const read = (polygons as unknown[]).map((polygon, part) => {
    if (!Array.isArray(polygon) || polygon.length === 0) throw refuse(`must have a ring in polygon ${part + 1}`)
    return (polygon as unknown[]).map((ring, index) => {
      const name = ringName(part, index)
      if (!Array.isArray(ring)) throw refuse(`${name} must be a list of positions`)
      vertices += ring.length
      if (vertices > maxVertices) throw refuse(`must have at most ${maxVertices} vertices`)
      return requireRing(ring, (message) => refuse(`${name} ${message}`))
    })
  })
  return { type: type as AreaGeometry['type'], polygons: read }
}

/** Any geometry of an item: an area as above, or points and lines. */
export function requireGeometry(value: unknown, field: string): Geometry {
  const refuse = (message: string): Problem => invalidField(field, message)
  const { type, coordinates } = (value ?? {}) as { type?: unknown; coordinates?: unknown }
  if (type === 'Polygon' || type === 'MultiPolygon') return requireArea(value, field)
  if (type !== 'Point' && type !== 'MultiPoint' && type !== 'LineString' && type !== 'MultiLineString')
    throw refuse('must be a GeoJSON geometry other than a GeometryCollection')
  const isLine = type === 'LineString' || type === 'MultiLineString'
  const lines = type === 'Point' ? [[coordinates]] : type === 'MultiLineString' ? coordinates : [coordinates]
  if (!Array.isArray(lines) || lines.length === 0) throw refuse('must have coordinates')
  let vertices = 0
  const read = (lines as unknown[]).map((line) => {
    if (!Array.isArray(line) || line.length < (isLine ? 2 : 1)) throw refuse(`must have at least ${isLine ? '2 positions' : '1 position'}`)
    vertices += line.length
    if (vertices > MAX_VERTICES) throw refuse(`must have at most ${MAX_VERTICES} vertices`)
    const positions = requirePositions(line, refuse)
    return isLine ? requireLine(positions, refuse) : positions
  })
  if (type === 'Point') return { type, coordinates: read[0]![0]! }
  return type === 'MultiLineString' ? { type, coordinates: read } : { type, coordinates: read[0]! }
}

/**
 * A geometry that crosses the antimeridian and was not split there, as its box shows. Its rings must be valid when followed across the
 * antimeridian; they are stored unchanged.
 */
export function requireUnsplit(value: unknown, field: string, follow: (rings: readonly Position[][]) => Position[][]): Geometry {
  const { type } = (value ?? {}) as { type?: unknown }
  if (type !== 'Polygon' && type !== 'MultiPolygon') return requireGeometry(value, field)
  const input = requireRings(value, field, ['Polygon', 'MultiPolygon'])
  requireValid(input.polygons.map(follow), field)
  return areaLike(input.type, input.polygons)
}

function requireRing(ring: readonly unknown[], refuse: (message: string) => Problem): Position[] {
  if (ring.length < 4) throw refuse('must have at least 4 positions')
  const points = requirePositions(ring, refuse)
  const [first, last] = [points[0]!, points.at(-1)!]
  if (first[0] !== last[0] || first[1] !== last[1])
    throw refuse(`is not closed at [${last[0]}, ${last[1]}]; its last position must be its first, [${first[0]}, ${first[1]}]`)
  return points
}

function requireLine(positions: Position[], refuse: (message: string) => Problem): Position[] {
  const kept = positions.filter(([x, y], index) => index === 0 || x !== positions[index - 1]![0] || y !== positions[index - 1]![1])
  if (kept.length < 2) throw refuse(`has a line of zero length at [${kept[0]!.slice(0, 2).join(', ')}]`)
  return kept
}

function requirePositions(positions: readonly unknown[], refuse: (message: string) => Problem): Position[] {
  return positions.map((position) => {
    if (
      !Array.isArray(position) ||
      position.length < 2 ||
      position.length > 3 ||
      !position.every((part) => typeof part === 'number' && Number.isFinite(part))
    )
      throw refuse('must only have positions of the form [longitude, latitude]')
    const [longitude, latitude, ...height] = position as Position
    if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90)
      throw refuse(`has the position [${longitude}, ${latitude}], which is out of range${swapHint(longitude, latitude)}`)
    return [orZero(longitude), orZero(latitude), ...height] as Position
  })
}

const orZero = (degrees: number): number => (Math.abs(degrees) < LEAST_COORDINATE ? 0 : degrees)

/** A latitude beyond 90 suggests that the two were swapped. */
export const swapHint = (longitude: number, latitude: number): string =>
  Math.abs(latitude) > 90 && Math.abs(latitude) <= 180 && Math.abs(longitude) <= 90 ? '; longitude comes first, then latitude' : ''
