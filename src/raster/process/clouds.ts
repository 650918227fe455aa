/**
 * Where clouds are, from colours alone: bright, white and, where a short-wave infrared band tells them from snow, not frozen.
 * The tests are those of Zhu and Woodcock 2012 that need no thermal band; single pixels are then judged with their neighbours.
 */
import { onlyRaster, writeRaster, type MethodTask } from './method.ts'
import { blockOf, partOf, RowReader, type PlanarRows } from './rows.ts'

interface Clouds {
  /** Numbers of bands from 1; `swir` where there is one. */
  readonly bands: { readonly blue: number; readonly green: number; readonly red: number; readonly nir: number; readonly swir?: number }
  /** From samples to reflectances. */
  readonly scale: number
  /** How bright blue must be at least. */
  readonly brightness?: number
}

const DEFAULT_BRIGHTNESS = 0.24
const MAX_WHITENESS = 0.7
const HAZE = 0.08
const MAX_INDEX = 0.7
const SNOW_INDEX = 0.6
/** A pixel is cloudy with at least so many of the nine around it. */
const LEAST_OF_NINE = 4
const [CLEAR, CLOUD] = [0, 1] as const
const MISSING = 255

export async function clouds(task: MethodTask<Clouds>): Promise<Record<string, unknown>> {
  const { bands, scale, brightness = DEFAULT_BRIGHTNESS } = task.options
  const raster = onlyRaster(task)
  const part = partOf(raster, undefined)
  const { width, height, crs, transform } = part.grid
  const needed = [bands.blue, bands.green, bands.red, bands.nir, ...(bands.swir === undefined ? [] : [bands.swir])].map((band) => band - 1)
  const neighbours = new Neighbours(new RowReader(raster, part, needed), width, height, (rows) => tested(rows, scale, brightness))
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
    const mask = await neighbours.read(y, rows, signal)
    for (let i = 0; i < mask.length; i++) counts[mask[i]!]! += 1
    return blockOf([mask], width, rows)
  })
  const seen = counts[CLEAR]! + counts[CLOUD]!
  return { cloudCover: seen === 0 ? null : (100 * counts[CLOUD]!) / seen }
}

/** One pixel at a time: 1 for what looks like a cloud, 0 for what does not, 255 for what is missing. */
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

/** Rows of verdicts, each weighed with those around it. */
class Neighbours {
  readonly #rows: RowReader
  readonly #width: number
  readonly #height: number
  readonly #test: (rows: PlanarRows) => Uint8Array<ArrayBuffer>
  #tail: Uint8Array
  #next = 0

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
    const held = this.#next - (y - 1)
    seen.set(this.#tail.subarray((2 - Math.max(0, held)) * width))
    const missing = Math.min(this.#height, y + count + 1) - this.#next
    if (missing > 0) seen.set(this.#test(await this.#rows.read(this.#next, missing, signal)), held * width)
    this.#next += Math.max(0, missing)
    this.#tail = seen.slice(count * width)
    return weighed(seen, width, count)
  }
}

/** Counts by columns of three first, so that each verdict is looked at three times and not nine. */
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
