import { RasterError } from '#raster/types.ts'

export type Position = [number, number]
/** Closed: the last position repeats the first. */
export type Ring = Position[]
/** An outer ring and its holes. */
export type Polygon = Ring[]

const MAX_POSITIONS = 100_000
const MAX_POLYGONS = 10_000
/** Enough for any edge of a polygon on Earth in steps of half a degree. */
const MAX_PARTS_PER_EDGE = 1024

/** Parses a GeoJSON Polygon or MultiPolygon, or a Feature with one, in longitude and latitude. */
export function readPolygons(geometry: unknown): Polygon[] {
  const { type, coordinates } = geometryOf(geometry)
  const polygons = type === 'Polygon' ? [coordinates] : type === 'MultiPolygon' ? coordinates : undefined
  if (!Array.isArray(polygons) || polygons.length === 0 || polygons.length > MAX_POLYGONS) {
    throw new RasterError('invalid_argument', 'The geometry must be a Polygon or MultiPolygon')
  }
  const budget = { positions: MAX_POSITIONS }
  return polygons.map((polygon) => {
    if (!Array.isArray(polygon) || polygon.length === 0) throw new RasterError('invalid_argument', 'A polygon must have an outer ring')
    return polygon.map((ring) => readRing(ring, budget))
  })
}

function geometryOf(value: unknown): { type: unknown; coordinates: unknown } {
  if (typeof value !== 'object' || value === null) return { type: undefined, coordinates: undefined }
  const { type, coordinates, geometry } = value as Record<string, unknown>
  return type === 'Feature' && typeof geometry === 'object' && geometry !== null
    ? { type: (geometry as Record<string, unknown>)['type'], coordinates: (geometry as Record<string, unknown>)['coordinates'] }
    : { type, coordinates }
}

function readRing(ring: unknown, budget: { positions: number }): Ring {
  if (!Array.isArray(ring) || ring.length < 4) throw new RasterError('invalid_argument', 'A ring must have at least four positions')
  budget.positions -= ring.length
  if (budget.positions < 0) throw new RasterError('limit_exceeded', `The geometry has more than ${MAX_POSITIONS} positions`)
  const positions = ring.map((position): Position => {
    const [x, y] = Array.isArray(position) ? (position as unknown[]) : []
    if (typeof x !== 'number' || typeof y !== 'number' || !Number.isFinite(x) || !Number.isFinite(y)) {
      throw new RasterError('invalid_argument', 'A position must be two finite numbers')
    }
    return [x, y]
  })
  const first = positions[0] as Position
  const last = positions.at(-1) as Position
  if (first[0] !== last[0] || first[1] !== last[1]) positions.push([first[0], first[1]])
  return positions
}

/**
 * Projects polygons. Edges are straight in longitude and latitude, so long ones are subdivided first. A position that cannot be
 * projected makes the whole polygon unusable, which is an error.
 */
export function mapPolygons(polygons: readonly Polygon[], map: (position: Position) => Position, maxEdge: number): Polygon[] {
  return polygons.map((polygon) =>
    polygon.map((ring) =>
      densify(ring, maxEdge).map((position) => {
        const moved = map(position)
        if (!Number.isFinite(moved[0]) || !Number.isFinite(moved[1])) {
          throw new RasterError(
            'invalid_argument',
            'The geometry extends beyond the area of use of the raster’s coordinate reference system',
          )
        }
        return moved
      }),
    ),
  )
}

export function densify(ring: Ring, maxEdge: number): Ring {
  const dense: Ring = []
  for (let i = 0; i + 1 < ring.length; i++) {
    const [x0, y0] = ring[i] as Position
    const [x1, y1] = ring[i + 1] as Position
    const parts = Math.min(MAX_PARTS_PER_EDGE, Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / maxEdge)))
    for (let part = 0; part < parts; part++) dense.push([x0 + ((x1 - x0) * part) / parts, y0 + ((y1 - y0) * part) / parts])
  }
  dense.push([...(ring.at(-1) as Position)])
  return dense
}

export interface Box {
  minX: number
  minY: number
  maxX: number
  maxY: number
}

export function boxOf(polygons: readonly Polygon[]): Box {
  const box = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity }
  for (const [x, y] of polygons.flat(2)) {
    box.minX = Math.min(box.minX, x)
    box.maxX = Math.max(box.maxX, x)
    box.minY = Math.min(box.minY, y)
    box.maxY = Math.max(box.maxY, y)
  }
  return box
}
