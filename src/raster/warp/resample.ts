/**
 * Resampling that looks at several source pixels. Like `samples.ts` this module is loaded once for each data type.
 * The source is a window cut out of its blocks, so that no loop has to care where one block ends.
 */
import type { Block, SampleArray } from '#raster/types.ts'

import { fillRow, type CoordinateGrid } from './grid.ts'
import type { PlanarTarget } from './samples.ts'

/** A rectangle of a level: samples by band, and one byte a pixel that says what is data. */
export interface SourceWindow {
  x: number
  y: number
  width: number
  height: number
  planes: readonly SampleArray[]
  mask: Uint8Array
}

/** Copies the part of a block that lies in the window; the block's first pixel is at (`left`, `top`) of the level. */
export function copyBlock(
  window: SourceWindow,
  target: Pick<PlanarTarget, 'bands' | 'nodata' | 'rule'>,
  block: Block,
  at: { left: number; top: number },
): void {
  const x0 = Math.max(window.x, at.left)
  const x1 = Math.min(window.x + window.width, at.left + block.width)
  const y0 = Math.max(window.y, at.top)
  const y1 = Math.min(window.y + window.height, at.top + block.height)
  const anyRule = target.rule === 'any'
  for (let y = y0; y < y1; y++) {
    const from = (y - at.top) * block.width + x0 - at.left
    const to = (y - window.y) * window.width + x0 - window.x
    const count = x1 - x0
    const { mask } = window
    mask.fill(anyRule ? 0 : 255, to, to + count)
    target.bands.forEach((band, k) => {
      const plane = block.bands.indexOf(band)
      const data = block.data[plane]!
      const samples = window.planes[k]!
      const marker = target.nodata[k] ?? Number.NaN
      let source = from * block.stride + block.starts[plane]!
      for (let i = to; i < to + count; i++, source += block.stride) {
        const value = data[source]!
        samples[i] = value
        const isData = value !== marker && value - value === 0
        if (anyRule ? isData : !isData) mask[i] = anyRule ? 255 : 0
      }
    })
    const blockMask = block.mask
    if (blockMask) for (let i = 0; i < count; i++) if (mask[to + i] !== 0) mask[to + i] = blockMask[from + i]!
  }
}

export type SmoothResampling = 'bilinear' | 'cubic' | 'average'

/** The source pixels along one axis that make up a target pixel. */
interface Taps {
  first: number
  count: number
  /** The sum of the weights. */
  total: number
  weights: Float64Array
}

/** Weights below this in sum are rounding, not data. */
const MIN_WEIGHT = 1e-6
/** Down to this ratio the plain kernel is used; above it is widened with the ratio, as GDAL does, so that nothing is skipped. */
const PLAIN_RATIO = 1 / 0.95
const MAX_TAPS = 1 << 16
const CUBIC_A = -0.5

export interface SmoothJob {
  source: SourceWindow
  /** Bounds of the whole level: beyond them there is no data. */
  level: { width: number; height: number }
  grid: CoordinateGrid
  ratio: { x: number; y: number }
  method: SmoothResampling
  target: { x: number; y: number; width: number; planes: readonly (Float32Array | Float64Array)[]; mask: Uint8Array }
}

/** Fills the target's planes by weighted means of what is data around each pixel. */
export function resample(job: SmoothJob): void {
  const { source, level, grid, target, method } = job
  const xs = new Float64Array(grid.width)
  const ys = new Float64Array(grid.width)
  const taps = { x: makeTaps(), y: makeTaps() }
  const isComplete = !source.mask.includes(0)
  for (let row = 0; row < grid.height; row++) {
    fillRow(grid, row, xs, ys)
    for (let i = 0; i < grid.width; i++) {
      const x = xs[i]!
      const y = ys[i]!
      if (!(x >= 0 && y >= 0 && x < level.width && y < level.height)) continue
      const out = (target.y + row) * target.width + target.x + i
      setTaps(taps.x, method, x - source.x, { ratio: job.ratio.x, size: source.width })
      setTaps(taps.y, method, y - source.y, { ratio: job.ratio.y, size: source.height })
      if (isComplete || isAllData(source, taps)) {
        weighAll(job, taps, out)
      } else {
        // Negative weights make nonsense beside missing pixels; there the simpler kernel is used.
        if (method === 'cubic') {
          setTaps(taps.x, 'bilinear', x - source.x, { ratio: job.ratio.x, size: source.width })
          setTaps(taps.y, 'bilinear', y - source.y, { ratio: job.ratio.y, size: source.height })
        }
        if (!weighData(job, taps, out)) continue
      }
      const nearest = source.mask[Math.floor(y - source.y) * source.width + Math.floor(x - source.x)]
      target.mask[out] = nearest ? nearest : 255
    }
  }
}

const makeTaps = (): Taps => ({ first: 0, count: 0, total: 0, weights: new Float64Array(64) })

interface TapPair {
  x: Taps
  y: Taps
}

function isAllData({ mask, width }: SourceWindow, taps: TapPair): boolean {
  for (let j = 0; j < taps.y.count; j++) {
    const start = (taps.y.first + j) * width + taps.x.first
    for (let i = start; i < start + taps.x.count; i++) if (mask[i] === 0) return false
  }
  return true
}

/** The mean where every pixel under the kernel is data: row by row, without a look at the mask. */
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
    target.planes[band]![out] = sum / total
  }
}

/** The mean of what is data; false where that is nothing. */
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
    target.planes[band]![out] = sum / total
  }
  return true
}

/** Finds the pixels under the kernel around `at`, cut off at the window, and their weights. */
function setTaps(taps: Taps, method: SmoothResampling, at: number, axis: { ratio: number; size: number }): void {
  if (method === 'average') {
    // The mean is over what the target pixel covers, however little that is.
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
