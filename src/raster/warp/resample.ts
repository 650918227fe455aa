/**
 * Resampling with several source pixels. Like `samples.ts`, this module is loaded once per data type.
 * The source is a window copied from its blocks, so that no loop has to handle block boundaries.
 */
import type { SampleArray } from '#raster/types.ts'

import { fillRow, type CoordinateGrid } from './grid.ts'

/** A rectangle of a level: samples by band, and a mask of one byte per pixel. */
export interface SourceWindow {
  x: number
  y: number
  width: number
  height: number
  planes: readonly SampleArray[]
  mask: Uint8Array
}

export type SmoothResampling = 'bilinear' | 'cubic' | 'average'

/** The source pixels along one axis that contribute to a target pixel. */
interface Taps {
  first: number
  count: number
  /** The sum of the weights. */
  total: number
  weights: Float64Array
}

/** A smaller sum of weights is rounding, not data. */
const MIN_WEIGHT = 1e-6
/** Up to this ratio the plain kernel is used; above it is widened with the ratio, as in GDAL, so that nothing is skipped. */
const PLAIN_RATIO = 1 / 0.95
/** Coordinates slightly below a pixel's edge belong to the next pixel; GDAL adds the same. */
const EDGE_EPSILON = 1e-10
const MAX_TAPS = 1 << 16
const CUBIC_A = -0.5

export interface SmoothJob {
  source: SourceWindow
  /** Bounds of the whole level: beyond them there is no data. */
  level: { width: number; height: number }
  grid: CoordinateGrid
  ratio: { x: number; y: number }
  method: SmoothResampling
  target: SmoothTarget
}

interface SmoothTarget {
  x: number
  y: number
  width: number
  planes: readonly SampleArray[]
  mask: Uint8Array
  /** For integer planes: the minimum and the maximum; means are rounded half up. */
  limits: readonly [number, number] | null
}

/** Fills the target with weighted means of the data around each pixel. */
export function resample(job: SmoothJob): void {
  const { source, grid } = job
  const isComplete = !source.mask.includes(0)
  const aligned = isAligned(grid) ? alignedTaps(job) : null
  if (aligned && isComplete) return resampleInTwo(job, aligned)
  const xs = new Float64Array(grid.width)
  const ys = new Float64Array(grid.width)
  const taps = { x: makeTaps(), y: makeTaps() }
  for (let row = 0; row < grid.height; row++) {
    if (!aligned) fillRow(grid, row, xs, ys)
    else {
      xs.set(aligned.xs)
      ys.fill(aligned.ys[row]!)
      taps.y = aligned.y[row]!
    }
    for (let i = 0; i < grid.width; i++) {
      if (aligned) taps.x = aligned.x[i]!
      resamplePixel(job, taps, { x: xs[i]!, y: ys[i]!, row, column: i }, { isComplete, isReady: aligned !== null })
    }
  }
}

interface PixelPlace {
  x: number
  y: number
  row: number
  column: number
}

function resamplePixel(
  job: SmoothJob,
  taps: TapPair,
  { x, y, row, column }: PixelPlace,
  { isComplete, isReady }: { isComplete: boolean; isReady: boolean },
): void {
  const { source, level, target, method } = job
  if (!(x >= 0 && y >= 0 && x < level.width && y < level.height)) return
  const nearest = source.mask[Math.floor(y - source.y + EDGE_EPSILON) * source.width + Math.floor(x - source.x + EDGE_EPSILON)]
  // A pixel without data at its own position stays empty, as in GDAL; otherwise every hole would shrink by half a pixel on each side.
  if (nearest === 0 && method !== 'average') return
  const out = (target.y + row) * target.width + target.x + column
  if (!isReady) setBothTaps(job, taps, method, x, y)
  if (isComplete || isAllData(source, taps)) weighAll(job, taps, out)
  else {
    // Negative weights are wrong beside missing pixels; there the simpler kernel is used.
    const simple = method === 'cubic' ? SIMPLE : taps
    if (method === 'cubic') setBothTaps(job, simple, 'bilinear', x, y)
    if (!weighData(job, simple, out)) return
  }
  target.mask[out] = nearest ? nearest : 255
}

