/** The median, mean, maximum or minimum of each band over many scenes, per pixel and band. */
import { RasterError, type SampleArray } from '#raster/types.ts'
import type { Resampling, SampledPlanes } from '#raster/warp/sample.ts'
import { interleavedBlock } from '#raster/write/rows.ts'
import { CommonGrid, type Cell, type GridOptions } from './grid.ts'
import { writeRaster, type MethodTask } from './method.ts'
import { TurnedRows } from './rows.ts'

interface Composite extends GridOptions {
  readonly statistic: 'median' | 'mean' | 'max' | 'min'
  /** From 1; all by default. */
  readonly bands?: readonly number[]
  readonly resampling?: Resampling
  readonly bandNames?: readonly (string | null)[]
}

const STACK_BYTES = 64 * 1024 * 1024
const MAX_CELL_PX = 512
const MIN_CELL_PX = 8

export async function composite(task: MethodTask<Composite>): Promise<Record<string, unknown>> {
  const { options, rasters } = task
  const [first] = rasters
  if (rasters.some(({ info }) => info.bandCount !== first!.info.bandCount))
    throw new RasterError('invalid_argument', 'All rasters of a composite must have the same bands')
  const common = new CommonGrid(rasters, options)
  const { width, height, crs, transform } = common.grid
  const bands = (options.bands ?? first!.info.bands.map((_, band) => band + 1)).map((band) => band - 1)
  const spec = {
    width,
    height,
    dataType: 'float32' as const,
    bandCount: bands.length,
    crs,
    transform,
    nodata: Number.NaN,
    bands: bands.map((band, index) => ({ name: options.bandNames?.[index] ?? first!.info.bands[band]!.name })),
  }
  const turned = new TurnedRows((length) => new Float32Array(length))
  const reducer = new Reducer(common, { ...options, bands, isNarrow: rasters.every(({ info }) => NARROW.has(info.dataType)) })
  await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
    const samples = turned.take(width * rows * bands.length)
    const cellWidth = Math.max(MIN_CELL_PX, Math.min(MAX_CELL_PX, Math.floor(STACK_BYTES / (4 * rows * rasters.length * bands.length))))
    for (const cell of common.cells(y, rows, cellWidth)) await reducer.reduce(cell, { samples, rowWidth: width }, signal)
    return interleavedBlock({ height: rows, samples, mask: null }, width, bands.length)
  })
  return { width, height }
}

/** Types whose values are all exact as 32-bit floats. */
const NARROW: ReadonlySet<string> = new Set(['uint8', 'int8', 'uint16', 'int16', 'float16', 'float32'])

type Reducing = Omit<Composite, 'bands'> & { readonly bands: readonly number[]; readonly isNarrow: boolean }
type Totals = Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

/** Rows over the full width, pixel-interleaved. */
interface Rows {
  readonly samples: Float32Array
  readonly rowWidth: number
}

/** Processes one cell after another and reuses its buffers. */
class Reducer {
  readonly #common: CommonGrid
  readonly #options: Reducing
  #sampled: SampledPlanes | undefined
  #totals: Totals[] = []
  #counts = new Uint32Array(0)

  constructor(common: CommonGrid, options: Reducing) {
    this.#common = common
    this.#options = options
  }

