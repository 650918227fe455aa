/**
 * Statistics of many zones in one pass over the blocks of a raster. Every pixel counts by the share of it that lies in the zone,
 * exactly. What a zone holds is let go as soon as its last block was read, so that memory follows the zones that lie side by
 * side and not all there are.
 */
import { giveBack } from '#raster/buffers.ts'
import { compileExpression, parseExpression, type BandScale, type CompiledExpression } from '#raster/expression/index.ts'
import { addCoverage } from '#raster/geometry/rasterize.ts'
import { LIMITS } from '#raster/limits.ts'
import { joinedMask, movedInto, planeOf } from '#raster/statistics/area.ts'
import { RasterError, throwIfAborted, type Block, type DataType, type Level, type Raster, type RasterInfo } from '#raster/types.ts'

import { loadZonalKernels } from './instances.ts'
import { MOMENTS, type Samples } from './kernels.ts'
import { ZonalTotals, type ZonalStatistic, type ZoneSummary } from './totals.ts'
import { placeZones, planBlocks, type BlockWork, type PlacedZone } from './zones.ts'

export { ZONAL_STATISTICS, type ZonalStatistic, type ZoneSummary } from './totals.ts'
export { MAX_ZONES } from './zones.ts'

export interface ZonalOptions {
  /** GeoJSON polygons in longitude and latitude. */
  zones: readonly unknown[]
  /** 1-based; all (but alpha) by default. */
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
  /** More pixels in the blocks to be read than this are refused before one is read. */
  maxPixels?: number
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
  const { info } = raster
  const series = seriesOf(info, options)
  const level = info.levels[0] as Level
  const placed = placeZones(info, options.zones)
  const work = planBlocks(level, placed)
  const pixelsRead = work.reduce((sum, { rows }) => sum + rows * level.blockWidth, 0)
  if (pixelsRead > (options.maxPixels ?? Infinity))
    throw new RasterError(
      'limit_exceeded',
      `The zones lie in blocks of ${pixelsRead} pixels, and at most ${options.maxPixels} are read at once`,
    )
  const totals = new ZonalTotals({
    zoneCount: options.zones.length,
    seriesCount: series.count,
    statistics: options.statistics ?? DEFAULT_STATISTICS,
    percentiles: options.percentiles ?? [],
    dataType: series.dataType,
  })
  await scan({ raster, level, series, totals, signal: options.signal, onProgress: options.onProgress }, work)
  return { zones: totals.summaries(), pixelsRead }
}

/** What is described of every pixel: bands as they are, or the results of an expression. */
interface Series {
  count: number
  /** Zero-based. */
  bands: readonly number[]
  /** Of what is described; null for computed values. */
  dataType: DataType | null
  of(block: Block, index: number): Samples
  /** Before the first `of` of a block. */
  open(block: Block): void
}

function seriesOf(info: RasterInfo, options: ZonalOptions): Series {
  if (options.expression !== undefined) return computedSeries(info, options.expression, options)
  const all = info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== info.alphaBand)
  const bands = (options.bands ?? all).map((band) => {
    if (!Number.isInteger(band) || band < 1 || band > info.bandCount)
      throw new RasterError('invalid_argument', `band ${band} does not exist (there are ${info.bandCount})`)
    return band - 1
  })
  if (options.unscale && bands.some((band) => info.bands[band]!.scale !== 1 || info.bands[band]!.offset !== 0))
    return computedSeries(info, bands.map((band) => `b${band + 1}`).join(';'), options)
  return {
    count: bands.length,
    bands,
    dataType: info.dataType,
    open: () => {},
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

function computedSeries(info: RasterInfo, source: string, { names, unscale = false }: ZonalOptions): Series {
  const expression = parseExpression(source, { bandCount: info.bandCount, ...(names ? { names } : {}) })
  const used = expression.bands.map((band) => band - 1)
  const scales = new Map<number, BandScale>(unscale ? used.map((band) => [band + 1, info.bands[band]!]) : [])
  const compiled: CompiledExpression = compileExpression(expression, { dataType: info.dataType, scales })
  const nodata = used.map((band) => info.bands[band]!.nodata)
  let output: ReturnType<CompiledExpression['run']>
  return {
    count: compiled.resultCount,
    // An expression of no band still needs pixels to stand on, which the first band brings along.
    bands: used.length > 0 ? used : [0],
    dataType: null,
    open(block) {
      const count = block.width * block.height
      const planes = used.map((_, index) => planeOf(block, index, count))
      output = compiled.run(planes, joinedMask(planes, block.mask, nodata, count), count)
    },
    of: (block, index) => ({
      samples: output.values[index]!,
      start: 0,
      stride: 1,
      width: block.width,
      mask: output.mask,
      nodata: null,
    }),
  }
}

interface Scan {
  raster: Raster
  level: Level
  series: Series
  totals: ZonalTotals
  signal: AbortSignal | undefined
  onProgress: ((fraction: number) => void) | undefined
}

async function scan({ raster, level, series, totals, signal, onProgress }: Scan, work: readonly BlockWork[]): Promise<void> {
  const { describePart } = await loadZonalKernels(series.dataType ?? 'float64')
  const stride = level.blockWidth + 2
  const sums = new Float64Array(stride * level.blockHeight)
  const moments = new Float64Array(MOMENTS)
  const together = Math.max(1, Math.floor(LIMITS.blockBytesInFlight / (level.blockWidth * level.blockHeight * raster.info.bandCount * 8)))
  const describe = (block: Block, zone: PlacedZone, { bx, by }: BlockWork): void => {
    const [left, top] = [bx * level.blockWidth, by * level.blockHeight]
    const part = { left: Math.max(0, zone.minX - left), top: Math.max(0, zone.minY - top) }
    const width = Math.min(block.width, zone.maxX - left) - part.left
    const height = Math.min(block.height, zone.maxY - top) - part.top
    const moved = movedInto(zone.polygons, { x: left + part.left, y: top + part.top, width, height })
    for (let index = 0; index < series.count; index++) {
      addCoverage(sums, { width, height, stride }, moved)
      describePart(series.of(block, index), { ...part, width, height, sums, stride }, moments, totals.roomFor(width * height))
      totals.add(zone.index, index, moments)
    }
    if (zone.maxY <= top + level.blockHeight && zone.maxX <= left + level.blockWidth) totals.finish(zone.index)
  }
  for (let i = 0; i < work.length; i += together) {
    throwIfAborted(signal)
    const batch = work.slice(i, i + together)
    const blocks = await Promise.all(batch.map(({ bx, by, rows }) => raster.readBlock(0, bx, by, { bands: series.bands, rows, signal })))
    blocks.forEach((block, k) => {
      series.open(block)
      for (const zone of batch[k]!.zones) describe(block, zone, batch[k]!)
      for (const samples of block.data) giveBack(samples)
    })
    onProgress?.((i + batch.length) / work.length)
  }
}
