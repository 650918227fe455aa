/** Change between two rasters: an index of each, its difference, and the pixels that changed by more than a threshold. */
import { compileExpression, parseExpression, scalesOf, type CompiledExpression } from '#raster/expression/index.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { RasterError } from '#raster/types.ts'
import type { Resampling } from '#raster/warp/sample.ts'
import { CommonGrid, place, type Cell, type GridOptions } from './grid.ts'
import { writeRaster, type MethodTask } from './method.ts'
import { blockOf } from './rows.ts'
import { Strips } from './strips.ts'

interface Change extends Omit<GridOptions, 'epsg'> {
  /** For the earlier and the later raster: their bands can have different numbers. */
  readonly expressions: readonly [string, string]
  readonly threshold: number
  readonly resampling?: Resampling
}

const CELL_PX = 512
/** Classes of the second file. */
const [LOSS, SAME, GAIN] = [1, 2, 3] as const

export async function change(task: MethodTask<Change>): Promise<Record<string, unknown>> {
  const { options, rasters } = task
  const [before, after] = rasters
  if (!before || !after) throw new RasterError('invalid_argument', 'A change needs two rasters')
  const common = new CommonGrid(rasters, options)
  const { width, height, crs, transform } = common.grid
  const sides = [before, after].map((raster, index) => ({ index, compiled: compiledFor(raster, options.expressions[index]!) }))
  const strips = new Strips(task, 'classes', width)
  const tally = { counts: [0, 0, 0, 0], sum: 0 }
  const shape = { width, height, bandCount: 1, crs, transform }
  try {
    const spec = { ...shape, dataType: 'float32' as const, nodata: Number.NaN, bands: [{ name: 'difference' }] }
    await writeRaster(task, 'data.tif', spec, async (y, rows, signal) => {
      const difference = new Float32Array(width * rows).fill(Number.NaN)
      for (const cell of common.cells(y, rows, CELL_PX)) {
        const [first, second] = [
          await indexOf(common, cell, sides[0]!, options, signal),
          await indexOf(common, cell, sides[1]!, options, signal),
        ]
        const inside = common.inside(cell)
        place(
          difference,
          width,
          cell,
          second.map((value, i) => (inside?.[i] === 0 ? Number.NaN : value - first[i]!)),
        )
      }
      await strips.write(y, classify(difference, options.threshold, tally))
      return blockOf([difference], width, rows)
    })
    const classes = { ...shape, dataType: 'uint8' as const, nodata: 0, overviews: 'mode' as const, bands: [{ name: 'change_class' }] }
    await writeRaster(task, 'classes.tif', classes, async (y, rows) => blockOf([new Uint8Array(await strips.read(y, rows))], width, rows))
  } finally {
    await strips.remove()
  }
  const [, loss, same, gain] = tally.counts
  const compared = loss! + same! + gain!
  return {
    pixelsLost: loss,
    pixelsSame: same,
    pixelsGained: gain,
    meanDifference: compared === 0 ? null : tally.sum / compared,
    width,
    height,
  }
}

const compiledFor = (raster: ExactRaster, text: string): CompiledExpression =>
  compileExpression(parseExpression(text), { dataType: raster.info.dataType, scales: scalesOf(raster.info.bands) })

async function indexOf(
  common: CommonGrid,
  cell: Cell,
  { index, compiled }: { index: number; compiled: CompiledExpression },
  { resampling = 'bilinear' }: Change,
  signal: AbortSignal | undefined,
): Promise<Float64Array<ArrayBuffer>> {
  const bands = compiled.bands.map((band) => band - 1)
  const method = index === 0 ? 'nearest' : resampling // The first one defines the grid, so its pixels are used unchanged.
  const { planes, mask } = await common.sample(index, cell, { bands, resampling: method, signal })
  return compiled.run(planes, mask, mask.length).values[0]!
}

function classify(difference: Float32Array, threshold: number, tally: { counts: number[]; sum: number }): Uint8Array {
  const classes = new Uint8Array(difference.length)
  for (let i = 0; i < difference.length; i++) {
    const value = difference[i]!
    if (value !== value) continue
    const kind = value <= -threshold ? LOSS : value >= threshold ? GAIN : SAME
    classes[i] = kind
    tally.counts[kind]! += 1
    tally.sum += value
  }
  return classes
}