  async reduce(cell: Cell, rows: Rows, signal: AbortSignal | undefined): Promise<void> {
    const inside = this.#common.inside(cell)
    const { statistic } = this.#options
    if (statistic === 'median') return await this.#median(cell, inside, rows, signal)
    await this.#running(statistic, cell, signal)
    const { bands } = this.#options
    const counts = statistic === 'mean' ? this.#counts : null
    for (let band = 0; band < bands.length; band++)
      spread(this.#totals[band]!, { counts, inside }, cell, { ...rows, band, stride: bands.length })
  }

  /** Statistics that need one number per pixel while scenes are read. */
  async #running(statistic: 'mean' | 'max' | 'min', cell: Cell, signal: AbortSignal | undefined): Promise<void> {
    const { bands, isNarrow } = this.#options
    const size = cell.width * cell.height
    if (this.#counts.length !== size) {
      this.#counts = new Uint32Array(size)
      this.#totals = bands.map(() => (isNarrow && statistic !== 'mean' ? new Float32Array(size) : new Float64Array(size)))
    }
    this.#counts.fill(0)
    for (const total of this.#totals) total.fill(statistic === 'mean' ? 0 : Number.NaN)
    for (const index of this.#common.touching(cell)) {
      const { planes, mask } = await this.#sample(index, cell, signal)
      for (const [band, plane] of planes.entries()) TAKE[statistic](this.#totals[band]!, plane, mask)
      if (statistic === 'mean') countData(this.#counts, mask)
    }
  }

  async #median(cell: Cell, inside: Uint8Array | null, rows: Rows, signal: AbortSignal | undefined): Promise<void> {
    const { bands } = this.#options
    const count = cell.width * cell.height
    const stacks: Totals[][] = bands.map(() => [])
    for (const index of this.#common.touching(cell)) {
      const { planes, mask } = await this.#sample(index, cell, signal)
      for (const [band, plane] of planes.entries()) stacks[band]!.push(masked(plane, mask))
    }
    for (const [band, stack] of stacks.entries()) {
      const out = new Float32Array(count)
      const values = new Float64Array(stack.length)
      for (let i = 0; i < count; i++) out[i] = medianOf(values.subarray(0, gather(stack, i, values)))
      spread(out, { counts: null, inside }, cell, { ...rows, band, stride: bands.length })
    }
  }

  async #sample(index: number, cell: Cell, signal: AbortSignal | undefined): Promise<SampledPlanes> {
    const { bands, resampling = 'nearest' } = this.#options
    this.#sampled = await this.#common.sample(index, cell, { bands, resampling, rule: 'any', signal, into: this.#sampled })
    return this.#sampled
  }
}

interface BandOfRows extends Rows {
  readonly band: number
  readonly stride: number
}

/** One band of a cell, written into the rows; NaN without data. */
function spread(
  totals: Totals,
  { counts, inside }: { counts: Uint32Array | null; inside: Uint8Array | null },
  cell: Cell,
  { samples, rowWidth, band, stride }: BandOfRows,
): void {
  // No scene: 0 / 0.
  if (counts) for (let i = 0; i < counts.length; i++) totals[i]! /= counts[i]!
  if (inside) for (let i = 0; i < inside.length; i++) if (inside[i] === 0) totals[i] = Number.NaN
  for (let row = 0, i = 0; row < cell.height; row++) {
    let at = (row * rowWidth + cell.x) * stride + band
    for (const end = i + cell.width; i < end; i++, at += stride) samples[at] = totals[i]!
  }
}

function countData(counts: Uint32Array, mask: Uint8Array): void {
  for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) counts[i]! += 1
}

const TAKE: Readonly<Record<'mean' | 'max' | 'min', (total: Totals, plane: SampleArray, mask: Uint8Array) => void>> = {
  mean(total, plane, mask) {
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) total[i]! += plane[i]!
  },
  max(total, plane, mask) {
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0 && !(plane[i]! <= total[i]!)) total[i] = plane[i]!
  },
  min(total, plane, mask) {
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0 && !(plane[i]! >= total[i]!)) total[i] = plane[i]!
  },
}

function masked(plane: SampleArray, mask: Uint8Array): Totals {
  const out =
    plane instanceof Float64Array || plane instanceof Uint32Array || plane instanceof Int32Array
      ? new Float64Array(plane)
      : new Float32Array(plane)
  for (let i = 0; i < mask.length; i++) if (mask[i] === 0) out[i] = Number.NaN
  return out
}

function gather(stack: readonly SampleArray[], i: number, values: Float64Array): number {
  let count = 0
  for (const plane of stack) {
    const value = plane[i]!
    if (value === value) values[count++] = value
  }
  return count
}

function medianOf(values: Float64Array): number {
  if (values.length === 0) return Number.NaN
  values.sort()
  return (values[(values.length - 1) >> 1]! + values[values.length >> 1]!) / 2
}
