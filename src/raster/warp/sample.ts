import type { Block, DataType, GridBands, Level, Raster, SampleArray } from '#raster/types.ts'

import { withBlocks, type BlockCache, type BlockSet, type PixelRange } from './blocks.ts'
import { gridBounds, wholeShift } from './grid.ts'
import { isFloatType, loadResampleKernels, loadSampleKernels, sampleArray } from './instances.ts'
import { walkNearest, type PixelSink } from './nearest.ts'
import { planAgain, type WarpWindow } from './plan.ts'
import type { SmoothResampling, SourceWindow, TakeRow } from './resample.ts'
import type { ValidRule } from './samples.ts'

export const RESAMPLING = ['nearest', 'bilinear', 'cubic', 'average'] as const
export type Resampling = (typeof RESAMPLING)[number]

/** Samples on a target's pixels, with their mask. */
export interface SampledPlanes {
  width: number
  height: number
  /** One per band, in the requested order; undefined where the mask is 0. */
  planes: SampleArray[]
  /** 0 = no data, 255 = data, between = partly transparent. */
  mask: Uint8Array<ArrayBuffer>
}

interface SampleRequest {
  raster: Raster
  blocks: BlockCache
  windows: readonly WarpWindow[]
  /** Zero-based. */
  bands: readonly number[]
  width: number
  height: number
  resampling: Resampling
  rule: ValidRule
  signal?: AbortSignal | undefined
  /** Means of 8- and 16-bit samples are rounded to the source's type. */
  isRounded?: boolean | undefined
  /** The mask then says only where the raster has pixels: samples are not compared with nodata values. */
  ignoresNodata?: boolean | undefined
  /** A result for another raster of the same type that is no longer needed: its memory is reused. */
  into?: SampledPlanes | undefined
}

type GatherRequest = Omit<SampleRequest, 'resampling' | 'rule' | 'isRounded' | 'ignoresNodata' | 'into'>

/** Reads the bands on the target's pixels. */
export async function samplePlanes(request: SampleRequest): Promise<SampledPlanes> {
  if (request.resampling === 'nearest') return sampleNearest(request)
  const groups = request.raster.byGrid?.(request.bands) ?? []
  return groups.some(({ raster }) => raster !== request.raster)
    ? sampleByGrid(request, request.resampling, groups)
    : sampleSmooth(request, request.resampling)
}

/**
 * Bands of a stack on several grids, each resampled from its own pixels: a band of 20 m beside one of 10 m is as smooth as alone.
 * For one file, a pixel is data under the rule `any` if one band has data. Files of a stack must in addition all cover it.
 */
async function sampleByGrid(request: SampleRequest, method: SmoothResampling, groups: readonly GridBands[]): Promise<SampledPlanes> {
  const { raster, bands, width, height, rule } = request
  const parts = await Promise.all(
    groups.map(async (group) => {
      const isSame = group.raster === raster
      const windows = isSame ? request.windows : request.windows.map((window) => planAgain(window, raster.info, group.raster.info))
      const own = { ...request, ...group, windows }
      const sampled = await sampleSmooth(own, method)
      return { ...group, ...sampled, covered: rule === 'any' ? await coveredBy(own, sampled) : sampled.mask }
    }),
  )
  const mask = joinedMask(parts)
  const planes = bands.map((band) => {
    const part = parts.find((each) => each.bands.includes(band))!
    const plane = asPlaneOf(request, part.planes[part.bands.indexOf(band)]!)
    const nodata = raster.info.bands[band]?.nodata ?? 0
    if (nodata !== 0 && part.mask !== part.covered) part.mask.forEach((value, i) => value === 0 && (plane[i] = nodata))
    return plane
  })
  return { width, height, planes, mask }
}

/** Where the files of a group have pixels, whatever their values. */
async function coveredBy(request: SampleRequest, { mask }: SampledPlanes): Promise<Uint8Array> {
  const hasNodata = request.bands.some((band) => request.raster.info.bands[band]?.nodata != null)
  if (!hasNodata || !mask.includes(0)) return mask
  const { mask: covered } = await sampleNearest({ ...request, bands: request.bands.slice(0, 1), ignoresNodata: true, into: undefined })
  for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) covered[i] = mask[i]!
  return covered
}

/** Data where all parts cover a pixel and one of them has data. */
function joinedMask(parts: readonly { mask: Uint8Array; covered: Uint8Array }[]): Uint8Array<ArrayBuffer> {
  const joined = Uint8Array.from(parts[0]!.covered)
  for (let i = 0; i < joined.length; i++) {
    let isData = false
    for (const { mask, covered } of parts) {
      if (covered[i]! < joined[i]!) joined[i] = covered[i]!
      isData ||= mask[i] !== 0
    }
    if (!isData) joined[i] = 0
  }
  return joined
}

