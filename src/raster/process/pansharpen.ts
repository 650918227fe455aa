/** Colours at the detail of a panchromatic band: each is multiplied by what is seen over what the colours would give (Brovey). */
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { RasterError, type SampleArray } from '#raster/types.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import { CommonGrid, type Cell, type GridOptions } from './grid.ts'
import { writeRaster, type MethodTask } from './method.ts'
import { blockOf } from './rows.ts'

interface Pansharpen extends Pick<GridOptions, 'geometry'> {
  /** Of the colours, from 1; all by default. */
  readonly bands?: readonly number[]
  /** Of the panchromatic raster, from 1. */
  readonly panBand?: number
  /** How much each colour gives to the panchromatic band; all the same by default. */
  readonly weights?: readonly number[]
  readonly resampling?: Resampling
}

const CELL_PX = 512
const LARGEST: Readonly<Record<string, number>> = {
  uint8: 255,
  uint16: 65_535,
  int16: 32_767,
  uint32: 4_294_967_295,
  int32: 2_147_483_647,
  int8: 127,
}

/** The panchromatic raster comes first: its grid is the one that is written. */
export async function pansharpen(task: MethodTask<Pansharpen>): Promise<Record<string, unknown>> {
  const { rasters, options } = task
  const [pan, colours] = rasters
  if (!pan || !colours) throw new RasterError('invalid_argument', 'Pansharpening takes a panchromatic raster and one with colours')
  const common = new CommonGrid([pan, colours], options)
  const { width, height, crs, transform } = common.grid
  const bands = (options.bands ?? colours.info.bands.map((_, band) => band + 1)).map((band) => band - 1)
  const weights = options.weights ?? bands.map(() => 1 / bands.length)
  const dataType = colours.info.dataType === 'float16' ? 'float32' : colours.info.dataType
  const nodata = colours.info.bands[bands[0]!]?.nodata ?? 0
  const isFloat = dataType.startsWith('float')
  const [low, high] = [isFloat ? -Infinity : 0, LARGEST[dataType] ?? Infinity]
  const spec = {
    width,
    height,
    dataType,
    bandCount: bands.length,
    crs,
    transform,
    nodata,
    bands: bands.map((band) => colours.info.bands[band]!),
  }
  await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
    const planes = bands.map(() => (new EXACT_ARRAY[dataType](width * rows) as SampleArray).fill(nodata))
    for (const cell of common.cells(y, rows, CELL_PX)) {
      const detail = await common.sample(0, cell, { bands: [(options.panBand ?? 1) - 1], resampling: 'nearest', signal })
      const coarse = await common.sample(1, cell, { bands, resampling: options.resampling ?? 'cubic', signal })
      const inside = common.inside(cell)
      const ratio = ratioOf(detail.planes[0]!, coarse.planes, weights)
      for (let i = 0; i < ratio.length; i++) if (detail.mask[i] === 0 || coarse.mask[i] === 0 || inside?.[i] === 0) ratio[i] = Number.NaN
      for (const [band, plane] of coarse.planes.entries())
        sharpen(planes[band]!, plane, ratio, { cell, rowWidth: width, low, high, nodata, isFloat })
    }
    return blockOf(planes, width, rows)
  })
  return { width, height }
}

/** What is seen over what the colours would give. */
function ratioOf(detail: SampleArray, colours: readonly SampleArray[], weights: readonly number[]): Float64Array {
  const sum = new Float64Array(detail.length)
  for (const [band, plane] of colours.entries()) addWeighted(sum, plane, weights[band]!)
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i] === 0 ? 0 : detail[i]! / sum[i]!
  return sum
}

function addWeighted(sum: Float64Array, plane: SampleArray, weight: number): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += plane[i]! * weight
}

interface Target {
  readonly cell: Cell
  readonly rowWidth: number
  readonly low: number
  readonly high: number
  readonly nodata: number
  readonly isFloat: boolean
}

/** One colour of a cell, multiplied and put into the rows; NaN leaves a pixel as it is. */
function sharpen(rows: SampleArray, plane: SampleArray, ratio: Float64Array, target: Target): void {
  const { cell, rowWidth, low, high, nodata, isFloat } = target
  for (let row = 0, i = 0; row < cell.height; row++)
    for (let at = row * rowWidth + cell.x, end = at + cell.width; at < end; at++, i++) {
      const value = plane[i]! * ratio[i]!
      if (value !== value) continue
      const whole = isFloat ? value : Math.floor(value + 0.5)
      const kept = whole < low ? low : whole > high ? high : whole
      rows[at] = kept === nodata && !isFloat ? nodata + 1 : kept // A dark pixel is still data.
    }
}
