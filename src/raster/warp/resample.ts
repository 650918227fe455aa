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
export function copyBlock(window: SourceWindow, target: Pick<PlanarTarget, 'bands' | 'nodata' | 'rule' | 'isFloat'>, block: Block, at: { left: number; top: number }): void {
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
  const { source, level, grid, target } = job
  const xs = new Float64Array(grid.width)
  const ys = new Float64Array(grid.width)
  const taps = { x: makeTaps(), y: makeTaps() }
  for (let row = 0; row < grid.height; row++) {
    fillRow(grid, row, xs, ys)
    for (let i = 0; i < grid.width; i++) {
      const x = xs[i]!
      const y = ys[i]!
      if (!(x >= 0 && y >= 0 && x < level.width && y < level.height)) continue
      setTaps(taps.x, job.method, x - source.x, { ratio: job.ratio.x, size: source.width })
      setTaps(taps.y, job.method, y - source.y, { ratio: job.ratio.y, size: source.height })
      const out = (target.y + row) * target.width + target.x + i
      let isWritten = weigh(job, taps, out, job.method === 'cubic')
      if (!isWritten && job.method === 'cubic') {
        // Negative weights make nonsense beside missing pixels; there the simpler kernel is used.
        setTaps(taps.x, 'bilinear', x - source.x, { ratio: job.ratio.x, size: source.width })
        setTaps(taps.y, 'bilinear', y - source.y, { ratio: job.ratio.y, size: source.height })
        isWritten = weigh(job, taps, out, false)
      }
      if (isWritten) {
        const nearest = source.mask[Math.floor(y - source.y) * source.width + Math.floor(x - source.x)]
        target.mask[out] = nearest ? nearest : 255
      }
    }
  }
}

const makeTaps = (): Taps => ({ first: 0, count: 0, weights: new Float64Array(64) })

/** Sums weight times sample over the taps. False where nothing was data, or, with `complete`, where anything was not. */
function weigh({ source, target }: SmoothJob, taps: { x: Taps; y: Taps }, out: number, complete: boolean): boolean {
  const { planes, mask, width } = source
  let total = 0
  for (let j = 0; j < taps.y.count; j++) {
    const start = (taps.y.first + j) * width + taps.x.first
    const wy = taps.y.weights[j]!
    for (let i = 0; i < taps.x.count; i++) {
      if (mask[start + i] !== 0) total += wy * taps.x.weights[i]!
      else if (complete) return false
    }
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
  const scale = axis.ratio > PLAIN_RATIO ? axis.ratio : 1
  // The mean is over what the target pixel covers, however little that is.
  const radius = method === 'average' ? axis.ratio / 2 : method === 'bilinear' ? scale : 2 * scale
  const first = Math.max(0, method === 'average' ? Math.floor(at - radius) : Math.ceil(at - 0.5 - radius))
  const last = Math.min(axis.size - 1, method === 'average' ? Math.ceil(at + radius) - 1 : Math.floor(at - 0.5 + radius))
  const count = Math.max(0, Math.min(MAX_TAPS, last - first + 1))
  if (taps.weights.length < count) taps.weights = new Float64Array(count * 2)
  taps.first = first
  taps.count = count
  for (let i = 0; i < count; i++) {
    const pixel = first + i
    taps.weights[i] =
      method === 'average'
        ? Math.max(0, Math.min(pixel + 1, at + radius) - Math.max(pixel, at - radius))
        : method === 'bilinear'
          ? Math.max(0, 1 - Math.abs(pixel + 0.5 - at) / scale)
          : cubic(Math.abs(pixel + 0.5 - at) / scale)
  }
}

/** The cubic convolution kernel with a = −0.5, as GDAL uses it. */
function cubic(t: number): number {
  if (t < 1) return ((CUBIC_A + 2) * t - (CUBIC_A + 3)) * t * t + 1
  return t < 2 ? ((CUBIC_A * t - 5 * CUBIC_A) * t + 8 * CUBIC_A) * t - 4 * CUBIC_A : 0
}
