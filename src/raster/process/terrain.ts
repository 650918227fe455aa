/** Hillshade, slope and aspect by Horn's method over 3 × 3 pixels, with the conventions of gdaldem. */
import { RasterError, type SampleArray } from '#raster/types.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { onlyRaster, writeRaster, type MethodTask } from './method.ts'
import { blockOf, partOf, RowReader, type PlanarRows } from './rows.ts'

interface Terrain {
  readonly kind: 'hillshade' | 'slope' | 'aspect'
  /** From 1. */
  readonly band?: number
  /** Heights are multiplied by this. */
  readonly zFactor?: number
  /** Units of the grid for each unit of height; for degrees and metres about 111,120. */
  readonly scale?: number
  /** Of the light, in degrees. */
  readonly azimuth?: number
  readonly altitude?: number
  readonly unit?: 'degree' | 'percent'
}

const DEGREES = 180 / Math.PI
/** What gdaldem writes where there is nothing to say. */
const NO_SLOPE = -9999
const METRES_PER_DEGREE = 111_120

export async function terrain(task: MethodTask<Terrain>): Promise<Record<string, unknown>> {
  const { options } = task
  const raster = onlyRaster(task)
  const band = (options.band ?? 1) - 1
  const part = partOf(raster, undefined)
  const { width, height, crs, transform } = part.grid
  if (transform[2] !== 0 || transform[4] !== 0) throw new RasterError('invalid_argument', 'The raster is turned; reproject it first')
  const scale = options.scale ?? (placementOf(raster.info).crs.kind === 'geographic' ? METRES_PER_DEGREE : 1)
  const compute = kernelOf(options, { dx: transform[1] * scale, dy: transform[5] * scale })
  const isShade = options.kind === 'hillshade'
  const rows = new RowReader(raster, part, [band])
  const stencil = new Stencil(rows, width, height)
  const spec = {
    width,
    height,
    dataType: isShade ? ('uint8' as const) : ('float32' as const),
    bandCount: 1,
    crs,
    transform,
    nodata: isShade ? 0 : NO_SLOPE,
    bands: [{ name: options.kind }],
  }
  await writeRaster(task, 'data.tif', spec, async (y, count, signal) => {
    const heights = await stencil.read(y, count, signal)
    const out: SampleArray = isShade ? new Uint8Array(width * count) : new Float32Array(width * count).fill(NO_SLOPE)
    for (let row = 0; row < count; row++) compute(heights, out, { width, row })
    return blockOf([out], width, count)
  })
  return {}
}

/** Rows of heights with one more above and below; NaN where there is none. */
class Stencil {
  readonly #rows: RowReader
  readonly #width: number
  readonly #height: number
  /** The last two rows that were read, which the next rows stand below. */
  #tail: Float64Array
  #next = 0

  constructor(rows: RowReader, width: number, height: number) {
    this.#rows = rows
    this.#width = width
    this.#height = height
    this.#tail = new Float64Array(2 * width).fill(Number.NaN)
  }

  /** Row 0 of what is returned is the one above `y`. */
  async read(y: number, count: number, signal: AbortSignal | undefined): Promise<Float64Array> {
    const width = this.#width
    const out = new Float64Array((count + 2) * width).fill(Number.NaN)
    const held = this.#next - (y - 1) // Rows that were read already: one above, and the first one itself but at the start.
    out.set(this.#tail.subarray((2 - Math.max(0, held)) * width), 0)
    const wanted = Math.min(this.#height, y + count + 1) - this.#next
    if (wanted > 0) copyHeights(await this.#rows.read(this.#next, wanted, signal), out, held * width)
    this.#next += Math.max(0, wanted)
    this.#tail = out.slice(count * width)
    return out
  }
}

function copyHeights({ planes, mask }: PlanarRows, out: Float64Array, at: number): void {
  const [plane] = planes
  for (let i = 0; i < mask.length; i++) out[at + i] = mask[i] === 0 ? Number.NaN : plane![i]!
}

const length = (x: number, y: number): number => Math.sqrt(x * x + y * y)

type Kernel = (heights: Float64Array, out: SampleArray, at: { width: number; row: number }) => void

/** Writes a row of what is computed; pixels with a neighbour missing stay as they are, as at the edge. */
function kernelOf(options: Terrain, cell: { dx: number; dy: number }): Kernel {
  const value = valueOf(options, cell)
  return (heights, out, { width, row }) => {
    const [above, here, below] = [row * width, (row + 1) * width, (row + 2) * width]
    let [a, b] = [heights[above]!, heights[above + 1]!]
    let [d, e] = [heights[here]!, heights[here + 1]!]
    let [g, h] = [heights[below]!, heights[below + 1]!]
    for (let x = 1; x < width - 1; x++) {
      const c = heights[above + x + 1]!
      const f = heights[here + x + 1]!
      const i = heights[below + x + 1]!
      const west = a + d + d + g - (c + f + f + i)
      const south = g + h + h + i - (a + b + b + c)
      if (west - west === 0 && south - south === 0 && e === e) out[row * width + x] = value(west, south)
      a = b
      b = c
      d = e
      e = f
      g = h
      h = i
    }
  }
}

/** From the two sums of Horn's method, eight times the difference of heights along each axis, to what is shown. */
function valueOf(options: Terrain, { dx, dy }: { dx: number; dy: number }): (west: number, south: number) => number {
  const { kind, zFactor = 1, azimuth = 315, altitude = 45, unit = 'degree' } = options
  if (kind === 'slope') {
    const toUnit = unit === 'percent' ? (rise: number) => 100 * rise : (rise: number) => Math.atan(rise) * DEGREES
    return (west, south) => toUnit((length(west / dx, south / dy) * zFactor) / 8)
  }
  if (kind === 'aspect')
    return (west, south) => {
      if (west === 0 && south === 0) return NO_SLOPE
      const angle = Math.atan2(south / Math.abs(dy), west / Math.abs(dx)) * DEGREES
      const azimuthal = angle > 90 ? 450 - angle : 90 - angle
      return azimuthal === 360 ? 0 : azimuthal
    }
  const [sinAltitude, cosAltitude] = [Math.sin(altitude / DEGREES), Math.cos(altitude / DEGREES)]
  const [sinToward, cosToward] = [Math.sin(azimuth / DEGREES), Math.cos(azimuth / DEGREES)]
  return (west, south) => {
    const [x, y] = [(west / dx) * (zFactor / 8), (south / dy) * (zFactor / 8)]
    const cang = (sinAltitude - cosAltitude * (y * cosToward - x * sinToward)) / Math.sqrt(1 + x * x + y * y)
    return cang <= 0 ? 1 : Math.round(1 + 254 * cang)
  }
}
