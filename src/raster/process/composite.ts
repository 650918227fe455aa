/** The median, mean, largest or smallest value of each band over many scenes, pixel by pixel and band by band. */
import { RasterError, type SampleArray } from '#raster/types.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import { CommonGrid, place, type Cell, type GridOptions } from './grid.ts'
import { writeRaster, type MethodTask } from './method.ts'
import { blockOf } from './rows.ts'

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
  await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
    const planes = bands.map(() => new Float32Array(width * rows).fill(Number.NaN))
    const cellWidth = Math.max(MIN_CELL_PX, Math.min(MAX_CELL_PX, Math.floor(STACK_BYTES / (4 * rows * rasters.length * bands.length))))
    for (const cell of common.cells(y, rows, cellWidth)) {
      const values = await reduce(common, cell, { ...options, bands, signal })
      for (const [band, plane] of values.entries()) place(planes[band]!, width, cell, plane)
    }
    return blockOf(planes, width, rows)
  })
  return { width, height }
}

type Reducing = Omit<Composite, 'bands'> & { readonly bands: readonly number[]; readonly signal: AbortSignal | undefined }

async function reduce(
  common: CommonGrid,
  cell: Cell,
  { statistic, bands, resampling = 'nearest', signal }: Reducing,
): Promise<Float32Array[]> {
  const inside = common.inside(cell)
  if (statistic !== 'median') return await running(common, cell, { statistic, bands, resampling, inside, signal })
  const count = cell.width * cell.height
  const stacks: SampleArray[][] = bands.map(() => [])
  for (const index of common.touching(cell)) {
    const { planes, mask } = await common.sample(index, cell, { bands, resampling, rule: 'any', signal })
    for (const [band, plane] of planes.entries()) stacks[band]!.push(masked(plane, mask))
  }
  return stacks.map((stack) => {
    const out = new Float32Array(count).fill(Number.NaN)
    const values = new Float64Array(stack.length)
    for (let i = 0; i < count; i++) if (inside?.[i] !== 0) out[i] = medianOf(values.subarray(0, gather(stack, i, values)))
    return out
  })
}

interface Running {
  statistic: 'mean' | 'max' | 'min'
  bands: readonly number[]
  resampling: Resampling
  inside: Uint8Array | null
  signal: AbortSignal | undefined
}

/** What needs no more than one number for each pixel while the scenes go by. */
async function running(common: CommonGrid, cell: Cell, { statistic, bands, resampling, inside, signal }: Running): Promise<Float32Array[]> {
  const size = cell.width * cell.height
  const totals = bands.map(() => new Float64Array(size).fill(statistic === 'mean' ? 0 : Number.NaN))
  const counts = new Uint32Array(size)
  for (const index of common.touching(cell)) {
    const { planes, mask } = await common.sample(index, cell, { bands, resampling, rule: 'any', signal })
    for (const [band, plane] of planes.entries()) TAKE[statistic](totals[band]!, plane, mask)
    for (let i = 0; i < size; i++) if (mask[i] !== 0) counts[i]! += 1
  }
  return totals.map((total) => {
    const out = new Float32Array(size).fill(Number.NaN)
    for (let i = 0; i < size; i++)
      if (counts[i] !== 0 && inside?.[i] !== 0) out[i] = statistic === 'mean' ? total[i]! / counts[i]! : total[i]!
    return out
  })
}

const TAKE: Readonly<Record<Running['statistic'], (total: Float64Array, plane: SampleArray, mask: Uint8Array) => void>> = {
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

function masked(plane: SampleArray, mask: Uint8Array): Float64Array | Float32Array {
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
