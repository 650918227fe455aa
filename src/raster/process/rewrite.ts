import type { Position } from '#raster/ingest/position.ts'
import { uploadOptions } from '#raster/ingest/rewrite.ts'
import { convertToCog } from '#raster/write/convert.ts'
import { onlyRaster, withFile, writeOptions, type MethodTask } from './method.ts'

interface Rewrite {
  readonly isCategorical: boolean
  readonly position?: Position
}

/** An uploaded raster as a COG, as `rewriteAsCog` writes it, and in parts. */
export async function rewrite(task: MethodTask<Rewrite>): Promise<Record<string, unknown>> {
  const raster = onlyRaster(task)
  const { isCategorical, position } = task.options
  const options = { ...writeOptions(task), ...uploadOptions(raster.info, isCategorical), compression: task.compression, position }
  await withFile(task, 'data.tif', (sink) => convertToCog(raster, sink, options))
  return {}
}
