import { boxOf, densify, mapPolygons, type Polygon, type Position, type Ring } from '#raster/geometry/polygon.ts'
import { rasterizeCoverage, rasterizeMask } from '#raster/geometry/rasterize.ts'
import { RasterError, type Block, type Level, type PixelWindow, type Raster, type RasterInfo, type SampleArray } from '#raster/types.ts'
import { applyAffine, invertAffine } from '#raster/warp/affine.ts'
import { cutToRaster, projectorFromTurns } from '#raster/warp/place.ts'
import { placementOf } from '#raster/warp/plan.ts'

/** A part of one level: a window, and the polygons in it. */
export interface Area {
  level: number
  window: PixelWindow
  /** In pixels of the level, or null for the whole window. */
  polygons: Polygon[] | null
}

export interface AreaSamples {
  width: number
  height: number
  /** One per band. */
  planes: SampleArray[]
  /** 0 without data, and outside a polygon whose pixels count as a whole; null if all count. */
  mask: Uint8Array | null
  /** The covered fraction of every pixel, if requested. */
  weights: Float64Array | null
  /** Pixels in the area; partly covered ones count as fractions. */
  pixelCount: number
}

/** In degrees: accuracy with which a projected polygon edge is followed. */
const MAX_EDGE_DEGREES = 0.25

interface AreaOptions {
  polygons: readonly Polygon[] | null
  maxPixels: number
  minSidePx?: number | undefined
}

/** Chooses the level and the window to read. */
export function chooseArea(info: RasterInfo, { polygons, maxPixels, minSidePx }: AreaOptions): Area {
  const full = polygons ? toPixels(info, polygons) : null
  const inLevel = (index: number): Area => areaInLevel(info, index, full)
  if (minSidePx !== undefined) return atMost(inLevel(smallestSufficient(info, minSidePx)), maxPixels)
  for (let index = 0; index < info.levels.length; index++) {
    const area = inLevel(index)
    if (area.window.width * area.window.height <= maxPixels) return area
  }
  throw new RasterError('limit_exceeded', 'The area is too large and the raster has no overview that is small enough')
}

/** A raster without overviews is sampled at its centre. */
function atMost(area: Area, maxPixels: number): Area {
  const { x, y, width, height } = area.window
  const share = Math.sqrt(maxPixels / (width * height))
  if (share >= 1) return area
  const [w, h] = [Math.max(1, Math.floor(width * share)), Math.max(1, Math.floor(height * share))]
  return { ...area, window: { x: x + Math.floor((width - w) / 2), y: y + Math.floor((height - h) / 2), width: w, height: h } }
}

/** The smallest level whose longer side has at least this many pixels; else the full resolution. */
export function smallestSufficient(info: RasterInfo, sidePx: number): number {
  return info.levels.findLastIndex((level, index) => index === 0 || Math.max(level.width, level.height) >= sidePx)
}

/** Longitude and latitude to full-resolution pixels. */
export function toPixels(info: RasterInfo, polygons: readonly Polygon[]): Polygon[] {
  const { crs, transform } = placementOf(info)
  const project = projectorFromTurns(crs)
  const inverse = invertAffine(transform)
  const cut = cutToRaster({ width: info.width, height: info.height, transform, crs }, polygons)
  const map = (position: Position): Position => applyAffine(inverse, ...project(position))
  const followed = cut.map((polygon) => polygon.map((ring) => followedRing(densify(ring, MAX_EDGE_DEGREES), map)))
  return mapPolygons(followed, map, Infinity)
}

/** In degrees: shorter edges curve by less than a centimetre. */
const SHORT_EDGE_DEGREES = 0.005
/** Maximum deviation of an edge, in pixels, from the line that is straight in longitude and latitude. */
const EDGE_TOLERANCE_PX = 1e-4
const MAX_EDGE_PARTS = 256

/** A ring with enough points to follow its curved edges: the deviation falls with the square of their number. */
function followedRing(ring: Ring, map: (position: Position) => Position): Ring {
  const followed: Ring = []
  for (let i = 0; i + 1 < ring.length; i++) {
    const [a, b] = [ring[i] as Position, ring[i + 1] as Position]
    const parts = Math.hypot(b[0] - a[0], b[1] - a[1]) > SHORT_EDGE_DEGREES ? partsOf(a, b, map) : 1
    for (let part = 0; part < parts; part++) followed.push([a[0] + ((b[0] - a[0]) * part) / parts, a[1] + ((b[1] - a[1]) * part) / parts])
  }
  followed.push(ring.at(-1) as Position)
  return followed
}

function partsOf(a: Position, b: Position, map: (position: Position) => Position): number {
  const [[ax, ay], [bx, by], [x, y]] = [map(a), map(b), map([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2])]
  const missed = Math.hypot((ax + bx) / 2 - x, (ay + by) / 2 - y)
  return Number.isFinite(missed) ? Math.min(MAX_EDGE_PARTS, Math.max(1, Math.ceil(Math.sqrt(missed / EDGE_TOLERANCE_PX)))) : 1
}

