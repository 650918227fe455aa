/** Loops of processing methods over samples of one data type. Loaded once per type; see `instances.ts`. */
import type { Block, SampleArray } from '#raster/types.ts'

/** What a pixel of a cloud mask can be. */
export const [CLEAR, CLOUD, MISSING] = [0, 1, 255] as const

/** The tests that make a pixel cloudy, on reflectance. */
export interface CloudTests {
  /** From samples to reflectance. */
  readonly scale: number
  /** Of blue, at least. */
  readonly brightness: number
  readonly mostWhiteness: number
  readonly haze: number
  readonly mostIndex: number
  readonly snowIndex: number
}

/** Blue, green, red, near infrared and, if it is known, short-wave infrared: places among the bands of a block. */
type CloudBands = readonly number[]

interface ClassRows {
  readonly classes: Uint8Array
  /** Of the first pixel. */
  readonly at: number
  /** From one row to the next. */
  readonly pitch: number
}

interface BlockPart {
  readonly width: number
  readonly height: number
  /** Value of each band that means no data. */
  readonly nodata: readonly (number | null)[]
  readonly isFloat: boolean
}

/** Classifies the pixels of a block one by one, straight from its samples. */
export function classify(
  block: Block,
  bands: CloudBands,
  { width, height, nodata, isFloat }: BlockPart,
  tests: CloudTests,
  to: ClassRows,
): void {
  const { classes, at, pitch } = to
  for (let row = 0; row < height; row++) {
    const start = row * block.width
    const out = at + row * pitch
    if (bands.length > 4) classifyWithSnow(block, start, { bands, tests, classes, out, width })
    else classifyRow(block, start, { bands, tests, classes, out, width })
    for (let k = 0; k < bands.length; k++) {
      const marker = nodata[k] ?? null
      if (marker === null && !isFloat) continue
      const from = { samples: block.data[bands[k]!]!, at: start * block.stride + block.starts[bands[k]!]!, stride: block.stride }
      if (isFloat) dropNotFinite(from, marker ?? Number.NaN, { classes, out, width })
      else dropMarked(from, marker!, { classes, out, width })
    }
    if (block.mask) for (let i = 0; i < width; i++) if (block.mask[start + i] === 0) classes[out + i] = MISSING
  }
}

interface ClassRow {
  readonly bands: CloudBands
  readonly tests: CloudTests
  readonly classes: Uint8Array
  readonly out: number
  readonly width: number
}

/** The test that fails most often comes first: what a later one would say does not matter then. */
function classifyRow({ data, starts, stride }: Block, start: number, { bands, tests, classes, out, width }: ClassRow): void {
  const { scale, brightness, mostWhiteness, haze, mostIndex } = tests
  const [b, g, r, n] = bands as [number, number, number, number]
  const [blues, greens, reds, nirs] = [data[b]!, data[g]!, data[r]!, data[n]!]
  const from = start * stride
  const [blueAt, greenAt, redAt, nirAt] = [from + starts[b]!, from + starts[g]!, from + starts[r]!, from + starts[n]!]
  for (let i = 0, at = 0; i < width; i++, at += stride) {
    const blue = blues[blueAt + at]! * scale
    const red = reds[redAt + at]! * scale
    let found: number = CLEAR
    if (blue > brightness && blue - 0.5 * red - haze > 0) {
      const green = greens[greenAt + at]! * scale
      const nir = nirs[nirAt + at]! * scale
      const mean = (blue + green + red) / 3
      const whiteness = (Math.abs(blue - mean) + Math.abs(green - mean) + Math.abs(red - mean)) / mean
      if (whiteness < mostWhiteness && !((nir - red) / (nir + red) > mostIndex)) found = CLOUD
    }
    classes[out + i] = found
  }
}

/** Cloudy pixels that are snow are none. */
function classifyWithSnow(block: Block, start: number, row: ClassRow): void {
  const { bands, tests, classes, out, width } = row
  classifyRow(block, start, row)
  const { data, starts, stride } = block
  const [greens, swirs] = [data[bands[1]!]!, data[bands[4]!]!]
  const [greenAt, swirAt] = [start * stride + starts[bands[1]!]!, start * stride + starts[bands[4]!]!]
  for (let i = 0; i < width; i++) {
    if (classes[out + i] !== CLOUD) continue
    const green = greens[greenAt + i * stride]! * tests.scale
    const swir = swirs[swirAt + i * stride]! * tests.scale
    if ((green - swir) / (green + swir) > tests.snowIndex) classes[out + i] = CLEAR
  }
}

