import { compileExpression, parseExpression, scalesOf } from '#raster/expression/index.ts'
import { onlyRaster, writeRaster, type MethodTask } from './method.ts'
import { blockOf, partOf, RowReader } from './rows.ts'

interface Math {
  readonly expression: string
  /** Band names to 1-based numbers. */
  readonly names?: Readonly<Record<string, number>>
  readonly geometry?: unknown
  /** Name of each result. */
  readonly resultNames?: readonly string[]
}

/** Evaluates an expression over the bands of a raster: one float per result and pixel, NaN without data. */
export async function expression(task: MethodTask<Math>): Promise<Record<string, unknown>> {
  const { expression: text, names, geometry, resultNames } = task.options
  const raster = onlyRaster(task)
  const { info } = raster
  const part = partOf(raster, geometry)
  const compiled = compileExpression(parseExpression(text, names ? { names } : {}), {
    dataType: info.dataType,
    scales: scalesOf(info.bands),
  })
  const rows = new RowReader(
    raster,
    part,
    compiled.bands.map((band) => band - 1),
  )
  const { width, height, crs, transform } = part.grid
  const spec = {
    width,
    height,
    dataType: 'float32' as const,
    bandCount: compiled.resultCount,
    crs,
    transform,
    nodata: Number.NaN,
    bands: Array.from({ length: compiled.resultCount }, (_, index) => ({ name: resultNames?.[index] ?? null })),
  }
  await writeRaster(task, 'data.tif', spec, async (y, count, signal) => {
    const { planes, mask } = await rows.read(y, count, signal)
    const { values } = compiled.run(planes, mask, width * count)
    return blockOf(
      values.map((result) => new Float32Array(result)),
      width,
      count,
    )
  })
  return {}
}
