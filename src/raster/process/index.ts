/** The processing methods, by name. */
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { RasterError } from '#raster/types.ts'
import { change } from './change.ts'
import { cloudClasses, clouds } from './clouds.ts'
import { composite } from './composite.ts'
import { contour } from './contour.ts'
import { expression } from './expression.ts'
import type { Method, MethodTask } from './method.ts'
import { mosaic } from './mosaic.ts'
import { pansharpen } from './pansharpen.ts'
import { polygonize } from './polygonize.ts'
import { terrain } from './terrain.ts'
import { convert, warp } from './warp.ts'
import { zonal } from './zonal.ts'

// Options come from `services/processing`, which validated them; only a method knows the type of its own.
// oxlint-disable-next-line typescript/no-explicit-any
const METHODS: Readonly<Record<string, Method<any>>> = {
  change,
  cloudClasses,
  clouds,
  composite,
  contour,
  convert,
  expression,
  mosaic,
  pansharpen,
  polygonize,
  terrain,
  warp,
  zonal,
}

export async function runMethod(name: string, task: MethodTask): Promise<Record<string, unknown>> {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (!method) throw new RasterError('invalid_argument', `Unknown method '${name}'`)
  return await method(task)
}

/** Opens rasters one after another, and always closes all of them. */
export async function withRasters<S, T>(
  sources: readonly S[],
  open: (source: S) => Promise<ExactRaster>,
  work: (rasters: readonly ExactRaster[]) => Promise<T>,
): Promise<T> {
  const opened: ExactRaster[] = []
  try {
    for (const source of sources) opened.push(await open(source))
    return await work(opened)
  } finally {
    await Promise.all(opened.map((raster) => raster.close()))
  }
}