/** Files of a stack can have different types; their planes have that of the stack. */
function asPlaneOf(request: SampleRequest, plane: SampleArray): SampleArray {
  const empty = emptySmooth(request, 0)
  if (empty.constructor === plane.constructor) return plane
  const converted = emptySmooth(request, plane.length)
  converted.set(plane)
  return converted
}

async function sampleNearest(request: SampleRequest): Promise<SampledPlanes> {
  const { raster, blocks, bands, width, height, rule, signal, into } = request
  const { dataType } = raster.info
  const { copyPixels, copyRectangle, nodataOf } = await loadSampleKernels(dataType)
  const { planes, mask } = fits(into, request) ? { planes: into.planes, mask: into.mask.fill(0) } : emptyPlanes(request)
  const nodata = request.ignoresNodata ? bands.map(() => null) : nodataOf(raster.info.bands, bands)
  const target = { bands, planes, mask, rule, nodata, isFloat: isFloatType(dataType) }
  for (const window of request.windows) {
    const shift = wholeShift(window.grid)
    if (!shift) {
      await gatherNearest({ ...request, windows: [window] }, (block, offsets, run) => copyPixels(target, block, offsets, run))
      continue
    }
    const { x, y, grid, level } = window
    const range = { minX: shift.x, minY: shift.y, maxX: shift.x + grid.width, maxY: shift.y + grid.height }
    await withBlocks(blocks, { raster, level, range, bands, signal }, (set) =>
      eachRectangle(set, range, ({ block, from, left, top, width: across, height: down }) =>
        copyRectangle(target, block, {
          from,
          out: (y + top - range.minY) * width + x + left - range.minX,
          width: across,
          height: down,
          outWidth: width,
        }),
      ),
    )
  }
  return { width, height, planes, mask }
}

const emptyPlanes = ({ raster, bands, width, height }: SampleRequest): Pick<SampledPlanes, 'planes' | 'mask'> => ({
  planes: bands.map(() => sampleArray(raster.info.dataType, width * height)),
  mask: new Uint8Array(width * height),
})

function fits(into: SampledPlanes | undefined, { raster, bands, width, height }: SampleRequest): into is SampledPlanes {
  if (into?.width !== width || into.height !== height || into.planes.length !== bands.length) return false
  const { constructor } = sampleArray(raster.info.dataType, 0)
  return into.planes.every((plane) => plane.constructor === constructor)
}

/** A part of a block: the index of its first pixel, and its position in the level. */
interface BlockPart {
  block: Block
  from: number
  left: number
  top: number
  width: number
  height: number
}

/** The parts of blocks in a range of pixels. */
function eachRectangle(set: BlockSet, range: PixelRange, look: (part: BlockPart) => void): void {
  const { level, firstX, firstY, countX } = set
  set.blocks.forEach((block, i) => {
    const blockLeft = (firstX + (i % countX)) * level.blockWidth
    const blockTop = (firstY + Math.floor(i / countX)) * level.blockHeight
    const left = Math.max(0, range.minX, blockLeft)
    const top = Math.max(0, range.minY, blockTop)
    const width = Math.min(level.width, range.maxX, blockLeft + level.blockWidth) - left
    const height = Math.min(level.height, range.maxY, blockTop + level.blockHeight) - top
    if (block && width > 0 && height > 0) look({ block, from: (top - blockTop) * block.width + left - blockLeft, left, top, width, height })
  })
}

/** Walks all windows of a request and passes the source pixels to the sink. */
export async function gatherNearest(request: GatherRequest, sink: PixelSink): Promise<void> {
  for (const window of request.windows) {
    const range = sourceRange(window, { x: 1, y: 1 })
    const { raster, bands, signal } = request
    if (range)
      await withBlocks(request.blocks, { raster, level: window.level, range, bands, signal }, (blocks) =>
        walkNearest(window, blocks, request.width, sink),
      )
  }
}

function sourceRange(window: WarpWindow, padding: { x: number; y: number }): PixelRange | null {
  const bounds = gridBounds(window.grid)
  if (!bounds) return null
  return {
    minX: Math.max(0, Math.floor(bounds.minX - padding.x)),
    minY: Math.max(0, Math.floor(bounds.minY - padding.y)),
    maxX: Math.ceil(bounds.maxX + padding.x),
    maxY: Math.ceil(bounds.maxY + padding.y),
  }
}