function setBothTaps({ source, ratio }: SmoothJob, taps: TapPair, method: SmoothResampling, x: number, y: number): void {
  setTaps(taps.x, method, x - source.x, { ratio: ratio.x, size: source.width })
  setTaps(taps.y, method, y - source.y, { ratio: ratio.y, size: source.height })
}

/** Maximum slope of rows and columns, in source pixels, that counts as straight. */
const STRAIGHT_PX = 1e-6

/** Whether target columns and rows are parallel to source columns and rows, as with the same CRS. */
function isAligned({ x, y, columns, rows, exactCells }: CoordinateGrid): boolean {
  if (exactCells) return false
  for (let row = 0, node = 0; row < rows; row++)
    for (let column = 0; column < columns; column++, node++)
      if (!(Math.abs(x[node]! - x[column]!) <= STRAIGHT_PX && Math.abs(y[node]! - y[row * columns]!) <= STRAIGHT_PX)) return false
  return true
}

/** The kernel weights per column and per row, instead of per pixel. */
interface AlignedTaps {
  xs: Float64Array
  ys: Float64Array
  x: readonly Taps[]
  y: readonly Taps[]
}

function alignedTaps({ source, grid, method, ratio }: SmoothJob): AlignedTaps {
  const [xs, ys] = [new Float64Array(grid.width), new Float64Array(grid.height)]
  const [rowXs, rowYs] = [new Float64Array(grid.width), new Float64Array(grid.width)]
  for (let row = 0; row < grid.height; row++) {
    fillRow(grid, row, rowXs, rowYs)
    if (row === 0) xs.set(rowXs)
    ys[row] = rowYs[0]!
  }
  snap(xs)
  snap(ys)
  const tapsFor = (at: number, axis: { ratio: number; size: number }): Taps => {
    const taps = makeTaps()
    setTaps(taps, method, at, axis)
    return taps
  }
  return {
    xs,
    ys,
    x: Array.from(xs, (x) => tapsFor(x - source.x, { ratio: ratio.x, size: source.width })),
    y: Array.from(ys, (y) => tapsFor(y - source.y, { ratio: ratio.y, size: source.height })),
  }
}

/** Coordinates are multiples of 1/this of a pixel if one grid is an integer multiple of the other. */
const PARTS = 4096
const SNAP_PX = 1e-9

/** Removes the rounding of coordinates: weights are then exact, and so is a mean of one half. */
function snap(at: Float64Array): void {
  for (let i = 0; i < at.length; i++) {
    const near = Math.round(at[i]! * PARTS) / PARTS
    if (Math.abs(near - at[i]!) < SNAP_PX) at[i] = near
  }
}

/** A row of target pixels: the bands of each side by side, rounded to whole samples, from the first pixel to the last. */
export type TakeRow = (row: number, colours: Float64Array, first: number, last: number) => void

/**
 * Passes the target row by row instead of filling its planes, with the same samples. Returns false, and passes nothing, unless every
 * pixel of the source is data and both grids are parallel. For integers only, whose means are rounded.
 */
export function resampleRows(job: SmoothJob, [low, high]: readonly [number, number], take: TakeRow): boolean {
  const { source, level, grid } = job
  const aligned = isAligned(grid) && isOpaque(source.mask) ? alignedTaps(job) : null
  if (!aligned) return false
  const { first, last } = insideOf(aligned.xs, level.width)
  const bandCount = source.planes.length
  const across = flatTaps(aligned.x)
  const known = new Map<number, Float64Array>()
  const free: Float64Array[] = []
  const colours = new Float64Array(grid.width * bandCount)
  const along = (row: number): Float64Array => {
    const out = free.pop() ?? new Float64Array(grid.width * bandCount)
    for (let band = 0; band < bandCount; band++) alongFour(source.planes[band]!, row * source.width, across, { out, band, bandCount })
    return out
  }
  for (let row = 0; row < grid.height; row++) {
    const y = aligned.ys[row]!
    if (!(y >= 0 && y < level.height)) continue
    const taps = aligned.y[row]!
    for (const [held, values] of known)
      if (held < taps.first || held >= taps.first + taps.count) {
        known.delete(held)
        free.push(values)
      }
    for (let at = taps.first; at < taps.first + taps.count; at++) if (!known.has(at)) known.set(at, along(at))
    const part = { out: colours, start: 0, first: first * bandCount, last: last * bandCount }
    if (taps.count <= 4) downRounded(known, taps, part, [low, high])
    else {
      downRows(known, taps, part)
      roundAll(part, [low, high])
    }
    take(row, colours, first, last)
  }
  return true
}

