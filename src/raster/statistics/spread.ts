import { countAndSquare, fineBin, gather, totalAndRange, type Collected, type FineBins } from './kernels.ts'
import { selectRanks } from './select.ts'
import { sum } from './sum.ts'
import { binEdges, placeOf, type Histogram, type Summary, type SummaryOptions } from './summary.ts'

/** Fine bins of equal width over the range of the samples. */
const FINE_BINS = 65_536

/**
 * Describes samples of weight 1, at least one. Percentiles and histogram come from one count in many fine bins: only the
 * samples in bins with a requested rank or a histogram border are read again. The bin index never
 * decreases as samples grow, even after rounding, so the result is exact; samples that all fall into one bin are only
 * slow.
 */
export function summarizeSpread(values: Float64Array, options: SummaryOptions): Summary {
  const range = { min: Infinity, max: -Infinity }
  const collected: Collected = { values, count: values.length, total: 0, ...range }
  collected.total = sum(values.length, (from, to) => totalAndRange(collected, range, from, to))
  return summarizeCollected({ ...collected, ...range }, options, { countAndSquare, gather })
}

/** The loops over samples, compiled for their type. */
interface Loops {
  countAndSquare: typeof countAndSquare
  gather: typeof gather
}

/** The same for samples with known sum and range, by loops for their type. */
export function summarizeCollected(collected: Collected, { percentiles, binCount, binRange }: SummaryOptions, loops: Loops): Summary {
  const { count, min, max, total } = collected
  const mean = total / count
  const fine: FineBins = { low: min, perUnit: (FINE_BINS - 1) / (max - min), counts: new Uint32Array(FINE_BINS) }
  // A second pass: the difference of two large squares would lose precision.
  const squares = sum(count, (from, to) => loops.countAndSquare(collected, fine, mean, from, to))
  const edges = binEdges(binRange ?? [min, max], binCount)
  const places = percentiles.map((percentile) => placeOf(percentile, count))
  const ranks = [...new Set(places.flatMap((place) => [Math.floor(place), Math.ceil(place)]))].sort((a, b) => a - b)
  const borders = edges.map((edge) => (edge < min ? -1 : edge > max ? FINE_BINS : fineBin(fine, edge)))
  const wanted = new Uint8Array(FINE_BINS)
  for (const border of borders) if (border >= 0 && border < FINE_BINS) wanted[border] = 1
  const { passed } = markRanks(fine.counts, ranks, wanted)
  const looked = new Float64Array(sizeOf(fine.counts, wanted))
  loops.gather(collected, fine, wanted, looked)
  const histogram = histogramOf(fine.counts, wanted, borders, edges, looked)
  const known = valuesOf(ranks, passed, looked)
  const percentileValues = places.map((place) => {
    const lower = known.get(Math.floor(place))!
    return lower + (known.get(Math.ceil(place))! - lower) * (place - Math.floor(place))
  })
  return { count, min, max, mean, std: Math.sqrt(squares / count), sum: total, percentiles: percentileValues, histogram }
}

/** Marks the bins that hold a rank; `passed[i]` is how many samples lie in unmarked bins before the bin of `ranks[i]`. */
function markRanks(counts: Uint32Array, ranks: readonly number[], wanted: Uint8Array): { passed: number[] } {
  const passed: number[] = []
  let seen = 0
  let left = 0
  for (let bin = 0; bin < counts.length && passed.length < ranks.length; bin++) {
    const end = seen + counts[bin]!
    if (ranks[passed.length]! < end) wanted[bin] = 1
    while (passed.length < ranks.length && ranks[passed.length]! < end) passed.push(left)
    if (wanted[bin] === 0) left += counts[bin]!
    seen = end
  }
  return { passed }
}

function sizeOf(counts: Uint32Array, wanted: Uint8Array): number {
  let size = 0
  for (let bin = 0; bin < counts.length; bin++) if (wanted[bin] !== 0) size += counts[bin]!
  return size
}

/** Whole fine bins without a border in them, otherwise the samples themselves. */
function histogramOf(fine: Uint32Array, wanted: Uint8Array, borders: readonly number[], edges: number[], looked: Float64Array): Histogram {
  const last = edges.length - 2
  const counts = Array.from({ length: last + 1 }, () => 0)
  for (let bin = 0, coarse = -1; bin < fine.length; bin++) {
    while (coarse <= last && borders[coarse + 1]! < bin) coarse += 1
    if (wanted[bin] === 0 && coarse >= 0 && coarse <= last) counts[coarse]! += fine[bin]!
  }
  const high = edges[last + 1]!
  for (let i = 0; i < looked.length; i++) {
    const value = looked[i]!
    if (!(value >= edges[0]! && value <= high)) continue
    let low = 0
    for (let above = last + 1; above - low > 1;) {
      const middle = (low + above) >> 1
      if (value >= edges[middle]!) low = middle
      else above = middle
    }
    counts[low]! += 1
  }
  return { counts, edges }
}

function valuesOf(ranks: readonly number[], passed: readonly number[], looked: Float64Array): Map<number, number> {
  const places = ranks.map((rank, i) => rank - passed[i]!)
  selectRanks(looked, places)
  return new Map(ranks.map((rank, i) => [rank, looked[places[i]!]!]))
}