interface From {
  readonly samples: SampleArray
  readonly at: number
  readonly stride: number
}

type ClassPart = Pick<ClassRow, 'classes' | 'out' | 'width'>

function dropMarked({ samples, at, stride }: From, marker: number, { classes, out, width }: ClassPart): void {
  for (let i = out, from = at, end = out + width; i < end; i++, from += stride) if (samples[from] === marker) classes[i] = MISSING
}

function dropNotFinite({ samples, at, stride }: From, marker: number, { classes, out, width }: ClassPart): void {
  for (let i = out, from = at, end = out + width; i < end; i++, from += stride) {
    const value = samples[from]!
    if (value === marker || value - value !== 0) classes[i] = MISSING
  }
}

/** Colours of one row, rounded to samples and interleaved, with the sharper row and where both have data. */
export interface SharpenedRow {
  readonly colours: Float64Array
  readonly detail: SampleArray
  readonly isData: Uint8Array
  /** Of the row's first pixel in `detail` and `isData`. */
  readonly from: number
  /** Pixels from one to another. */
  readonly first: number
  readonly last: number
  readonly weights: readonly number[]
}

export interface SharpenTarget {
  readonly samples: SampleArray
  /** Of the row's first sample. */
  readonly at: number
  /** Largest value of a sample; the smallest is 0. */
  readonly high: number
  readonly nodata: number
}

/**
 * Brovey's ratio on integers of 8 or 16 bits: a dark pixel is still data, so that none becomes nodata. What is constant is an integer
 * or comes from a typed array, because the engine would convert other numbers again for each pixel.
 */
export function sharpenRow(row: SharpenedRow, target: SharpenTarget): void {
  if (row.weights.length === 4) sharpenFour(row, target)
  else sharpenAny(row, target)
}

/** No sample of 16 bits equals it. */
const NO_MARKER = -0x40000000
const markerOf = (nodata: number): number => (Number.isInteger(nodata) && Math.abs(nodata) < -NO_MARKER ? nodata | 0 : NO_MARKER)

function sharpenFour({ colours, detail, isData, from, first, last, weights }: SharpenedRow, target: SharpenTarget): void {
  const { samples, at } = target
  const [wa, wb, wc, wd] = weights as [number, number, number, number]
  const marker = markerOf(target.nodata)
  const high = target.high | 0
  for (let i = first, k = first * 4; i < last; i++, k += 4) {
    if (isData[from + i] === 0) continue
    const a = colours[k]!
    const b = colours[k + 1]!
    const c = colours[k + 2]!
    const d = colours[k + 3]!
    const sum = a * wa + b * wb + c * wc + d * wd
    const ratio = sum === 0 ? 0 : detail[from + i]! / sum
    samples[at + k] = keep(a * ratio + 0.5, high, marker)
    samples[at + k + 1] = keep(b * ratio + 0.5, high, marker)
    samples[at + k + 2] = keep(c * ratio + 0.5, high, marker)
    samples[at + k + 3] = keep(d * ratio + 0.5, high, marker)
  }
}

function sharpenAny({ colours, detail, isData, from, first, last, weights }: SharpenedRow, target: SharpenTarget): void {
  const { samples, at } = target
  const marker = markerOf(target.nodata)
  const high = target.high | 0
  const count = weights.length
  for (let i = first; i < last; i++) {
    if (isData[from + i] === 0) continue
    let sum = 0
    for (let band = 0; band < count; band++) sum += colours[i * count + band]! * weights[band]!
    const ratio = sum === 0 ? 0 : detail[from + i]! / sum
    for (let band = 0, k = i * count; band < count; band++, k++) samples[at + k] = keep(colours[k]! * ratio + 0.5, high, marker)
  }
}

/** Rounded down, within the range of samples, and never the marker. */
function keep(value: number, high: number, marker: number): number {
  const whole = value < 0 ? 0 : value >= high + 1 ? high : value | 0
  return whole === marker ? marker + 1 : whole
}