/** The columns of a target row that are inside the level. */
function insideOf(xs: Float64Array, width: number): { first: number; last: number } {
  let first = 0
  let last = xs.length
  while (first < last && !(xs[first]! >= 0 && xs[first]! < width)) first++
  while (last > first && !(xs[last - 1]! >= 0 && xs[last - 1]! < width)) last--
  return { first, last }
}

/** The taps of all columns in one place, if there are four or fewer of each: places that are missing have weight 0. */
interface FlatTaps {
  all: readonly Taps[]
  /** Four places of a row for each column, or null if some column needs more. */
  places: Int32Array | null
  weights: Float64Array
  totals: Float64Array
}

const FLAT = 4

function flatTaps(all: readonly Taps[]): FlatTaps {
  if (all.some(({ count }) => count < 1 || count > FLAT))
    return { all, places: null, weights: new Float64Array(0), totals: new Float64Array(0) }
  const places = new Int32Array(all.length * FLAT)
  const weights = new Float64Array(all.length * FLAT)
  all.forEach((taps, i) => {
    for (let k = 0; k < FLAT; k++) {
      places[i * FLAT + k] = taps.first + Math.min(k, taps.count - 1)
      weights[i * FLAT + k] = k < taps.count ? taps.weights[k]! : 0
    }
  })
  return { all, places, weights, totals: Float64Array.from(all, ({ total }) => total) }
}

/** `alongRow` of one band among others. Samples are integers, so that a weight of 0 adds nothing. */
function alongFour(
  samples: SampleArray,
  start: number,
  { all, places, weights, totals }: FlatTaps,
  { out, band, bandCount }: { out: Float64Array; band: number; bandCount: number },
): void {
  if (!places) {
    alongRow(samples, start, all).forEach((value, i) => (out[i * bandCount + band] = value))
    return
  }
  for (let i = 0, k = 0, to = band; i < totals.length; i++, k += FLAT, to += bandCount) {
    const sum =
      weights[k]! * samples[start + places[k]!]! +
      weights[k + 1]! * samples[start + places[k + 1]!]! +
      weights[k + 2]! * samples[start + places[k + 2]!]! +
      weights[k + 3]! * samples[start + places[k + 3]!]!
    out[to] = sum / totals[i]!
  }
}

/** Weights of four rows, then the smallest and the largest sample: from a typed array the engine need not convert them for each pixel. */
const CONSTANTS = new Float64Array(FLAT + 2)

/** `downRows` and `storeRounded` in one pass. */
function downRounded(
  rows: ReadonlyMap<number, Float64Array>,
  taps: Taps,
  { out, first, last }: RowPart,
  [low, high]: readonly [number, number],
): void {
  const row = (j: number): Float64Array => rows.get(taps.first + Math.min(j, taps.count - 1))!
  for (let j = 0; j < FLAT; j++) CONSTANTS[j] = j < taps.count ? taps.weights[j]! / taps.total : 0
  CONSTANTS[FLAT] = low
  CONSTANTS[FLAT + 1] = high
  addFour([row(0), row(1), row(2), row(3)], out as Float64Array, first, last)
}

type FourRows = readonly [Float64Array, Float64Array, Float64Array, Float64Array]

function addFour([a, b, c, d]: FourRows, out: Float64Array, first: number, last: number): void {
  const wa = CONSTANTS[0]!
  const wb = CONSTANTS[1]!
  const wc = CONSTANTS[2]!
  const wd = CONSTANTS[3]!
  const low = CONSTANTS[4]!
  const high = CONSTANTS[5]!
  for (let i = first; i < last; i++) {
    const rounded = Math.fround(wa * a[i]! + wb * b[i]! + wc * c[i]! + wd * d[i]!) + 0.5
    out[i] = Math.floor(Math.min(high, Math.max(low, rounded)))
  }
}

function roundAll({ out, first, last }: RowPart, [low, high]: readonly [number, number]): void {
  for (let i = first; i < last; i++) {
    const whole = Math.floor(Math.fround(out[i]!) + 0.5)
    out[i] = whole < low ? low : whole > high ? high : whole
  }
}

