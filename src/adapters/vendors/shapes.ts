/** Geometries as hosts return them. Many are invalid; docs/adr/0029-valid-geometries.md says how we handle them. */
import { MAX_VERTICES, requireArea, requireGeometry, type AreaGeometry, type Geometry } from '#core/geometry.ts'
import { Problem } from '#core/problem.ts'

/** Clipping an area that we sent to a scene adds a few vertices. */
const MAX_CUT_VERTICES = 2 * MAX_VERTICES

function ifValid<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

/** An area that money depends on; null if it is invalid. */
export const areaFrom = (value: unknown): AreaGeometry | null =>
  ifValid(() => requireArea(value, 'geometry', ['Polygon', 'MultiPolygon'], MAX_CUT_VERTICES))

/** Footprint of a scene: its bounding box if the geometry is invalid; null if it has neither. */
export function footprintFrom(value: unknown, bbox: readonly number[] | null): Geometry | null {
  if (value === null) return null
  return ifValid(() => requireGeometry(value, 'geometry')) ?? (bbox && ifValid(() => requireArea(rectangle(bbox), 'bbox')))
}

/** A box across the antimeridian has no area as a ring and is invalid too. */
function rectangle([west, south, east, north]: readonly number[]): object {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: west! <= east! ? [ring] : [] }
}
