import { RasterError, type Raster, type RasterInfo } from '#raster/types.ts'
import { smallestSufficient } from '#raster/statistics/area.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { nearestTurn, projectorToLonLat, type Point } from '#raster/warp/projector.ts'

/** A closed ring in longitude and latitude. Longitudes continue beyond 180° where the ring crosses the antimeridian. */
export type Outline = Point[]

/** Minimum pixels on the longer side of the level that is read, and its maximum total. */
const MIN_SIDE_PX = 512
const MAX_PIXELS = 4 * 1024 * 1024
/** Number of bands that are checked for data: more would only confirm it. */
const MAX_BANDS = 8
const MAX_CORNERS = 32
/** Corners that cut off fewer pixels of the level are omitted. */
const MIN_CORNER_AREA_PX = 1
/** An edge is bisected until its middle is accurate to this fraction of the outline's size, at most this often. */
const EDGE_TOLERANCE = 0.002
const MAX_EDGE_CUTS = 5

/** The whole image, including no-data pixels. */
export function extentOutline(info: RasterInfo): Outline {
  return toLonLat(info, [
    [0, 0],
    [info.width, 0],
    [info.width, info.height],
    [0, info.height],
  ])
}

/** The convex hull of the pixels with data, because scenes are rotated rectangles surrounded by no-data. */
export async function dataOutline(raster: Raster, signal?: AbortSignal): Promise<Outline> {
  const { info } = raster
  const level = smallestSufficient(info, MIN_SIDE_PX)
  const { width, height } = info.levels[level]!
  const mayHaveGaps = info.maskKind !== 'none' || info.dataType.startsWith('float')
  if (!mayHaveGaps || width * height > MAX_PIXELS) return extentOutline(info)
  const hull = hullOf(await validPixels(raster, level, signal), width, height)
  if (hull.length < 3) throw new RasterError('invalid_argument', 'The image is empty: all pixels are no-data')
  return toLonLat(
    info,
    hull.map(([x, y]): Point => [(x * info.width) / width, (y * info.height) / height]),
  )
}

/** Not 0 where any band has data. */
async function validPixels(raster: Raster, level: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const { info } = raster
  const { width, height } = info.levels[level]!
  const valid = new Uint8Array(width * height)
  const bands = info.bands
    .map((_, index) => index)
    .filter((band) => band !== info.alphaBand)
    .slice(0, MAX_BANDS)
  for (const band of bands) {
    const { data, mask, starts, stride } = await raster.readWindow(level, { x: 0, y: 0, width, height }, { bands: [band], signal })
    const [samples, start] = [data[0]!, starts[0] ?? 0]
    const nodata = info.bands[band]!.nodata ?? Number.NaN
    let isComplete = true
    for (let i = 0; i < valid.length; i++) {
      const sample = samples[i * stride + start]!
      if ((mask === null || mask[i] !== 0) && sample !== nodata && Number.isFinite(sample)) valid[i] = 1
      else if (valid[i] === 0) isComplete = false
    }
    if (isComplete) break
  }
  return valid
}

/** Convex hull of the set pixels, by their outer corners (Andrew's monotone chain over the ends of each row). */
function hullOf(valid: Uint8Array, width: number, height: number): Point[] {
  const points: Point[] = []
  for (let y = 0; y < height; y++) {
    const first = valid.subarray(y * width, (y + 1) * width).indexOf(1)
    if (first < 0) continue
    const last = valid.subarray(y * width, (y + 1) * width).lastIndexOf(1) + 1
    points.push([first, y], [first, y + 1], [last, y], [last, y + 1])
  }
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const half = (list: readonly Point[]): Point[] => {
    const chain: Point[] = []
    for (const point of list) {
      while (chain.length > 1 && turn(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop()
      chain.push(point)
    }
    return chain.slice(0, -1)
  }
  return withoutSmallCorners([...half(points), ...half(points.toReversed())])
}

/** Twice the signed area of the triangle. */
const turn = (a: Point, b: Point, c: Point): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

function withoutSmallCorners(hull: Point[]): Point[] {
  const corners = [...hull]
  while (corners.length > 4) {
    const areas = corners.map((corner, i) => Math.abs(turn(corners.at(i - 1)!, corner, corners[(i + 1) % corners.length]!)) / 2)
    const smallest = areas.indexOf(Math.min(...areas))
    if (corners.length <= MAX_CORNERS && areas[smallest]! >= MIN_CORNER_AREA_PX) return corners
    corners.splice(smallest, 1)
  }
  return corners
}

/** Converts full-resolution pixels to a closed ring on the Earth, with edges curved like the projection. */
function toLonLat(info: RasterInfo, corners: readonly Point[]): Outline {
  const { crs, transform } = placementOf(info)
  const project = projectorToLonLat(crs)
  const place = ([column, row]: Point, near: number | null): Point => {
    const point: Point = [0, 0]
    project(...applyAffine(transform, column, row), point)
    if (Number.isNaN(point[0]))
      throw new RasterError('no_georeference', 'A corner of the image lies outside the area of use of its coordinate reference system')
    return [near === null ? point[0] : nearestTurn(point[0], near), Math.max(-90, Math.min(90, point[1]))]
  }
  const first = place(corners[0]!, null)
  const tolerance = EDGE_TOLERANCE * sizeOf(corners.map((corner) => place(corner, first[0])))
  const ring: Outline = [first]
  corners.forEach((corner, index) => {
    const next = corners[(index + 1) % corners.length]!
    ring.push(...edge({ from: corner, to: next, start: ring.at(-1)!, place, tolerance }, MAX_EDGE_CUTS))
  })
  // Rounding must not open the ring; around a pole it ends 360° from its start.
  const last = ring.at(-1)!
  if (Math.abs(last[0] - first[0]) < 180) ring[ring.length - 1] = first
  return ring
}

interface Edge {
  from: Point
  to: Point
  start: Point
  place: (pixel: Point, near: number) => Point
  tolerance: number
}

/** The points after `start` up to the end of the edge. */
function edge({ from, to, start, place, tolerance }: Edge, cutsLeft: number): Point[] {
  const middle: Point = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]
  const [half, end] = [place(middle, start[0]), place(to, start[0])]
  const off = Math.hypot(half[0] - (start[0] + end[0]) / 2, half[1] - (start[1] + end[1]) / 2)
  if (off <= tolerance || cutsLeft === 0) return [place(to, half[0])]
  const before = edge({ from, to: middle, start, place, tolerance }, cutsLeft - 1)
  return [...before, ...edge({ from: middle, to, start: before.at(-1)!, place, tolerance }, cutsLeft - 1)]
}

function sizeOf(points: readonly Point[]): number {
  const span = (axis: 0 | 1) => Math.max(...points.map((point) => point[axis])) - Math.min(...points.map((point) => point[axis]))
  return Math.max(span(0), span(1))
}
