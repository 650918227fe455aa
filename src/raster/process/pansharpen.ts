/** Colours at the detail of a panchromatic band: each is multiplied by what is seen over what the colours would give (Brovey). */
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { RasterError, type SampleArray } from '#raster/types.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import { CommonGrid, place, type GridOptions } from './grid.ts'
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
      const sharp = bands.map(() => (new EXACT_ARRAY[dataType](detail.mask.length) as SampleArray).fill(nodata))
      for (let i = 0; i < detail.mask.length; i++) {
        if (detail.mask[i] === 0 || coarse.mask[i] === 0 || inside?.[i] === 0) continue
        let sum = 0
        for (let band = 0; band < bands.length; band++) sum += coarse.planes[band]![i]! * weights[band]!
        const ratio = sum === 0 ? 0 : detail.planes[0]![i]! / sum
        for (let band = 0; band < bands.length; band++) {
          const value = coarse.planes[band]![i]! * ratio
          const kept = Math.min(high, Math.max(low, isFloat ? value : Math.round(value)))
          sharp[band]![i] = kept === nodata && !isFloat ? nodata + 1 : kept // A dark pixel is still data.
        }
      }
      for (const [band, plane] of sharp.entries()) place(planes[band]!, width, cell, plane)
    }
    return blockOf(planes, width, rows)
  })
  return { width, height }
}
