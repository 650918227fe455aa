import { bandIndex } from '#raster/bands.ts'
import { giveBack, takeBytes } from '#raster/buffers.ts'
import { compileExpression, parseExpression, type BandScale } from '#raster/expression/index.ts'
import { readPolygons } from '#raster/geometry/polygon.ts'
import { RasterError, type Block, type DataType, type Raster, type SampleArray } from '#raster/types.ts'
import { sampleArray } from '#raster/warp/instances.ts'

import { chooseArea, joinedMask, readArea, type Area, type AreaSamples } from './area.ts'
import { loadStatisticsKernels, type StatisticsKernels } from './instances.ts'
import type { BandSamples, Collected } from './kernels.ts'
import { pixelsOf, scanArea, type AreaPixels, type ScanRequest } from './scan.ts'
import { summarizeCollected } from './spread.ts'
import { summarizeCounts, summarizeSamples } from './summarize.ts'
import type { Summary, SummaryOptions } from './summary.ts'

export type { Summary } from './summary.ts'

export interface StatisticsOptions {
  /** GeoJSON in longitude and latitude; the whole raster by default. */
  geometry?: unknown
  /** 1-based; default: all except alpha. */
  bands?: readonly number[]
  /** Instead of bands: each of its results is described. */
  expression?: string
  /** Names that the expression may use for bands. */
  names?: Readonly<Record<string, number>>
  /** From 0 to 100. */
  percentiles?: readonly number[]
  binCount?: number
  binRange?: readonly [number, number]
  /** Weight pixels by the fraction that the polygon covers; otherwise a pixel counts if its centre is inside. */
  exactCoverage?: boolean
  /** Above this many pixels, an overview is read. */
  maxPixels?: number
  /** Or the smallest overview with at least this many pixels along its longer side. */
  minSidePx?: number
  /** Apply the bands' scale and offset. */
  unscale?: boolean
  signal?: AbortSignal | undefined
}

export interface BandSummary extends Summary {
  /** The fraction of the area (or raster) with data. */
  validFraction: number
}

export interface Statistics {
  /** The level that was read; 0 is the full resolution. */
  level: number
  /** Pixels of that level in the area. */
  pixelCount: number
  bands: BandSummary[]
}

const DEFAULT_MAX_PIXELS = 4096 * 4096
const DEFAULT_PERCENTILES = [2, 98]
const DEFAULT_BIN_COUNT = 10
const MAX_BIN_COUNT = 4096
const MAX_PERCENTILES = 100
const FIRST_VALUES: Partial<Record<DataType, { first: number; count: number }>> = {
  uint8: { first: 0, count: 256 },
  int8: { first: -128, count: 256 },
  uint16: { first: 0, count: 65536 },
  int16: { first: -32768, count: 65536 },
}

/** Statistics of bands, or of an expression, over a raster or a polygon. */
export async function computeStatistics(raster: Raster, options: StatisticsOptions = {}): Promise<Statistics> {
  return raster.forBands && options.expression === undefined ? computeBandwise(raster, options) : computeOnGrid(raster, options)
}

/** Of a stack, each band is described on its own pixels. Overviews are small, so that all bands are read at once. */
async function computeBandwise(raster: Raster, options: StatisticsOptions): Promise<Statistics> {
  const bands = options.bands ?? raster.info.bands.map((_, index) => index + 1)
  const compute = (band: number) => computeOnGrid(raster.forBands!([bandIndex(raster.info, band)]), { ...options, bands: [band] })
  const parts: Statistics[] = []
  if (options.minSidePx !== undefined) parts.push(...(await Promise.all(bands.map(compute))))
  else for (const band of bands) parts.push(await compute(band))
  return { level: parts[0]?.level ?? 0, pixelCount: parts[0]?.pixelCount ?? 0, bands: parts.flatMap((part) => part.bands) }
}

async function computeOnGrid(raster: Raster, options: StatisticsOptions): Promise<Statistics> {
  const summary = summaryOptions(options)
  const polygons = options.geometry === undefined ? null : readPolygons(options.geometry)
  const { maxPixels = DEFAULT_MAX_PIXELS, minSidePx, exactCoverage = false, signal } = options
  const area = chooseArea(raster.info, { polygons, maxPixels, minSidePx })
  const common = { raster, area, exactCoverage, signal }
  const { expression } = options
  const bands =
    expression === undefined
      ? await describeBands(common, options, summary)
      : await describeExpression(common, expression, options, summary)
  return { level: area.level, pixelCount: bands[0]?.pixelCount ?? 0, bands: bands.map((band) => band.summary) }
}

