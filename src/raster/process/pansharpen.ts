/** Pansharpening (Brovey): each colour is multiplied by the ratio of the panchromatic band to the weighted colours. */
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { RasterError, type SampleArray } from '#raster/types.ts'
import type { Resampling, SampledPlanes } from '#raster/warp/sample.ts'
import { CommonGrid, type Cell, type GridOptions } from './grid.ts'
import { interleavedBlock } from '#raster/write/rows.ts'
import { loadProcessKernels } from './instances.ts'
import { writeRaster, type MethodTask } from './method.ts'
import { TurnedRows } from './rows.ts'

interface Pansharpen extends Pick<GridOptions, 'geometry'> {
  /** Of the colours, from 1; all by default. */
  readonly bands?: readonly number[]
  /** Of the panchromatic raster, from 1. */
  readonly panBand?: number
  /** Weight of each colour in the panchromatic band; default equal. */
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

/** The panchromatic raster comes first: its grid is the output grid. */
export async function pansharpen(task: MethodTask<Pansharpen>): Promise<Record<string, unknown>> {
  const { rasters, options } = task
  const [pan, colours] = rasters
  if (!pan || !colours) throw new RasterError('invalid_argument', 'Pansharpening needs a panchromatic and a multispectral raster')
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
  const resampling = options.resampling ?? 'cubic'
  const turned = new TurnedRows((length) => new EXACT_ARRAY[dataType](length) as SampleArray)
  const target = { stride: bands.length, rowWidth: width, low, high, nodata, isFloat }
  const { sharpenRow } = await loadProcessKernels(dataType)
  let known: SampledPlanes | undefined
  await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
    const samples = turned.take(width * rows * bands.length).fill(nodata)
    for (const cell of common.cells(y, rows, CELL_PX)) {
      const detail = await common.sample(0, cell, { bands: [(options.panBand ?? 1) - 1], resampling: 'nearest', signal, into: known })
      known = detail
      // Colours are rounded to samples before the multiplication, as in GDAL, so that pixels are identical.
      const sampling = { bands, resampling, isRounded: true, signal }
      const inside = common.inside(cell)
      if (!isFloat) {
        const isData = inside ? both(detail.mask, inside, null) : detail.mask
        const isDone = await common.sampleRows(1, cell, sampling, (row, colours, first, last) => {
          const at = (row * width + cell.x) * bands.length
          const from = row * cell.width
          const part = { colours, detail: detail.planes[0]!, isData, from, first, last, weights }
          sharpenRow(part, { samples, at, high, nodata })
        })
        if (isDone) continue
      }
      const coarse = await common.sample(1, cell, sampling)
      const isData = both(detail.mask, coarse.mask, inside)
      const ratio = ratioOf(detail.planes[0]!, coarse.planes, weights)
      for (const [band, plane] of coarse.planes.entries()) sharpen(plane, { ratio, isData, cell }, samples, { ...target, band })
    }
    return interleavedBlock({ height: rows, samples, mask: null }, width, bands.length)
  })
  return { width, height }
}

/** Where both rasters have data, within the selected pixels: the first mask, without the rest. */
function both(mask: Uint8Array, other: Uint8Array, inside: Uint8Array | null): Uint8Array {
  for (let i = 0; i < mask.length; i++) if (other[i] === 0 || inside?.[i] === 0) mask[i] = 0
  return mask
}

/** The ratio of the panchromatic band to the weighted colours. */
function ratioOf(detail: SampleArray, colours: readonly SampleArray[], weights: readonly number[]): Float64Array {
  const sum = new Float64Array(detail.length)
  for (const [band, plane] of colours.entries()) addWeighted(sum, plane, weights[band]!)
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i] === 0 ? 0 : detail[i]! / sum[i]!
  return sum
}

function addWeighted(sum: Float64Array, plane: SampleArray, weight: number): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += plane[i]! * weight
}

interface Sharpening {
  readonly ratio: Float64Array
  readonly isData: Uint8Array
  readonly cell: Cell
}

interface Target {
  readonly stride: number
  readonly rowWidth: number
  readonly low: number
  readonly high: number
  readonly nodata: number
  readonly isFloat: boolean
}

/** One colour of a cell, multiplied and written into the rows. */
function sharpen(plane: SampleArray, { ratio, isData, cell }: Sharpening, samples: SampleArray, target: Target & { band: number }): void {
  const { band, stride, rowWidth, low, high, nodata, isFloat } = target
  for (let row = 0, i = 0; row < cell.height; row++) {
    let at = (row * rowWidth + cell.x) * stride + band
    for (const end = i + cell.width; i < end; i++, at += stride) {
      if (isData[i] === 0) continue
      const value = plane[i]! * ratio[i]!
      const whole = isFloat ? value : Math.floor(value + 0.5)
      const kept = whole < low ? low : whole > high ? high : whole
      samples[at] = kept === nodata && !isFloat ? nodata + 1 : kept // A dark pixel is still data.
    }
  }
}
