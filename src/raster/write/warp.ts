import { readPolygons, mapPolygons, boxOf, type Box, type Polygon } from '#raster/geometry/polygon.ts'
import { rasterizeMask, rasterizeSpans } from '#raster/geometry/rasterize.ts'
import { movedInto, toPixels } from '#raster/statistics/area.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import {
  RasterError,
  type Affine,
  type Block,
  type Crs,
  type ExactSampleArray,
  type PixelWindow,
  type RasterInfo,
  type SampleArray,
} from '#raster/types.ts'
import { applyAffine, invertAffine } from '#raster/warp/affine.ts'
import { createBlockCache } from '#raster/warp/blocks.ts'
import { cutToRaster } from '#raster/warp/place.ts'
import { placementOf, planTarget, type TargetGrid } from '#raster/warp/plan.ts'
import { projectorBetween, projectorFromLonLat, type Point, type Projector } from '#raster/warp/projector.ts'
import { samplePlanes, type Resampling } from '#raster/warp/sample.ts'
import { clippedRows, isCopied } from '#raster/write/clip.ts'
import { writeCog, type PullRows, type WriteOptions, type WrittenCog } from '#raster/write/cog.ts'
import { interleavedBlock } from '#raster/write/rows.ts'
import type { ByteSink } from '#raster/write/sink.ts'
import type { CogCompression, CogSpec, OverviewMethod } from '#raster/write/spec.ts'

export interface WarpOptions extends WriteOptions {
  /** GeoJSON in longitude and latitude; pixels whose centre is outside are no-data. Default: the whole raster. */
  readonly geometry?: unknown
  /** Default: that of the raster, whose pixels are then kept unchanged, on the same grid. */
  readonly crs?: Crs
  /** Pixel size in units of `crs`; default: the resolution of the raster there. */
  readonly resolution?: number
  readonly resampling?: Resampling
  /** 1-based; all by default. */
  readonly bands?: readonly number[]
  readonly blockSize?: number
  readonly compression?: CogCompression
  readonly compressionLevel?: number
  readonly overviews?: OverviewMethod
}

/** A strip of the target needs the blocks under it and those of the previous strip, because strips are narrow. */
const BLOCK_CACHE_BYTES = 96 * 1024 * 1024
/** Samples of a target strip that are computed at once, all bands together. */
const STRIP_SAMPLES = 2 * 1024 * 1024
const MIN_STRIP_ROWS = 16
/** Polygon edges are straight in longitude and latitude; steps this short are straight in any projection too. */
const MAX_EDGE_DEGREES = 0.05

/** Writes the part of a raster under a polygon, or all of it, as a COG, in its own CRS or another. */
export async function warpToCog(raster: ExactRaster, sink: ByteSink, options: WarpOptions = {}): Promise<WrittenCog> {
  const { info } = raster
  const isOwnGrid = options.crs === undefined && options.resolution === undefined
  const { grid, outline, window } = targetOf(info, options)
  const bands = (options.bands ?? info.bands.map((_, index) => index + 1)).map((band) => band - 1)
  const spec = specOf(info, { grid, bands, isClipped: outline !== null, options })
  const resampling = options.resampling ?? (isOwnGrid || info.colorTable ? 'nearest' : 'bilinear')
  if (window && resampling === 'nearest' && isCopied(info, bands)) {
    const spans = outline && rasterizeSpans(outline, grid)
    return await writeCog(sink, spec, clippedRows({ raster, window, bands, spans, spec }), options)
  }
  return await writeCog(sink, spec, warpedRows(raster, { grid, outline, bands, spec, resampling }), options)
}

interface Warping {
  grid: TargetGrid
  outline: Polygon[] | null
  bands: readonly number[]
  spec: CogSpec
  resampling: Resampling
}

/** Rows of the target, computed in strips: samples are floats, and a whole row of blocks would be too much of a wide raster. */
function warpedRows(raster: ExactRaster, { grid, outline, bands, spec, resampling }: Warping): PullRows {
  const { width } = grid
  const blocks = createBlockCache(BLOCK_CACHE_BYTES)
  const most = Math.max(MIN_STRIP_ROWS, Math.floor(STRIP_SAMPLES / (width * bands.length)))
  const stripAt = async (y: number, height: number, signal: AbortSignal | undefined): Promise<Block<ExactSampleArray>> => {
    const windows = planTarget(raster, { ...grid, transform: movedDown(grid.transform, y), height })
    const { planes, mask } = await samplePlanes({ raster, blocks, windows, bands, width, height, resampling, rule: 'any', signal })
    if (outline) clip(mask, rasterizeMask(shiftUp(outline, y), { width, height }))
    return blockOf(planes, mask, spec, raster.info, bands)
  }
  return async (y, rows, signal) => {
    if (rows <= most) return await stripAt(y, rows, signal)
    // Interleaved as they are written: otherwise the writer would hold them twice.
    const samples = new EXACT_ARRAY[spec.dataType](width * rows * bands.length)
    const mask = spec.hasMask ? new Uint8Array(width * rows) : null
    for (let top = 0; top < rows; top += most) {
      const strip = await stripAt(y + top, Math.min(most, rows - top), signal)
      for (const [band, plane] of strip.data.entries()) spread(plane, samples, top * width * bands.length + band, bands.length)
      if (strip.mask) mask?.set(strip.mask, top * width)
    }
    return interleavedBlock({ height: rows, samples, mask }, width, bands.length)
  }
}