function summaryOptions({ percentiles = DEFAULT_PERCENTILES, binCount = DEFAULT_BIN_COUNT, binRange }: StatisticsOptions): SummaryOptions {
  if (percentiles.length > MAX_PERCENTILES || !percentiles.every((value) => value >= 0 && value <= 100)) {
    throw new RasterError('invalid_argument', `percentiles must be at most ${MAX_PERCENTILES} numbers from 0 to 100`)
  }
  if (!Number.isInteger(binCount) || binCount < 1 || binCount > MAX_BIN_COUNT) {
    throw new RasterError('invalid_argument', `bins must be between 1 and ${MAX_BIN_COUNT}`)
  }
  if (binRange && !(binRange[0] <= binRange[1])) throw new RasterError('invalid_argument', 'the range of bins must be ascending')
  return { percentiles, binCount, binRange }
}

interface Common {
  raster: Raster
  area: Area
  exactCoverage: boolean
  signal: AbortSignal | undefined
}

interface Described {
  summary: BandSummary
  pixelCount: number
}

async function describeBands(common: Common, options: StatisticsOptions, summary: SummaryOptions): Promise<Described[]> {
  const { raster, area } = common
  const { info } = raster
  const { bands, unscale = info.isScaled ?? false } = options
  const selected = (bands ?? info.bands.map((_, i) => i + 1).filter((band) => band - 1 !== info.alphaBand)).map((band) =>
    bandIndex(info, band),
  )
  const meaningOf = (band: number): Meaning => {
    const { scale, offset, nodata } = info.bands[band] ?? { scale: 1, offset: 0, nodata: null }
    return { dataType: info.dataType, nodata, scale: !unscale || (scale === 1 && offset === 0) ? null : { scale, offset } }
  }
  if (!common.exactCoverage)
    return describeScanned(
      common,
      selected.map((band) => ({ band, ...meaningOf(band) })),
      summary,
    )
  const described: Described[] = []
  // Band by band: the samples of one are released before the next one is read.
  for (const band of selected) {
    const read = await readArea(common, area, [band])
    described.push(await describe(read, read.planes[0] as SampleArray, meaningOf(band), summary))
  }
  return described
}

/** Samples of wide types held at once: all bands of a small area, one band of a large one. */
const HELD_BYTES = 128 * 1024 * 1024

async function describeScanned(
  { raster, area, signal }: Common,
  bands: readonly ScannedBand[],
  options: SummaryOptions,
): Promise<Described[]> {
  const pixels = pixelsOf(area)
  const isCounted = FIRST_VALUES[raster.info.dataType] !== undefined
  const together = isCounted ? bands.length : Math.max(1, Math.floor(HELD_BYTES / (pixels.count * Float64Array.BYTES_PER_ELEMENT + 1)))
  const described: Described[] = []
  for (let i = 0; i < bands.length; i += together) {
    const group = bands.slice(i, i + together)
    const request = { raster, area, bands: group.map(({ band }) => band), signal }
    const summaries = isCounted ? await countBands(request, pixels, group, options) : await collectBands(request, pixels, group, options)
    for (const summary of summaries) described.push(withFraction(summary, pixels.count))
  }
  return described
}

interface ScannedBand extends Meaning {
  /** Zero-based. */
  band: number
}

const samplesOf = (block: Block, index: number): BandSamples => ({
  samples: block.data[index] as SampleArray,
  start: block.starts[index] ?? 0,
  stride: block.stride,
  mask: block.mask,
})

async function countBands(
  request: ScanRequest,
  pixels: AreaPixels,
  bands: readonly ScannedBand[],
  options: SummaryOptions,
): Promise<Summary[]> {
  const { dataType } = request.raster.info
  const { countRuns } = await loadStatisticsKernels(dataType)
  const { first, count } = FIRST_VALUES[dataType]!
  const bins = bands.map(() => new Uint32Array(count))
  await scanArea(request, pixels, (block, runs) => bins.forEach((into, index) => countRuns(samplesOf(block, index), runs, into, first)))
  return bands.map((meaning, index) => {
    const counts = Float64Array.from(bins[index]!)
    if (meaning.nodata !== null && meaning.nodata - first in counts) counts[meaning.nodata - first] = 0
    return summarizeBins(counts, first, { ...meaning, isFractional: false }, options)
  })
}

async function collectBands(
  request: ScanRequest,
  pixels: AreaPixels,
  bands: readonly ScannedBand[],
  options: SummaryOptions,
): Promise<Summary[]> {
  const { dataType } = request.raster.info
  const kernels = await loadStatisticsKernels(dataType)
  const all = bands.map(({ scale }): Collected => ({ values: roomFor(dataType, scale, pixels.count), ...NOTHING_COLLECTED }))
  await scanArea(request, pixels, (block, runs) =>
    all.forEach((into, index) => kernels.collectRuns(samplesOf(block, index), runs, bands[index]!.nodata, into)),
  )
  return bands.map(({ scale }, index) => {
    const collected = all[index]!
    const summary = summarizeAll(collected, scale, options, kernels)
    giveBack(collected.values)
    return summary
  })
}

