/** The footprint of a scene: a square that is slightly rotated in its raster, like a satellite's track. */
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import type { Polygon, Position, Ring } from '#raster/geometry/polygon.ts'
import { lonLatAt, type Grid } from './grid.ts'

export type Footprint =
  | { readonly type: 'Polygon'; readonly coordinates: Polygon }
  | { readonly type: 'MultiPolygon'; readonly coordinates: Polygon[] }
export type Bbox = readonly [west: number, south: number, east: number, north: number]

/** A straight line in the raster is not straight in degrees, so each side has some positions between its corners. */
const PARTS_PER_SIDE = 8
/** A centimetre on the ground. */
const DECIMALS = 7
const DATE_LINE = 180
const FULL_CIRCLE = 360

/** Half the side, in pixels, of the largest square with this rotation in a raster. */
const halfSide = (sizePx: number, angleRad: number): number => sizePx / 2 / (Math.cos(angleRad) + Math.abs(Math.sin(angleRad)))

/** Corners in pixels, relative to the centre of the raster. */
export function squareAt(sizePx: number, angleRad: number): Position[] {
  const half = halfSide(sizePx, angleRad)
  const middle = sizePx / 2
  const cos = Math.cos(angleRad)
  const sin = Math.sin(angleRad)
  return [
    [-1, 1],
    [1, 1],
    [1, -1],
    [-1, -1],
  ].map(([x = 0, y = 0]) => [middle + half * (x * cos - y * sin), middle + half * (x * sin + y * cos)])
}

export function footprintOf(corners: readonly Position[], grid: Grid): Footprint {
  const ring: Ring = []
  corners.forEach(([x0, y0], index) => {
    const [x1, y1] = corners[(index + 1) % corners.length] as Position
    for (let part = 0; part < PARTS_PER_SIDE; part++) {
      const share = part / PARTS_PER_SIDE
      const [longitude, latitude] = lonLatAt(grid, x0 + (x1 - x0) * share, y0 + (y1 - y0) * share)
      ring.push([round(longitude), round(latitude)])
    }
  })
  ring.push([...(ring[0] as Position)])
  return splitAtDateLine(ring)
}

const round = (degrees: number): number => Math.round(degrees * 10 ** DECIMALS) / 10 ** DECIMALS

/** RFC 7946 requires two parts where a geometry crosses the antimeridian. */
function splitAtDateLine(ring: Ring): Footprint {
  const over = ring.some(([x]) => x > DATE_LINE) ? 1 : ring.some(([x]) => x < -DATE_LINE) ? -1 : 0
  if (over === 0) return { type: 'Polygon', coordinates: [ring] }
  const line = DATE_LINE * over
  const near = clip(ring, (x) => (line - x) * over)
  const far = clip(ring, (x) => (x - line) * over).map(([x, y]): Position => [round(x - over * FULL_CIRCLE), y])
  const parts = [near, far].filter((part) => part.length > 3)
  const [only, second] = parts
  return only && !second ? { type: 'Polygon', coordinates: [only] } : { type: 'MultiPolygon', coordinates: parts.map((part) => [part]) }
}

/** The part of a ring whose x is `inside`. */
function clip(ring: Ring, inside: (x: number) => number): Ring {
  const out: Ring = []
  for (let i = 0; i + 1 < ring.length; i++) {
    const a = ring[i] as Position
    const b = ring[i + 1] as Position
    const da = inside(a[0])
    const db = inside(b[0])
    if (da >= 0) out.push([a[0], a[1]])
    if (da * db < 0) out.push([round(a[0] + ((b[0] - a[0]) * da) / (da - db)), round(a[1] + ((b[1] - a[1]) * da) / (da - db))])
  }
  if (out.length > 0) out.push([...(out[0] as Position)])
  return out
}

export const polygonsOf = (footprint: Footprint): Polygon[] =>
  footprint.type === 'Polygon' ? [footprint.coordinates] : footprint.coordinates

/** West is greater than east where the geometry crosses the antimeridian, as in RFC 7946. */
export function bboxOf(footprint: Footprint): Bbox {
  const boxes = polygonsOf(footprint).map((polygon): Bbox => {
    const positions = polygon.flat()
    const xs = positions.map(([x]) => x)
    const ys = positions.map(([, y]) => y)
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
  })
  const [first, second] = boxes as [Bbox, Bbox | undefined]
  if (!second) return first
  const [west, east] = first[0] > second[0] ? [first, second] : [second, first]
  return [west[0], Math.min(west[1], east[1]), east[2], Math.max(west[3], east[3])]
}

/** Marks the pixels of some rows whose centre is in the footprint. */
export function footprintMask(footprint: Footprint, grid: Grid, rows: { y: number; count: number; width: number }): Uint8Array {
  const { transform, crs } = grid
  const inPixels = polygonsOf(footprint).map((polygon) =>
    polygon.map((ring) =>
      ring.map(([longitude, latitude]): Position => {
        const [x, y] = crs.forward(longitude, latitude)
        return [(x - transform[0]) / transform[1], (y - transform[3]) / transform[5] - rows.y]
      }),
    ),
  )
  return rasterizeMask(inPixels, { width: rows.width, height: rows.count })
}