/** Copies the samples of one band between those of all bands. Both arrays have the same type. */
function spread(plane: ExactSampleArray, to: ExactSampleArray, start: number, stride: number): void {
  const [source, target] = [plane as Uint8Array, to as Uint8Array]
  for (let i = 0, at = start; i < source.length; i++, at += stride) target[at] = source[i]!
}

interface Target {
  grid: TargetGrid
  /** In pixels of the grid; null if nothing is clipped. */
  outline: Polygon[] | null
  /** Position of the grid in the raster, if it uses the raster's own pixels. */
  window: PixelWindow | null
}

/** Position and size of the target grid. */
export function targetOf(info: RasterInfo, options: Pick<WarpOptions, 'geometry' | 'crs' | 'resolution'>): Target {
  const polygons = options.geometry === undefined ? null : readPolygons(options.geometry)
  const isOwnGrid = options.crs === undefined && options.resolution === undefined
  return isOwnGrid ? ownGrid(info, polygons) : otherGrid(info, polygons, options)
}

/** The raster's own grid, clipped to the pixels that the polygons touch. */
export function ownGrid(info: RasterInfo, polygons: readonly Polygon[] | null): Target {
  const { crs, transform } = placementOf(info)
  if (!polygons)
    return {
      grid: { crs, transform, width: info.width, height: info.height },
      outline: null,
      window: { x: 0, y: 0, width: info.width, height: info.height },
    }
  const inPixels = toPixels(info, polygons)
  const box = cutTo(boxOf(inPixels), info)
  const [left, top] = applyAffine(transform, box.minX, box.minY)
  const window = { x: box.minX, y: box.minY, width: box.maxX - box.minX, height: box.maxY - box.minY }
  const grid = {
    crs,
    transform: [left, transform[1], transform[2], top, transform[4], transform[5]] as Affine,
    width: window.width,
    height: window.height,
  }
  return { grid, outline: movedInto(inPixels, window), window }
}

function cutTo(box: Box, { width, height }: { width: number; height: number }): Box {
  const cut = {
    minX: Math.max(0, Math.floor(box.minX)),
    minY: Math.max(0, Math.floor(box.minY)),
    maxX: Math.min(width, Math.ceil(box.maxX)),
    maxY: Math.min(height, Math.ceil(box.maxY)),
  }
  if (cut.minX >= cut.maxX || cut.minY >= cut.maxY) throw new RasterError('invalid_argument', 'The geometry does not intersect the raster')
  return cut
}

/** A north-up grid in the target CRS, around the intersection of polygons and raster. */
function otherGrid(info: RasterInfo, polygons: readonly Polygon[] | null, options: Pick<WarpOptions, 'crs' | 'resolution'>): Target {
  const { crs: from, transform } = placementOf(info)
  const crs = options.crs ?? from
  const covered = projectedBox(rasterOutline(info, transform), projectorBetween(from, crs))
  const placed = { width: info.width, height: info.height, transform, crs: from }
  const moved = polygons && mapPolygons(cutToRaster(placed, polygons), pointMap(projectorFromLonLat(crs)), MAX_EDGE_DEGREES)
  const requested = moved ? boxOf(moved) : covered
  const box = {
    minX: Math.max(covered.minX, requested.minX),
    minY: Math.max(covered.minY, requested.minY),
    maxX: Math.min(covered.maxX, requested.maxX),
    maxY: Math.min(covered.maxY, requested.maxY),
  }
  if (!(box.minX < box.maxX && box.minY < box.maxY)) throw new RasterError('invalid_argument', 'The geometry does not intersect the raster')
  const size = options.resolution ?? finest(box, projectorBetween(crs, from), invertAffine(transform))
  if (!(size > 0)) throw new RasterError('invalid_argument', 'resolution must be greater than 0')
  const width = Math.max(1, Math.ceil((box.maxX - box.minX) / size - 1e-6))
  const height = Math.max(1, Math.ceil((box.maxY - box.minY) / size - 1e-6))
  const outline =
    moved &&
    moved.map((polygon) => polygon.map((ring) => ring.map(([x, y]) => [(x - box.minX) / size, (box.maxY - y) / size] as [number, number])))
  return { grid: { crs, transform: [box.minX, size, 0, box.maxY, 0, -size], width, height }, outline, window: null }
}

/** Points along the edge of a raster: a projection curves it, so the corners alone would cut something off. */
const EDGE_STEPS = 32

export function rasterOutline({ width, height }: RasterInfo, transform: Affine): Point[] {
  const points: Point[] = []
  for (let step = 0; step <= EDGE_STEPS; step++) {
    const [x, y] = [(width * step) / EDGE_STEPS, (height * step) / EDGE_STEPS]
    points.push(
      applyAffine(transform, x, 0),
      applyAffine(transform, x, height),
      applyAffine(transform, 0, y),
      applyAffine(transform, width, y),
    )
  }
  return points
}

