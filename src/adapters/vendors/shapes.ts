/** Shapes as hosts give them. Many are not valid; what is done about it is in docs/adr/0029-valid-geometries.md. */
import { MAX_VERTICES, requireArea, requireGeometry, type AreaGeometry, type Geometry } from '#core/geometry.ts'
import { Problem } from '#core/problem.ts'

/** Cutting an area that we sent to a scene adds a few corners to it. */
const MAX_CUT_VERTICES = 2 * MAX_VERTICES

function ifValid<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

/** An area that money depends on; null where it is not valid. */
export const areaFrom = (value: unknown): AreaGeometry | null =>
  ifValid(() => requireArea(value, 'geometry', ['Polygon', 'MultiPolygon'], MAX_CUT_VERTICES))

/** Where a scene lies: by its box where its geometry is not valid, and nowhere where it has none. */
export function footprintFrom(value: unknown, bbox: readonly number[] | null): Geometry | null {
  if (value === null) return null
  return ifValid(() => requireGeometry(value, 'geometry')) ?? (bbox && ifValid(() => requireArea(rectangle(bbox), 'bbox')))
}

/** One that crosses the antimeridian has no area as a ring, and is not valid either. */
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