function areaInLevel(info: RasterInfo, index: number, full: Polygon[] | null): Area {
  const level = info.levels[index] as Level
  if (!full) return { level: index, window: { x: 0, y: 0, width: level.width, height: level.height }, polygons: null }
  const [kx, ky] = [level.width / info.width, level.height / info.height]
  const polygons = full.map((polygon) => polygon.map((ring) => ring.map(([x, y]): Position => [x * kx, y * ky])))
  const box = boxOf(polygons)
  const x = Math.max(0, Math.floor(box.minX))
  const y = Math.max(0, Math.floor(box.minY))
  const width = Math.max(0, Math.min(level.width, Math.ceil(box.maxX)) - x)
  const height = Math.max(0, Math.min(level.height, Math.ceil(box.maxY)) - y)
  return { level: index, window: { x, y, width, height }, polygons }
}

/** Between two neighbouring numbers of about 1. */
const FLOAT_STEP = 2 ** -52
/** Rounding on the way from degrees to pixels: the degrees themselves, and the sums and products after them. */
const ROUNDINGS = 2
const EARTH_RADIUS_M = 6_378_137

/**
 * A smaller fraction of a pixel is not part of a zone. Floats cannot locate a border more accurately than this fraction of a pixel
 * (3e-10 for a side of 10 m, 3e-9 for one metre), and a border along pixels would reach into the next row.
 */
export function sliverOf(info: RasterInfo): number {
  const { crs, transform } = placementOf(info)
  const corners = [0, info.width].flatMap((x) => [0, info.height].map((y) => applyAffine(transform, x, y)))
  const least = crs.kind === 'projected' ? EARTH_RADIUS_M / crs.unit : 0
  const largest = Math.max(least, ...corners.flat().map(Math.abs))
  const side = Math.min(Math.hypot(transform[1], transform[4]), Math.hypot(transform[2], transform[5]))
  return (ROUNDINGS * largest * FLOAT_STEP) / side
}

interface AreaSource {
  raster: Raster
  exactCoverage: boolean
  signal: AbortSignal | undefined
}

/** Reads the samples of an area, with the weights of its pixels. */
export async function readArea(from: AreaSource, area: Area, bands: readonly number[]): Promise<AreaSamples> {
  const { window, polygons } = area
  const { width, height } = window
  if (width === 0 || height === 0) throw new RasterError('invalid_argument', 'The geometry does not intersect the raster')
  const block = await from.raster.readWindow(area.level, window, { bands, signal: from.signal })
  const planes = bands.map((band) => planeOf(block, block.bands.indexOf(band), width * height))
  const common = { width, height, planes }
  if (!polygons) return { ...common, mask: block.mask, weights: null, pixelCount: width * height }
  const moved = movedInto(polygons, window)
  if (from.exactCoverage) {
    const weights = rasterizeCoverage(moved, window)
    const sliver = sliverOf(from.raster.info)
    let pixelCount = 0
    for (let i = 0; i < weights.length; i++) {
      if (weights[i]! < sliver) weights[i] = 0
      pixelCount += weights[i]!
    }
    return { ...common, mask: block.mask, weights, pixelCount }
  }
  const inside = rasterizeMask(moved, window)
  const pixelCount = joinMasks(inside, block.mask)
  return { ...common, mask: inside, weights: null, pixelCount }
}

/** Polygons of a level, counted from a window's first pixel. */
export const movedInto = (polygons: readonly Polygon[], window: PixelWindow): Polygon[] =>
  polygons.map((polygon) => polygon.map((ring) => ring.map(([x, y]): Position => [x - window.x, y - window.y])))

/** Removes pixels without data from `inside` and returns how many were inside before. */
function joinMasks(inside: Uint8Array, data: Uint8Array | null): number {
  let pixelCount = 0
  for (let i = 0; i < inside.length; i++) {
    if (inside[i] === 0) continue
    pixelCount += 1
    if (data && data[i] === 0) inside[i] = 0
  }
  return pixelCount
}

/** Windows are usually planar; others are de-interleaved here. */
function planeOf({ data, starts, stride }: Block, index: number, count: number): SampleArray {
  const samples = data[index] as SampleArray
  const start = starts[index] ?? 0
  if (stride === 1) return samples.subarray(start, start + count)
  const plane = samples.slice(0, count)
  for (let i = 0; i < count; i++) plane[i] = samples[i * stride + start]!
  return plane
}

/** A pixel of an expression is data if every band of it is; the expression itself masks non-finite results. */
export function joinedMask(
  planes: readonly SampleArray[],
  known: Uint8Array | null,
  nodata: readonly (number | null)[],
  count: number,
): Uint8Array | null {
  if (nodata.every((value) => value === null)) return known
  const mask = known ? known.slice() : new Uint8Array(count).fill(255)
  nodata.forEach((value, k) => {
    if (value === null) return
    const plane = planes[k] as SampleArray
    for (let i = 0; i < count; i++) if (plane[i] === value) mask[i] = 0
  })
  return mask
}
