/** Hillshade, slope and aspect by Horn's method over 3 × 3 pixels, with the conventions of gdaldem. */
import { RasterError, type SampleArray } from '#raster/types.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { onlyRaster, writeRaster, type MethodTask } from './method.ts'
import { blockOf, partOf, RowReader, TurnedRows, type PlanarRows } from './rows.ts'

interface Terrain {
  readonly kind: 'hillshade' | 'slope' | 'aspect'
  /** From 1. */
  readonly band?: number
  /** Vertical exaggeration. */
  readonly zFactor?: number
  /** Horizontal units per vertical unit; for degrees and metres about 111,120. */
  readonly scale?: number
  /** Azimuth and altitude of the light, in degrees. */
  readonly azimuth?: number
  readonly altitude?: number
  readonly unit?: 'degree' | 'percent'
}

const DEGREES = 180 / Math.PI
/** The value that gdaldem writes without data. */
const NO_SLOPE = -9999
const METRES_PER_DEGREE = 111_120

export async function terrain(task: MethodTask<Terrain>): Promise<Record<string, unknown>> {
  const { options } = task
  const raster = onlyRaster(task)
  const band = (options.band ?? 1) - 1
  const part = partOf(raster, undefined)
  const { width, height, crs, transform } = part.grid
  if (transform[2] !== 0 || transform[4] !== 0) throw new RasterError('invalid_argument', 'The raster is rotated; reproject it first')
  const scale = options.scale ?? (placementOf(raster.info).crs.kind === 'geographic' ? METRES_PER_DEGREE : 1)
  const compute = kernelOf(options, { dx: transform[1] * scale, dy: transform[5] * scale })
  const isShade = options.kind === 'hillshade'
  const rows = new RowReader(raster, part, [band])
  const stencil = new Stencil(rows, { width, height, blockHeight: raster.info.levels[0]!.blockHeight })
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
  const turned = new TurnedRows<SampleArray>((length) => (isShade ? new Uint8Array(length) : new Float32Array(length)))
  await writeRaster(task, 'data.tif', spec, async (y, count, signal) => {
    const heights = await stencil.read(y, count, signal)
    const out = turned.take(width * count).fill(spec.nodata)
    for (let row = 0; row < count; row++) compute(heights, out, { width, row })
    return blockOf([out], width, count)
  })
  return {}
}

/** Rows of heights with one more above and below; NaN where missing. */
class Stencil {
  readonly #rows: RowReader
  readonly #width: number
  readonly #height: number
  readonly #blockHeight: number
  #heights = new Float64Array(0)
  #next = 0

  constructor(rows: RowReader, { width, height, blockHeight }: { width: number; height: number; blockHeight: number }) {
    this.#rows = rows
    this.#width = width
    this.#height = height
    this.#blockHeight = blockHeight
  }

  /** Row 0 of the result is the one above `y`. The result is valid until the next call. */
  async read(y: number, count: number, signal: AbortSignal | undefined): Promise<Float64Array> {
    const width = this.#width
    const end = Math.min(this.#height, y + count + 1)
    const heights = this.#moved((count + 2) * width, y)
    while (this.#next < end) {
      // Up to the end of a row of blocks: combining two rows of blocks would be wasted.
      const until = Math.min(end, (Math.floor(this.#next / this.#blockHeight) + 1) * this.#blockHeight)
      copyHeights(await this.#rows.read(this.#next, until - this.#next, signal), heights, (this.#next - y + 1) * width)
      this.#next = until
    }
    if (end < y + count + 1) heights.fill(Number.NaN, (count + 1) * width)
    return heights
  }

  /** The buffer for some rows; its first two are the last ones of the previous rows, except at the top. */
  #moved(length: number, y: number): Float64Array<ArrayBuffer> {
    const before = this.#heights
    const tail = 2 * this.#width
    const heights = before.length === length ? before : new Float64Array(length)
    if (y === 0) heights.fill(Number.NaN, 0, this.#width)
    else heights.set(before.subarray(before.length - tail))
    this.#heights = heights
    return heights
  }
}

function copyHeights({ planes, mask }: PlanarRows, out: Float64Array, at: number): void {
  const plane = planes[0]!
  for (let i = 0; i < mask.length; i++) out[at + i] = mask[i] === 0 ? Number.NaN : plane[i]!
}

/** Writes a computed row; pixels with a missing neighbour are skipped, as at the edge. */
type Kernel = (heights: Float64Array, out: SampleArray, at: { width: number; row: number }) => void

/** From the two sums of Horn's method, eight times the height difference along each axis, to the result. */
type Value = (west: number, south: number) => number

function kernelOf(options: Terrain, cell: { dx: number; dy: number }): Kernel {
  if (options.kind === 'hillshade') return shadeKernel(options, cell)
  const value = options.kind === 'slope' ? slopeOf(options, cell) : aspectOf(cell)
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

function slopeOf({ zFactor = 1, unit = 'degree' }: Terrain, { dx, dy }: { dx: number; dy: number }): Value {
  const [perWest, perSouth] = [zFactor / (8 * dx), zFactor / (8 * dy)]
  const rise: Value = (west, south) => Math.sqrt(west * perWest * (west * perWest) + south * perSouth * (south * perSouth))
  return unit === 'percent' ? (west, south) => 100 * rise(west, south) : (west, south) => Math.atan(rise(west, south)) * DEGREES
}

function aspectOf({ dx, dy }: { dx: number; dy: number }): Value {
  return (west, south) => {
    if (west === 0 && south === 0) return NO_SLOPE
    const angle = Math.atan2(south / Math.abs(dy), west / Math.abs(dx)) * DEGREES
    const azimuthal = angle > 90 ? 450 - angle : 90 - angle
    return azimuthal === 360 ? 0 : azimuthal
  }
}

/**
 * The same loop with the light inlined: a call per pixel costs as much as its arithmetic. The light's direction and the
 * pixel size are folded into four factors.
 */
function shadeKernel({ zFactor = 1, azimuth = 315, altitude = 45 }: Terrain, { dx, dy }: { dx: number; dy: number }): Kernel {
  const [perWest, perSouth] = [zFactor / (8 * dx), zFactor / (8 * dy)]
  const upward = 254 * Math.sin(altitude / DEGREES)
  const alongWest = 254 * Math.cos(altitude / DEGREES) * Math.sin(azimuth / DEGREES) * perWest
  const alongSouth = 254 * Math.cos(altitude / DEGREES) * Math.cos(azimuth / DEGREES) * perSouth
  const [westSquared, southSquared] = [perWest * perWest, perSouth * perSouth]
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
      const steepness = 1 + west * west * westSquared + south * south * southSquared
      const light = (upward - south * alongSouth + west * alongWest) / Math.sqrt(steepness)
      // No data has no light: NaN is not above 0, and its pixel is skipped.
      if (light > 0) out[row * width + x] = e === e ? light + 1.5 : 0
      else if (light <= 0 && e === e) out[row * width + x] = 1
      a = b
      b = c
      d = e
      e = f
      g = h
      h = i
    }
  }
}