/** The radius of each kernel in pixels at a ratio of 1, plus one pixel. */
const REACH: Record<SmoothResampling, number> = { bilinear: 1, cubic: 2, average: 0.5 }
const SPARE_PX = 2

/** Minimum and maximum of the types whose means can be rounded. */
const ROUNDED: Partial<Record<DataType, readonly [number, number]>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
}

const limitsOf = ({ isRounded, raster }: SampleRequest): readonly [number, number] | null =>
  (isRounded && ROUNDED[raster.info.dataType]) || null

/** 32-bit integers and doubles do not fit into a float; all other types do, with precision for the mean. */
const WIDE_TYPES: ReadonlySet<DataType> = new Set(['uint32', 'int32', 'uint64', 'int64', 'float64'])

function emptySmooth(request: SampleRequest, length: number): SampleArray {
  const { dataType } = request.raster.info
  if (limitsOf(request)) return sampleArray(dataType, length)
  return WIDE_TYPES.has(dataType) ? new Float64Array(length) : new Float32Array(length)
}

async function sampleSmooth(request: SampleRequest, method: SmoothResampling): Promise<SampledPlanes> {
  const { raster, bands, width, height } = request
  const { dataType } = raster.info
  const limits = limitsOf(request)
  const planes = bands.map(() => emptySmooth(request, width * height))
  const mask = new Uint8Array(width * height)
  const { resample } = await loadResampleKernels(dataType)
  for (const window of request.windows) {
    const source = await readSourceWindow(request, window, paddingOf(method, window.ratio))
    if (!source) continue
    const { x, y, grid, ratio, level } = window
    resample({ source, grid, ratio, method, level: raster.info.levels[level] as Level, target: { x, y, width, planes, mask, limits } })
  }
  return { width, height, planes, mask }
}

/**
 * Passes rounded samples row by row, as `resampleRows` does. Returns false, and passes nothing, if the target has to be sampled as
 * planes: for other types, for nearest pixels, and where data is missing or grids are not parallel.
 */
export async function sampleRows(request: SampleRequest, take: TakeRow): Promise<boolean> {
  const { raster, resampling, windows, width, height } = request
  const limits = limitsOf({ ...request, isRounded: true })
  const [window] = windows
  const isOneGrid = (raster.byGrid?.(request.bands) ?? []).every((group) => group.raster === raster)
  if (!limits || resampling === 'nearest' || !isOneGrid || !window || windows.length > 1) return false
  const { x, y, grid, ratio, level } = window
  if (x !== 0 || y !== 0 || grid.width !== width || grid.height !== height) return false
  const source = await readSourceWindow(request, window, paddingOf(resampling, ratio))
  if (!source) return false
  const { resampleRows } = await loadResampleKernels(raster.info.dataType)
  const target = { x, y, width, planes: [], mask: new Uint8Array(0), limits }
  return resampleRows({ source, grid, ratio, method: resampling, level: raster.info.levels[level] as Level, target }, limits, take)
}

function paddingOf(method: SmoothResampling, ratio: { x: number; y: number }): { x: number; y: number } {
  const reach = (along: number): number => REACH[method] * Math.max(1, along) + SPARE_PX
  return { x: reach(ratio.x), y: reach(ratio.y) }
}

async function readSourceWindow(
  request: SampleRequest,
  window: WarpWindow,
  padding: { x: number; y: number },
): Promise<SourceWindow | null> {
  const { raster, bands, rule, signal } = request
  const { dataType } = raster.info
  const range = sourceRange(window, padding)
  if (!range) return null
  const { copyRectangle, nodataOf } = await loadSampleKernels(dataType)
  const nodata = nodataOf(raster.info.bands, bands)
  return withBlocks(request.blocks, { raster, level: window.level, range, bands, signal }, (set) => {
    const width = Math.min(set.level.width, range.maxX) - range.minX
    const height = Math.min(set.level.height, range.maxY) - range.minY
    if (width <= 0 || height <= 0) return null
    const planes = bands.map(() => sampleArray(dataType, width * height))
    const mask = new Uint8Array(width * height)
    const target = { bands, planes, mask, rule, nodata, isFloat: isFloatType(dataType) }
    eachRectangle(set, range, ({ block, from, left, top, ...size }) =>
      copyRectangle(target, block, { ...size, from, out: (top - range.minY) * width + left - range.minX, outWidth: width }),
    )
    return { x: range.minX, y: range.minY, width, height, planes, mask }
  })
}
