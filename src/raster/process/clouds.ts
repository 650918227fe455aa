/**
 * Cloud mask from reflectance alone: bright, white and, if a short-wave infrared band can separate snow, not frozen.
 * The tests are those of Zhu and Woodcock 2012 without a thermal band; a majority filter then removes single pixels.
 */
import { onlyRaster, writeRaster, type MethodTask } from './method.ts'
import { blockOf, partOf, RowReader, type Part, type PlanarRows } from './rows.ts'

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
const [CLEAR, CLOUD] = [0, 1] as const
const MISSING = 255

export async function clouds(task: MethodTask<Clouds>): Promise<Record<string, unknown>> {
  const { bands, scale, brightness = DEFAULT_BRIGHTNESS } = task.options
  const raster = onlyRaster(task)
  const part = partOf(raster, undefined)
  const { width, height } = part.grid
  const needed = [bands.blue, bands.green, bands.red, bands.nir, ...(bands.swir === undefined ? [] : [bands.swir])].map((band) => band - 1)
  const neighbours = new Neighbours(new RowReader(raster, part, needed), width, height, (rows) => tested(rows, scale, brightness))
  return await writeMask(task, part.grid, (y, rows, signal) => neighbours.read(y, rows, signal))
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
  const counts = new Float64Array(256)
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
    for (let i = 0; i < mask.length; i++) counts[mask[i]!]! += 1
    return blockOf([mask], width, rows)
  })
  return { clearPixels: counts[CLEAR]!, cloudPixels: counts[CLOUD]! }
}

/** Classifies single pixels: 1 cloud, 0 clear, 255 no data. */
function tested({ planes, mask }: PlanarRows, scale: number, brightness: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(mask.length).fill(MISSING)
  const [blues, greens, reds, nirs, swirs] = planes
  for (let i = 0; i < out.length; i++) {
    if (mask[i] === 0) continue
    const blue = blues![i]! * scale
    const green = greens![i]! * scale
    const red = reds![i]! * scale
    const nir = nirs![i]! * scale
    const mean = (blue + green + red) / 3
    const whiteness = (Math.abs(blue - mean) + Math.abs(green - mean) + Math.abs(red - mean)) / mean
    const isBright = blue > brightness && whiteness < MAX_WHITENESS && blue - 0.5 * red - HAZE > 0
    const isGreen = (nir - red) / (nir + red) > MAX_INDEX
    const isSnow = swirs !== undefined && (green - swirs[i]! * scale) / (green + swirs[i]! * scale) > SNOW_INDEX
    out[i] = isBright && !isGreen && !isSnow ? CLOUD : CLEAR
  }
  return out
}

/** Rows of classified pixels, filtered with their neighbours. */
class Neighbours {
  readonly #rows: RowReader
  readonly #width: number
  readonly #height: number
  readonly #test: (rows: PlanarRows) => Uint8Array<ArrayBuffer>
  #tail: Uint8Array
  /** The first row that was not read; null before the first call, which can be in the middle of the raster. */
  #next: number | null = null

  constructor(rows: RowReader, width: number, height: number, test: (rows: PlanarRows) => Uint8Array<ArrayBuffer>) {
    this.#rows = rows
    this.#width = width
    this.#height = height
    this.#test = test
    this.#tail = new Uint8Array(2 * width).fill(MISSING)
  }

  async read(y: number, count: number, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const width = this.#width
    const seen = new Uint8Array((count + 2) * width).fill(MISSING)
    const next = this.#next ?? Math.max(0, y - 1)
    const held = next - (y - 1)
    seen.set(this.#tail.subarray((2 - Math.max(0, held)) * width))
    const missing = Math.min(this.#height, y + count + 1) - next
    if (missing > 0) seen.set(this.#test(await this.#rows.read(next, missing, signal)), held * width)
    this.#next = next + Math.max(0, missing)
    this.#tail = seen.slice(count * width)
    return weighed(seen, width, count)
  }
}

/** Sums columns of three first, so that each pixel is read three times instead of nine. */
function weighed(seen: Uint8Array, width: number, count: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(width * count)
  const columns = new Uint8Array(width + 2)
  for (let row = 0; row < count; row++) {
    const above = row * width
    const here = above + width
    const below = here + width
    for (let x = 0; x < width; x++)
      columns[x + 1] = (seen[above + x] === CLOUD ? 1 : 0) + (seen[here + x] === CLOUD ? 1 : 0) + (seen[below + x] === CLOUD ? 1 : 0)
    for (let x = 0; x < width; x++) {
      const isCloudy = columns[x]! + columns[x + 1]! + columns[x + 2]! >= LEAST_OF_NINE
      out[above + x] = seen[here + x] === MISSING ? MISSING : isCloudy ? CLOUD : CLEAR
    }
  }
  return out
}
