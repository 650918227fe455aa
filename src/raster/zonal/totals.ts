/** Running totals of zones while blocks are read, and their final summaries. */
import { RasterError, type DataType } from '#raster/types.ts'
import { append, createDistributor, extremesOf, noneKept, percentilesOf, roomFor } from './distribution.ts'
import { MOMENTS, type Kept } from './kernels.ts'

export const ZONAL_STATISTICS = [
  'count',
  'sum',
  'mean',
  'min',
  'max',
  'std',
  'variance',
  'range',
  'median',
  'majority',
  'minority',
  'variety',
] as const
export type ZonalStatistic = (typeof ZONAL_STATISTICS)[number]

const NEED_VALUES: ReadonlySet<ZonalStatistic> = new Set(['median', 'majority', 'minority', 'variety'])

/** Of one band or result in one zone. Numbers are null if the zone has no data. */
export interface ZoneSummary {
  /** Pixels with data; partly covered ones count as fractions. */
  count: number
  /** Pixels of the zone on the raster, with and without data. */
  covered: number
  values: Partial<Record<ZonalStatistic, number | null>>
  /** One per requested percentile. */
  percentiles: (number | null)[]
}

interface TotalsOptions {
  zoneCount: number
  seriesCount: number
  statistics: readonly ZonalStatistic[]
  percentiles: readonly number[]
  /** Null for results of an expression. */
  dataType: DataType | null
}

const FIELDS = 6
const COUNT = 0
const SUM = 1
const MEAN = 2
const SQUARES = 3
const LOW = 4
const HIGH = 5
const MAX_PERCENTILES = 100
/** Memory of the totals of all zones; summaries take about as much again. */
const MAX_CELLS = 2 ** 24

export class ZonalTotals {
  readonly #options: TotalsOptions
  readonly #sums: Float64Array
  readonly #covered: Float64Array
  readonly #kept = new Map<number, Kept>()
  #scratch: Kept = noneKept()
  readonly #summaries: (ZoneSummary | undefined)[]
  readonly #distribute: ReturnType<typeof createDistributor>
  /** Whether single values must be kept. */
  readonly keepsValues: boolean

  constructor(options: TotalsOptions) {
    const { zoneCount, seriesCount, statistics, percentiles, dataType } = options
    if (percentiles.length > MAX_PERCENTILES || !percentiles.every((value) => value >= 0 && value <= 100))
      throw new RasterError('invalid_argument', `percentiles must be at most ${MAX_PERCENTILES} numbers from 0 to 100`)
    const cells = zoneCount * seriesCount
    if (cells > MAX_CELLS) throw new RasterError('limit_exceeded', 'Too many zones for this number of bands')
    this.#options = options
    this.#sums = new Float64Array(cells * FIELDS)
    this.#covered = new Float64Array(cells)
    this.#summaries = Array.from({ length: cells })
    this.#distribute = createDistributor(dataType)
    this.keepsValues = percentiles.length > 0 || statistics.some((name) => NEED_VALUES.has(name))
    for (let cell = 0; cell < cells; cell++) {
      this.#sums[cell * FIELDS + LOW] = Infinity
      this.#sums[cell * FIELDS + HIGH] = -Infinity
    }
  }

  /** Buffers for the values of this many pixels; null if single values are not needed. Reused for the next part. */
  roomFor(pixels: number): Kept | null {
    if (!this.keepsValues) return null
    if (this.#scratch.whole.length < pixels) this.#scratch = roomFor(pixels)
    this.#scratch.wholeCount = 0
    this.#scratch.partCount = 0
    return this.#scratch
  }

  /** Merges the moments of a part into those of its zone (Chan et al.), without loss of precision. */
  add(zone: number, series: number, moments: Float64Array): void {
    const cell = this.#cell(zone, series)
    this.#covered[cell]! += moments[MOMENTS - 1]!
    const weight = moments[0]!
    if (weight === 0) return
    if (this.keepsValues) this.#keep(cell)
    const sums = this.#sums
    const at = cell * FIELDS
    const origin = moments[5]!
    const mean = origin + moments[1]! / weight
    const squares = Math.max(0, moments[2]! - (moments[1]! * moments[1]!) / weight)
    const before = sums[at + COUNT]!
    const distance = mean - sums[at + MEAN]!
    const total = before + weight
    sums[at + SQUARES]! += squares + (before === 0 ? 0 : (distance * distance * before * weight) / total)
    sums[at + MEAN] = before === 0 ? mean : sums[at + MEAN]! + (distance * weight) / total
    sums[at + COUNT] = total
    sums[at + SUM]! += origin * weight + moments[1]!
    sums[at + LOW] = Math.min(sums[at + LOW]!, moments[3]!)
    sums[at + HIGH] = Math.max(sums[at + HIGH]!, moments[4]!)
  }

  /** A zone is complete: its values are summarized and released. */
  finish(zone: number): void {
    for (let series = 0; series < this.#options.seriesCount; series++) this.#finishCell(this.#cell(zone, series))
  }

  /** By zone, then by band or result. */
  summaries(): ZoneSummary[][] {
    const { zoneCount, seriesCount } = this.#options
    return Array.from({ length: zoneCount }, (_, zone) =>
      Array.from({ length: seriesCount }, (__, series) => {
        const cell = this.#cell(zone, series)
        if (!this.#summaries[cell]) this.#finishCell(cell)
        return this.#summaries[cell]!
      }),
    )
  }

  #cell(zone: number, series: number): number {
    return zone * this.#options.seriesCount + series
  }

  #keep(cell: number): void {
    let kept = this.#kept.get(cell)
    if (!kept) this.#kept.set(cell, (kept = noneKept()))
    append(kept, this.#scratch)
  }

  #finishCell(cell: number): void {
    const { statistics, percentiles } = this.#options
    const at = cell * FIELDS
    const [count = 0, sum = 0, mean = 0, squares = 0, low = 0, high = 0] = this.#sums.subarray(at, at + FIELDS)
    const isEmpty = count === 0
    const kept = this.#kept.get(cell)
    const distribution = this.keepsValues && kept && !isEmpty ? this.#distribute(kept, low, high) : null
    this.#kept.delete(cell)
    const [median = null, ...ranks] = distribution ? percentilesOf(distribution, [50, ...percentiles]) : []
    const extremes = distribution ? extremesOf(distribution) : { majority: null, minority: null }
    const variance = isEmpty ? null : squares / count
    const all: Record<ZonalStatistic, number | null> = {
      count,
      sum: isEmpty ? null : sum,
      mean: isEmpty ? null : mean,
      min: isEmpty ? null : low,
      max: isEmpty ? null : high,
      std: variance === null ? null : Math.sqrt(variance),
      variance,
      range: isEmpty ? null : high - low,
      median,
      ...extremes,
      variety: isEmpty ? 0 : (distribution?.count ?? null),
    }
    this.#summaries[cell] = {
      count,
      covered: this.#covered[cell]!,
      values: Object.fromEntries(statistics.map((name) => [name, all[name]])),
      percentiles: isEmpty ? percentiles.map(() => null) : ranks,
    }
  }
}