/** Rows first, then columns: a kernel of 4 × 4 costs 4 + 4, and a row serves all target rows that use it. */
function resampleInTwo(job: SmoothJob, { xs, ys, x: across, y: down }: AlignedTaps): void {
  const { source, level, grid, target } = job
  const { first, last } = insideOf(xs, level.width)
  const nearest = Int32Array.from(xs, (x) => Math.floor(x - source.x))
  const known = source.planes.map(() => new Map<number, Float64Array>())
  const sums = new Float64Array(grid.width)
  const opaque = isOpaque(source.mask)
  for (let row = 0; row < grid.height; row++) {
    const y = ys[row]!
    if (!(y >= 0 && y < level.height)) continue
    const taps = down[row]!
    const start = (target.y + row) * target.width + target.x
    for (let band = 0; band < source.planes.length; band++) {
      const rows = known[band]!
      for (const held of rows.keys()) if (held < taps.first || held >= taps.first + taps.count) rows.delete(held)
      for (let at = taps.first; at < taps.first + taps.count; at++)
        if (!rows.has(at)) rows.set(at, alongRow(source.planes[band]!, at * source.width, across))
      const part = { out: target.planes[band]!, start, first, last }
      if (target.limits) {
        downRows(rows, taps, { out: sums, start: 0, first, last })
        storeRounded(sums, part, target.limits)
      } else downRows(rows, taps, part)
    }
    const maskRow = Math.floor(y - source.y) * source.width
    if (opaque) target.mask.fill(255, start + first, start + last)
    else for (let i = first; i < last; i++) target.mask[start + i] = source.mask[maskRow + nearest[i]!] || 255
  }
}

function isOpaque(mask: Uint8Array): boolean {
  for (let i = 0; i < mask.length; i++) if (mask[i] !== 255) return false
  return true
}

interface RowPart {
  out: SampleArray
  /** The start of the row in `out`. */
  start: number
  first: number
  last: number
}

/** Through a 32-bit float, as in GDAL: a value slightly below a half is that half, and is rounded up. */
function storeRounded(sums: Float64Array, { out, start, first, last }: RowPart, [low, high]: readonly [number, number]): void {
  for (let i = first; i < last; i++) {
    const whole = Math.floor(Math.fround(sums[i]!) + 0.5)
    out[start + i] = whole < low ? low : whole > high ? high : whole
  }
}

/** Four rows at a time, the size of most kernels, so that a pixel is written once. */
function downRows(rows: ReadonlyMap<number, Float64Array>, taps: Taps, { out, start, first, last }: RowPart): void {
  const row = (j: number): Float64Array => rows.get(taps.first + Math.min(j, taps.count - 1))!
  const weight = (j: number): number => (j < taps.count ? taps.weights[j]! / taps.total : 0)
  for (let j = 0; j < taps.count; j += 4) {
    const [a, b, c, d] = [row(j), row(j + 1), row(j + 2), row(j + 3)]
    const [wa, wb, wc, wd] = [weight(j), weight(j + 1), weight(j + 2), weight(j + 3)]
    if (j === 0) for (let i = first; i < last; i++) out[start + i] = wa * a[i]! + wb * b[i]! + wc * c[i]! + wd * d[i]!
    else for (let i = first; i < last; i++) out[start + i]! += wa * a[i]! + wb * b[i]! + wc * c[i]! + wd * d[i]!
  }
}

function alongRow(samples: SampleArray, start: number, across: readonly Taps[]): Float64Array {
  const out = new Float64Array(across.length)
  for (let i = 0; i < out.length; i++) {
    const { first, count, total, weights } = across[i]!
    let sum = 0
    for (let k = 0, at = start + first; k < count; k++, at++) sum += weights[k]! * samples[at]!
    out[i] = sum / total
  }
  return out
}

function store({ planes, limits }: SmoothTarget, band: number, out: number, mean: number): void {
  planes[band]![out] = limits ? Math.min(limits[1], Math.max(limits[0], Math.floor(Math.fround(mean) + 0.5))) : mean
}

const makeTaps = (): Taps => ({ first: 0, count: 0, total: 0, weights: new Float64Array(8) })

