/**
 * Statistics of many zones in one pass over the blocks of a raster. Every pixel is weighted by the exact fraction inside the
 * zone. The values of a zone are released when its last block was read, so that memory depends on the zones that are side by
 * side and not on all of them.
 */
import { bandIndex } from '#raster/bands.ts'
import { giveBack } from '#raster/buffers.ts'
import { compileExpression, parseExpression, type BandScale, type CompiledExpression } from '#raster/expression/index.ts'
import { addCoverage } from '#raster/geometry/rasterize.ts'
import { LIMITS } from '#raster/limits.ts'
import { joinedMask, movedInto } from '#raster/statistics/area.ts'
import {
  RasterError,
  throwIfAborted,
  type Block,
  type DataType,
  type Level,
  type Raster,
  type RasterInfo,
  type SampleArray,
} from '#raster/types.ts'

import { loadZonalKernels } from './instances.ts'
import { MOMENTS, type Samples } from './kernels.ts'
import { MAX_KEPT_CELLS, type ZonalMemory } from './memory.ts'
import { ZonalTotals, type ZonalStatistic, type ZoneSummary } from './totals.ts'
import { planZones, strideOf, type BlockWork, type ZonePart, type ZonePlan } from './zones.ts'

export { ZONAL_STATISTICS, type ZonalStatistic, type ZoneSummary } from './totals.ts'

export interface ZonalOptions {
  /** GeoJSON polygons in longitude and latitude. */
  zones: readonly unknown[]
  /** 1-based; default: all except alpha. */
  bands?: readonly number[]
  /** Instead of bands: each of its results is described. */
  expression?: string
  /** Names that the expression may use for bands. */
  names?: Readonly<Record<string, number>>
  statistics?: readonly ZonalStatistic[]
  /** From 0 to 100. */
  percentiles?: readonly number[]
  /** Apply the bands' scale and offset. */
  unscale?: boolean
  /** A larger number of pixels in the blocks is rejected before one is read. */
  maxPixels?: number
  /** Reused for the next raster with the same zones and expression. */
  memory?: ZonalMemory
  signal?: AbortSignal | undefined
  /** From 0 to 1. */
  onProgress?: (fraction: number) => void
}

export interface ZonalResult {
  /** By zone, in the order given, then by band or result. */
  zones: ZoneSummary[][]
  /** Pixels of the blocks that were read. */
  pixelsRead: number
}

const DEFAULT_STATISTICS: readonly ZonalStatistic[] = ['count', 'mean', 'min', 'max', 'std', 'sum']

export async function zonalStatistics(raster: Raster, options: ZonalOptions): Promise<ZonalResult> {
  const bands = options.bands ?? raster.info.bands.map((_, index) => index + 1)
  if (!raster.forBands || options.expression !== undefined || bands.length === 1) return zonalOnGrid(raster, options)
  // Of a stack, each band is described on its own pixels.
  const { onProgress } = options
  const parts: ZonalResult[] = []
  for (const [index, band] of bands.entries()) {
    const own = raster.forBands([bandIndex(raster.info, band)])
    const progress = onProgress ? { onProgress: (fraction: number) => onProgress((index + fraction) / bands.length) } : {}
    parts.push(await zonalOnGrid(own, { ...options, ...progress, bands: [band] }))
  }
  return {
    zones: options.zones.map((_, zone) => parts.flatMap((part) => part.zones[zone]!)),
    pixelsRead: parts.reduce((sum, { pixelsRead }) => sum + pixelsRead, 0),
  }
}

async function zonalOnGrid(raster: Raster, options: ZonalOptions): Promise<ZonalResult> {
  const { info } = raster
  const series = seriesOf(info, options)
  const level = info.levels[0] as Level
  const plan = options.memory?.plan(info, options.zones) ?? planZones(info, options.zones)
  if (plan.pixels > (options.maxPixels ?? Infinity))
    throw new RasterError('limit_exceeded', `The zones need blocks with ${plan.pixels} pixels; the maximum is ${options.maxPixels}`)
  const totals = new ZonalTotals({
    zoneCount: options.zones.length,
    seriesCount: series.count,
    statistics: options.statistics ?? DEFAULT_STATISTICS,
    percentiles: options.percentiles ?? [],
    dataType: series.dataType,
  })
  const keepsCoverage = options.memory !== undefined && plan.allCells <= MAX_KEPT_CELLS
  await scan({ raster, level, series, totals, keepsCoverage, signal: options.signal, onProgress: options.onProgress }, plan)
  return { zones: totals.summaries(), pixelsRead: plan.pixels }
}

/** The values of every pixel: bands, or the results of an expression. */
interface Series {
  count: number
  /** Zero-based. */
  bands: readonly number[]
  /** Of what is described; null for computed values. */
  dataType: DataType | null
  of(block: Block, index: number): Samples
  /** Called before the first `of` of a block, with the needed part. Returns where the samples of `of` start in the block. */
  open(block: Block, box: Box): { left: number; top: number }
}

type Box = Pick<BlockWork, 'left' | 'top' | 'right' | 'bottom'>

const BLOCK_START = { left: 0, top: 0 }

