/**
 * Cloud mask from reflectance alone: bright, white and, if a short-wave infrared band can separate snow, not frozen.
 * The tests are those of Zhu and Woodcock 2012 without a thermal band; a majority filter then removes single pixels.
 */
import { giveBack } from '#raster/buffers.ts'
import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { bytesPerSample } from '#raster/tiff/sample.ts'
import { isFloatType } from '#raster/warp/instances.ts'
import { loadProcessKernels } from './instances.ts'
import { CLEAR, CLOUD, MISSING, type CloudTests } from './kernels.ts'
import { onlyRaster, writeRaster, type MethodTask } from './method.ts'
import { blockOf, partOf, RowReader, type Part } from './rows.ts'

interface Clouds {
  /** 1-based band numbers; `swir` is optional. */
  readonly bands: { readonly blue: number; readonly green: number; readonly red: number; readonly nir: number; readonly swir?: number }
  /** Scale from samples to reflectance. */
  readonly scale: number
  /** Minimum blue reflectance. */
  readonly brightness?: number
}

const DEFAULT_BRIGHTNESS = 0.24
const MAX_WHITENESS = 0.7
const HAZE = 0.08
const MAX_INDEX = 0.7
const SNOW_INDEX = 0.6
/** A pixel is cloudy if at least this many of its 3 × 3 neighbourhood are. */
const LEAST_OF_NINE = 4

export async function clouds(task: MethodTask<Clouds>): Promise<Record<string, unknown>> {
  const { bands, scale, brightness = DEFAULT_BRIGHTNESS } = task.options
  const raster = onlyRaster(task)
  const { grid } = partOf(raster, undefined)
  const needed = [bands.blue, bands.green, bands.red, bands.nir, ...(bands.swir === undefined ? [] : [bands.swir])].map((band) => band - 1)
  const tests = { scale, brightness, mostWhiteness: MAX_WHITENESS, haze: HAZE, mostIndex: MAX_INDEX, snowIndex: SNOW_INDEX }
  const neighbours = new Neighbours(raster, needed, tests)
  return await writeMask(task, grid, (y, rows, signal) => neighbours.read(y, rows, signal))
}

interface CloudClasses {
  /** 1-based number of the band that holds the mask. */
  readonly band: number
  /** Its values that mean cloud. */
  readonly values: readonly number[]
}

/** Cloud mask from a mask that comes with the scene, as many vendors deliver one. */
export async function cloudClasses(task: MethodTask<CloudClasses>): Promise<Record<string, unknown>> {
  const { band, values } = task.options
  const raster = onlyRaster(task)
  const part = partOf(raster, undefined)
  const reader = new RowReader(raster, part, [band - 1])
  const isCloud = new Set(values)
  return await writeMask(task, part.grid, async (y, rows, signal) => {
    const { planes, mask } = await reader.read(y, rows, signal)
    const out = new Uint8Array(mask.length).fill(MISSING)
    for (let i = 0; i < out.length; i++) if (mask[i] !== 0) out[i] = isCloud.has(planes[0]![i]!) ? CLOUD : CLEAR
    return out
  })
}

/** Writes the mask row by row, and counts its pixels with data. */
async function writeMask(
  task: MethodTask<object>,
  { width, height, crs, transform }: Part['grid'],
  read: (y: number, rows: number, signal: AbortSignal | undefined) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<Record<string, unknown>> {
  const counts = { clear: 0, cloud: 0 }
  const spec = {
    width,
    height,
    dataType: 'uint8' as const,
    bandCount: 1,
    crs,
    transform,
    nodata: MISSING,
    overviews: 'mode' as const,
    bands: [{ name: 'cloud_mask' }],
  }
  await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
    const mask = await read(y, rows, signal)
    count(mask, counts)
    return blockOf([mask], width, rows)
  })
  return { clearPixels: counts.clear, cloudPixels: counts.cloud }
}

function count(mask: Uint8Array, counts: { clear: number; cloud: number }): void {
  let [clear, cloud] = [0, 0]
  for (let i = 0; i < mask.length; i++) {
    const found = mask[i]!
    if (found === CLEAR) clear++
    else if (found === CLOUD) cloud++
  }
  counts.clear += clear
  counts.cloud += cloud
}

/** Classified rows of one row of blocks: four pixels in a word, the last ones of a row missing. */
interface ClassifiedRows {
  readonly y: number
  readonly height: number
  readonly words: Uint32Array
}

/** Rows of classified pixels, filtered with their neighbours. Blocks are classified as they are decoded, each once. */
class Neighbours {
  readonly #raster: ExactRaster
  readonly #bands: readonly number[]
  readonly #tests: CloudTests
  readonly #rowWords: number
  /** A row outside the raster. */
  readonly #nothing: Uint32Array
  /** From top to bottom. */
  #held: ClassifiedRows[] = []