interface TapPair {
  x: Taps
  y: Taps
}

/** For pixels beside missing ones. */
const SIMPLE: TapPair = { x: makeTaps(), y: makeTaps() }

function isAllData({ mask, width }: SourceWindow, taps: TapPair): boolean {
  for (let j = 0; j < taps.y.count; j++) {
    const start = (taps.y.first + j) * width + taps.x.first
    for (let i = start; i < start + taps.x.count; i++) if (mask[i] === 0) return false
  }
  return true
}

/** The mean if every pixel under the kernel is data: row by row, without reading the mask. */
function weighAll({ source, target }: SmoothJob, taps: TapPair, out: number): void {
  const { planes, width } = source
  const { weights: wx, count } = taps.x
  const total = taps.x.total * taps.y.total
  for (let band = 0; band < planes.length; band++) {
    const samples = planes[band]!
    let sum = 0
    for (let j = 0; j < taps.y.count; j++) {
      const start = (taps.y.first + j) * width + taps.x.first
      let rowSum = 0
      for (let i = 0; i < count; i++) rowSum += wx[i]! * samples[start + i]!
      sum += rowSum * taps.y.weights[j]!
    }
    store(target, band, out, sum / total)
  }
}

/** The mean of the data; false without any. */
function weighData({ source, target }: SmoothJob, taps: TapPair, out: number): boolean {
  const { planes, mask, width } = source
  let total = 0
  for (let j = 0; j < taps.y.count; j++) {
    const start = (taps.y.first + j) * width + taps.x.first
    const wy = taps.y.weights[j]!
    for (let i = 0; i < taps.x.count; i++) if (mask[start + i] !== 0) total += wy * taps.x.weights[i]!
  }
  if (total < MIN_WEIGHT) return false
  for (let band = 0; band < planes.length; band++) {
    const samples = planes[band]!
    let sum = 0
    for (let j = 0; j < taps.y.count; j++) {
      const start = (taps.y.first + j) * width + taps.x.first
      const wy = taps.y.weights[j]!
      for (let i = 0; i < taps.x.count; i++) if (mask[start + i] !== 0) sum += wy * taps.x.weights[i]! * samples[start + i]!
    }
    store(target, band, out, sum / total)
  }
  return true
}

/** Finds the pixels under the kernel around `at`, clipped to the window, and their weights. */
function setTaps(taps: Taps, method: SmoothResampling, at: number, axis: { ratio: number; size: number }): void {
  if (method === 'average') {
    // The mean covers the area of the target pixel, however small.
    const [from, to] = [at - axis.ratio / 2, at + axis.ratio / 2]
    place(taps, Math.floor(from), Math.ceil(to) - 1, axis.size)
    for (let i = 0; i < taps.count; i++) taps.weights[i] = Math.min(taps.first + i + 1, to) - Math.max(taps.first + i, from)
  } else {
    const scale = axis.ratio > PLAIN_RATIO ? axis.ratio : 1
    const radius = method === 'bilinear' ? scale : 2 * scale
    place(taps, Math.ceil(at - 0.5 - radius), Math.floor(at - 0.5 + radius), axis.size)
    const first = taps.first + 0.5 - at
    if (method === 'bilinear') for (let i = 0; i < taps.count; i++) taps.weights[i] = 1 - Math.abs(first + i) / scale
    else for (let i = 0; i < taps.count; i++) taps.weights[i] = cubic(Math.abs(first + i) / scale)
  }
  let total = 0
  for (let i = 0; i < taps.count; i++) total += taps.weights[i]!
  taps.total = total
}

function place(taps: Taps, first: number, last: number, size: number): void {
  taps.first = Math.max(0, first)
  taps.count = Math.max(0, Math.min(MAX_TAPS, Math.min(size - 1, last) - taps.first + 1))
  if (taps.weights.length < taps.count) taps.weights = new Float64Array(taps.count * 2)
}

/** The cubic convolution kernel with a = −0.5, as GDAL uses it. */
function cubic(t: number): number {
  if (t < 1) return ((CUBIC_A + 2) * t - (CUBIC_A + 3)) * t * t + 1
  return t < 2 ? ((CUBIC_A * t - 5 * CUBIC_A) * t + 8 * CUBIC_A) * t - 4 * CUBIC_A : 0
}