function seriesOf(info: RasterInfo, options: ZonalOptions): Series {
  if (options.expression !== undefined) return computedSeries(info, options.expression, options)
  const all = info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== info.alphaBand)
  const bands = (options.bands ?? all).map((band) => bandIndex(info, band))
  if ((options.unscale ?? info.isScaled) && bands.some((band) => info.bands[band]!.scale !== 1 || info.bands[band]!.offset !== 0))
    return computedSeries(info, bands.map((band) => `b${band + 1}`).join(';'), options)
  return {
    count: bands.length,
    bands,
    dataType: info.dataType,
    open: () => BLOCK_START,
    of: (block, index) => ({
      samples: block.data[index]!,
      start: block.starts[index]!,
      stride: block.stride,
      width: block.width,
      mask: block.mask,
      nodata: info.bands[bands[index]!]!.nodata,
    }),
  }
}

function computedSeries(info: RasterInfo, source: string, options: ZonalOptions): Series {
  const compile = () => compiledFor(info, source, options)
  // Scales differ per raster and are compiled in.
  const compiled = options.memory && !(options.unscale ?? info.isScaled) ? options.memory.expression(info, source, compile) : compile()
  const used = compiled.bands.map((band) => band - 1)
  const nodata = used.map((band) => info.bands[band]!.nodata)
  let output: ReturnType<CompiledExpression['run']>
  let width = 0
  return {
    count: compiled.resultCount,
    // An expression without bands still needs pixels, which reading the first band provides.
    bands: used.length > 0 ? used : [0],
    dataType: null,
    open(block, box) {
      width = box.right - box.left
      const count = width * (box.bottom - box.top)
      const planes = used.map((_, index) => cutOut(block.data[index]!, { start: block.starts[index]!, stride: block.stride }, block, box))
      const known = block.mask && (cutOut(block.mask, { start: 0, stride: 1 }, block, box) as Uint8Array)
      output = compiled.run(planes, joinedMask(planes, known, nodata, count), count)
      return box
    },
    of: (_block, index) => ({ samples: output.values[index]!, start: 0, stride: 1, width, mask: output.mask, nodata: null }),
  }
}

function compiledFor(info: RasterInfo, source: string, { names, unscale = info.isScaled ?? false }: ZonalOptions): CompiledExpression {
  const expression = parseExpression(source, { bandCount: info.bandCount, ...(names ? { names } : {}) })
  const scales = new Map<number, BandScale>(unscale ? expression.bands.map((band) => [band, info.bands[band - 1]!]) : [])
  return compileExpression(expression, { dataType: info.dataType, scales })
}

/** One band of a part of a block, row by row; a block that is already planar is used in place. */
function cutOut(samples: SampleArray, { start, stride }: { start: number; stride: number }, { width }: Block, box: Box): SampleArray {
  const columns = box.right - box.left
  const rows = box.bottom - box.top
  if (stride === 1 && columns === width) return samples.subarray(start + box.top * width, start + box.bottom * width)
  const out = samples.slice(0, columns * rows)
  for (let row = 0, i = 0; row < rows; row++) {
    let from = ((box.top + row) * width + box.left) * stride + start
    for (let column = 0; column < columns; column++, i++, from += stride) out[i] = samples[from]!
  }
  return out
}

interface Scan {
  raster: Raster
  level: Level
  series: Series
  totals: ZonalTotals
  keepsCoverage: boolean
  signal: AbortSignal | undefined
  onProgress: ((fraction: number) => void) | undefined
}

async function scan({ raster, level, series, totals, keepsCoverage, signal, onProgress }: Scan, plan: ZonePlan): Promise<void> {
  const { work } = plan
  const { describePart } = await loadZonalKernels(series.dataType ?? 'float64')
  const sums = new Float64Array(plan.mostCells)
  const moments = new Float64Array(MOMENTS)
  const together = Math.max(1, Math.floor(LIMITS.blockBytesInFlight / (level.blockWidth * level.blockHeight * raster.info.bandCount * 8)))
  const describe = (block: Block, part: ZonePart, { bx, by }: BlockWork, start: { left: number; top: number }): void => {
    const { zone, width, height } = part
    const stride = strideOf(part)
    const place = { left: part.left - start.left, top: part.top - start.top, width, height, sums, stride, sliver: plan.sliver }
    for (let index = 0; index < series.count; index++) {
      if (part.sums) sums.set(part.sums)
      else {
        const window = { x: bx * level.blockWidth + part.left, y: by * level.blockHeight + part.top, width, height }
        addCoverage(sums, { width, height, stride }, movedInto(zone.polygons, window))
        if (keepsCoverage) part.sums = sums.slice(0, stride * height)
      }
      describePart(series.of(block, index), place, moments, totals.roomFor(width * height))
      totals.add(zone.index, index, moments)
    }
    if (part.isLast) totals.finish(zone.index)
  }
  for (let i = 0; i < work.length; i += together) {
    throwIfAborted(signal)
    const batch = work.slice(i, i + together)
    const blocks = await Promise.all(
      batch.map(({ bx, by, top, bottom }) => raster.readBlock(0, bx, by, { bands: series.bands, rows: bottom, firstRow: top, signal })),
    )
    blocks.forEach((block, k) => {
      const work = batch[k]!
      const start = series.open(block, work)
      for (const part of work.parts) describe(block, part, work, start)
      for (const samples of block.data) giveBack(samples)
    })
    onProgress?.((i + batch.length) / work.length)
  }
}