  /** Bands are zero-based. */
  constructor(raster: ExactRaster, bands: readonly number[], tests: CloudTests) {
    this.#raster = raster
    this.#bands = bands
    this.#tests = tests
    this.#rowWords = Math.ceil(raster.info.width / PIXELS_A_WORD)
    this.#nothing = new Uint32Array(this.#rowWords).fill(MISSING_WORD)
  }

  async read(y: number, rows: number, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const { width, height } = this.#raster.info
    const end = Math.min(height, y + rows + 1)
    this.#held = this.#held.filter((held) => held.y + held.height > y - 1)
    for (let next = this.#nextRow(y); next < end; next = this.#nextRow(y)) this.#held.push(await this.#classify(next, signal))
    const out = new Uint8Array(width * rows)
    const columns = new Uint32Array(this.#rowWords + 1)
    const filtered = new Uint32Array(this.#rowWords)
    const bytes = new Uint8Array(filtered.buffer, 0, width)
    for (let row = 0; row < rows; row++) {
      const here = this.#row(y + row)
      addColumns([this.#row(y + row - 1), here, this.#row(y + row + 1)], columns)
      weigh(columns, here, filtered)
      out.set(bytes, row * width)
    }
    return out
  }

  /** The first row that was not read; before the first one, which can be in the middle of the raster, that above it. */
  #nextRow(y: number): number {
    const last = this.#held.at(-1)
    return last ? last.y + last.height : Math.max(0, y - 1)
  }

  #row(y: number): Uint32Array {
    const held = this.#held.find((each) => y >= each.y && y < each.y + each.height)
    return held ? held.words.subarray((y - held.y) * this.#rowWords, (y - held.y + 1) * this.#rowWords) : this.#nothing
  }

  /** The row of blocks that contains a row. */
  async #classify(y: number, signal: AbortSignal | undefined): Promise<ClassifiedRows> {
    const raster = this.#raster
    const { dataType, bandCount } = raster.info
    const level = raster.info.levels[0]
    if (!level) throw new RasterError('invalid_argument', 'The raster has no pixels')
    const { classify } = await loadProcessKernels(dataType)
    const by = Math.floor(y / level.blockHeight)
    const top = by * level.blockHeight
    const height = Math.min(level.blockHeight, level.height - top)
    const words = new Uint32Array(this.#rowWords * height).fill(MISSING_WORD)
    const classes = new Uint8Array(words.buffer)
    const nodata = this.#bands.map((band) => raster.info.bands[band]?.nodata ?? null)
    const places = this.#bands.map((_, index) => index)
    const blockBytes = level.blockWidth * level.blockHeight * bandCount * bytesPerSample(dataType)
    const together = Math.max(1, Math.floor(LIMITS.blockBytesInFlight / blockBytes))
    for (let first = 0; first < level.blocksX; first += together) {
      const count = Math.min(together, level.blocksX - first)
      const reading = Array.from({ length: count }, (_, i) => raster.readBlock(0, first + i, by, { bands: this.#bands, signal }))
      // The first failure is reported; later ones are dropped.
      for (const each of reading) each.catch(() => undefined)
      for (const [i, each] of reading.entries()) {
        const block = await each
        const left = (first + i) * level.blockWidth
        const part = { width: Math.min(level.blockWidth, level.width - left), height, nodata, isFloat: isFloatType(dataType) }
        classify(block, places, part, this.#tests, { classes, at: left, pitch: this.#rowWords * PIXELS_A_WORD })
        for (const samples of block.data) giveBack(samples)
      }
    }
    return { y: top, height, words }
  }
}

const PIXELS_A_WORD = 4
/** One in each byte of a word. */
const ONES = 0x01010101
const MISSING_WORD = 0xffffffff
/** Added to a count of up to nine, it sets the highest bit of those that are enough. */
const ENOUGH = ONES * (0x80 - LEAST_OF_NINE)

/** Clouds in each column of three pixels. A missing pixel has its second bit set, a cloud only its first. */
function addColumns([above, here, below]: readonly [Uint32Array, Uint32Array, Uint32Array], columns: Uint32Array): void {
  for (let i = 0; i < here.length; i++) {
    const [a, b, c] = [above[i]! | 0, here[i]! | 0, below[i]! | 0]
    columns[i] = (a & ~(a >>> 1) & ONES) + (b & ~(b >>> 1) & ONES) + (c & ~(c >>> 1) & ONES)
  }
}

/** A pixel is cloudy if enough of the nine around it are. Words are little-endian: the pixel on the left is in the lower byte. */
function weigh(columns: Uint32Array, here: Uint32Array, out: Uint32Array): void {
  let left = 0
  for (let i = 0; i < out.length; i++) {
    const middle = columns[i]! | 0
    const right = columns[i + 1]! | 0
    const sums = middle + ((middle << 8) | (left >>> 24)) + ((middle >>> 8) | (right << 24))
    const isMissing = ((here[i]! | 0) >>> 1) & ONES
    out[i] = (((sums + ENOUGH) >>> 7) & ONES) | ((isMissing << 8) - isMissing)
    left = middle
  }
}