function summarizeAll(collected: Collected, scale: BandScale | null, options: SummaryOptions, kernels: StatisticsKernels): Summary {
  const { values, count } = collected
  if (count > 0 && !scale) return summarizeCollected(collected, options, kernels)
  // Scaled samples have another sum and range.
  const doubles = values instanceof Float64Array ? values : new Float64Array(0)
  for (let i = 0; i < count; i++) doubles[i] = scaled(doubles[i]!, scale)
  return summarizeSamples({ values: doubles, weights: null, count }, options)
}

const NOTHING_COLLECTED = { count: 0, total: 0, min: Infinity, max: -Infinity }

/** Samples keep their type, which halves the bytes of singles. Scaled ones become doubles. */
function roomFor(dataType: DataType, scale: BandScale | null, count: number): SampleArray {
  const type = scale ? 'float64' : dataType
  return sampleArray(type, count, takeBytes(count * sampleArray(type, 0).BYTES_PER_ELEMENT).buffer)
}

async function describeExpression(
  common: Common,
  source: string,
  options: StatisticsOptions,
  summary: SummaryOptions,
): Promise<Described[]> {
  const { raster, area } = common
  const { info } = raster
  const expression = parseExpression(source, { bandCount: info.bandCount, ...(options.names ? { names: options.names } : {}) })
  const bands = expression.bands.map((band) => band - 1)
  const scales = new Map<number, BandScale>(
    (options.unscale ?? info.isScaled) ? bands.map((band) => [band + 1, info.bands[band] ?? { scale: 1, offset: 0 }]) : [],
  )
  // An expression without bands still needs the area, which reading the first band provides.
  const read = await readArea(common, area, bands.length > 0 ? bands : [0])
  const nodata = bands.map((band) => info.bands[band]?.nodata ?? null)
  const mask = joinedMask(read.planes, read.mask, nodata, read.width * read.height)
  const compiled = compileExpression(expression, { dataType: info.dataType, scales })
  const output = compiled.run(read.planes.slice(0, bands.length), mask, read.width * read.height)
  const results: Described[] = []
  for (const values of output.values) {
    results.push(await describe({ ...read, mask: output.mask }, values, { dataType: 'float64', nodata: null, scale: null }, summary))
  }
  return results
}

interface Meaning {
  dataType: DataType
  nodata: number | null
  scale: BandScale | null
}

async function describe(read: AreaSamples, samples: SampleArray, meaning: Meaning, options: SummaryOptions): Promise<Described> {
  const { dataType, nodata, scale } = meaning
  const kernels = await loadStatisticsKernels(dataType)
  const { weights, mask, pixelCount } = read
  const selection = { mask, nodata, weights }
  const known = FIRST_VALUES[dataType]
  if (known) {
    const bins = new Float64Array(known.count)
    kernels.weighValues(samples, selection, bins, known.first)
    return withFraction(summarizeBins(bins, known.first, { scale, isFractional: weights !== null }, options), pixelCount)
  }
  const values = new Float64Array(samples.length)
  const weightsOut = weights ? new Float64Array(samples.length) : null
  const count = kernels.collect(samples, selection, values, weightsOut)
  if (scale) for (let i = 0; i < count; i++) values[i] = scaled(values[i]!, scale)
  return withFraction(summarizeSamples({ values, weights: weightsOut, count }, options), pixelCount)
}

const withFraction = (summary: Summary, pixelCount: number): Described => ({
  summary: { ...summary, validFraction: pixelCount > 0 ? summary.count / pixelCount : 0 },
  pixelCount,
})

/** From a weight per value of a small type to its statistics; consumes the bins. */
function summarizeBins(
  bins: Float64Array,
  first: number,
  { scale, isFractional }: { scale: BandScale | null; isFractional: boolean },
  options: SummaryOptions,
): Summary {
  const values = new Float64Array(bins.length)
  let count = 0
  for (let bin = 0; bin < bins.length; bin++) {
    if (bins[bin] === 0) continue
    values[count] = scaled(first + bin, scale)
    bins[count++] = bins[bin]!
  }
  if (scale && scale.scale < 0) {
    values.subarray(0, count).reverse()
    bins.subarray(0, count).reverse()
  }
  return summarizeCounts({ values, weights: bins, count }, isFractional, options)
}

const scaled = (value: number, scale: BandScale | null): number => (scale ? value * scale.scale + scale.offset : value)