export function projectedBox(points: readonly Point[], project: Projector): Box {
  const map = pointMap(project)
  const moved = points.map(map).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
  if (moved.length === 0)
    throw new RasterError('invalid_argument', 'The raster lies outside the area of use of the target coordinate reference system')
  return boxOf([[moved]])
}

/** The side of a target pixel that covers as much ground as a source pixel at the centre of the box. */
export function finest(box: Box, project: Projector, inverse: Affine): number {
  const toPixel = (x: number, y: number): Point => applyAffine(inverse, ...pointMap(project)([x, y]))
  const [x, y] = [(box.minX + box.maxX) / 2, (box.minY + box.maxY) / 2]
  const step = Math.max(box.maxX - box.minX, box.maxY - box.minY) / 1024
  const [here, right, up] = [toPixel(x, y), toPixel(x + step, y), toPixel(x, y + step)]
  const area = Math.abs((right[0] - here[0]) * (up[1] - here[1]) - (right[1] - here[1]) * (up[0] - here[0]))
  return step / Math.sqrt(area)
}

const pointMap =
  (project: Projector) =>
  ([x, y]: Point): Point => {
    const out: Point = [0, 0]
    project(x, y, out)
    return out
  }

function movedDown(transform: Affine, rows: number): Affine {
  const [x, y] = applyAffine(transform, 0, rows)
  return [x, transform[1], transform[2], y, transform[4], transform[5]]
}

const shiftUp = (polygons: readonly Polygon[], rows: number): Polygon[] =>
  polygons.map((polygon) => polygon.map((ring) => ring.map(([x, y]) => [x, y - rows])))

function clip(mask: Uint8Array, inside: Uint8Array): void {
  for (let i = 0; i < mask.length; i++) if (inside[i] === 0) mask[i] = 0
}

interface Wanted {
  grid: TargetGrid
  bands: readonly number[]
  isClipped: boolean
  options: WarpOptions
}

/** No-data is marked as in the source; a source without nodata gets NaN, or a mask beside the pixels. */
function specOf(info: RasterInfo, { grid, bands, isClipped, options }: Wanted): CogSpec {
  const isFloat = info.dataType.startsWith('float')
  const nodata = info.bands[bands[0] ?? 0]?.nodata ?? (isFloat ? Number.NaN : null)
  const keepsAlpha = info.alphaBand !== null && bands.includes(info.alphaBand)
  const isClasses = info.colorTable !== null
  return {
    width: grid.width,
    height: grid.height,
    dataType: info.dataType === 'float16' ? 'float32' : info.dataType,
    bandCount: bands.length,
    crs: grid.crs,
    transform: grid.transform,
    nodata,
    hasMask: nodata === null && !keepsAlpha && (isClipped || info.maskKind !== 'none' || grid.crs !== info.crs),
    bands: bands.map((band) => info.bands[band]!),
    colorTable: info.colorTable,
    metadata: info.metadata,
    overviews: options.overviews ?? (isClasses ? 'mode' : 'average'),
    ...(options.blockSize === undefined ? {} : { blockSize: options.blockSize }),
    // Exported files must work with software of any age.
    compression: options.compression ?? 'deflate',
    ...(options.compressionLevel === undefined ? {} : { compressionLevel: options.compressionLevel }),
  }
}

function blockOf(
  planes: readonly SampleArray[],
  mask: Uint8Array,
  spec: CogSpec,
  info: RasterInfo,
  bands: readonly number[],
): Block<ExactSampleArray> {
  const data = planes.map((plane, index) => {
    const isAlpha = bands[index] === info.alphaBand
    const fill = isAlpha ? 0 : (spec.nodata ?? 0)
    for (let i = 0; i < mask.length; i++) if (mask[i] === 0) plane[i] = fill
    return exact(plane, spec)
  })
  const width = spec.width
  const byteLength = data.reduce((sum, plane) => sum + plane.byteLength, mask.byteLength)
  return {
    width,
    height: mask.length / width,
    bands: planes.map((_, index) => index),
    data,
    starts: planes.map(() => 0),
    stride: 1,
    mask: spec.hasMask ? mask : null,
    byteLength,
  }
}

const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  uint32: [0, 4_294_967_295],
  int32: [-2_147_483_648, 2_147_483_647],
}

/** Smooth kernels and 64-bit integers are computed as floats; the result has the source's type, rounded and within its range. */
function exact(plane: SampleArray, { dataType }: CogSpec): ExactSampleArray {
  const out = new EXACT_ARRAY[dataType](plane.length)
  if (out.constructor === plane.constructor) return plane
  if (out instanceof BigInt64Array || out instanceof BigUint64Array) {
    for (let i = 0; i < plane.length; i++) out[i] = BigInt(Math.round(plane[i]!))
    return out
  }
  const [low, high] = LIMITS[dataType] ?? [-Infinity, Infinity]
  const isInteger = dataType in LIMITS
  for (let i = 0; i < plane.length; i++) out[i] = Math.min(high, Math.max(low, isInteger ? Math.round(plane[i]!) : plane[i]!))
  return out
}
