/** The processing methods, by name. */
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { RasterError } from '#raster/types.ts'
import { change } from './change.ts'
import { cloudClasses, clouds } from './clouds.ts'
import { composite } from './composite.ts'
import { contour } from './contour.ts'
import { expression } from './expression.ts'
import { packHeaders } from './late.ts'
import type { Method, MethodTask } from './method.ts'
import { mosaic } from './mosaic.ts'
import { pansharpen } from './pansharpen.ts'
import { assemble, overviews, plannedRaster, type PlannedRaster } from './parts.ts'
import { polygonize } from './polygonize.ts'
import { rewrite } from './rewrite.ts'
import { table } from './table.ts'
import { terrain } from './terrain.ts'
import { convert, warp } from './warp.ts'
import { zonal } from './zonal.ts'

// Options come from `services/processing`, which validated them; only a method knows the type of its own.
// oxlint-disable-next-line typescript/no-explicit-any
const METHODS: Readonly<Record<string, Method<any>>> = {
  assemble,
  change,
  cloudClasses,
  clouds,
  composite,
  contour,
  convert,
  expression,
  mosaic,
  overviews,
  pansharpen,
  polygonize,
  rewrite,
  table,
  terrain,
  warp,
  zonal,
}

export async function runMethod(name: string, task: MethodTask): Promise<Record<string, unknown>> {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (!method) throw new RasterError('invalid_argument', `Unknown method '${name}'`)
  return await method(task)
}

export interface PlannedProcess {
  /** In the order of the outputs. */
  readonly rasters: readonly PlannedRaster[]
  /** The headers of the sources, if a part reads few of them. */
  readonly headers: string | null
}

/** Methods that read only the sources under a part. */
const READS_SOME: ReadonlySet<string> = new Set(['composite', 'mosaic'])

/** How the outputs of a method can be divided. Only headers are read. */
export async function planMethod(name: string, task: MethodTask): Promise<PlannedProcess> {
  const rasters: PlannedRaster[] = []
  await runMethod(name, { ...task, part: { plan: (spec) => rasters.push(plannedRaster(spec)) } })
  return { rasters, headers: READS_SOME.has(name) ? packHeaders(task.rasters) : null }
}

/** Opens rasters one after another, and always closes all of them. */
export async function withRasters<S, T>(
  sources: readonly S[],
  open: (source: S, index: number) => ExactRaster | Promise<ExactRaster>,
  work: (rasters: readonly ExactRaster[]) => Promise<T>,
): Promise<T> {
  const opened: ExactRaster[] = []
  try {
    for (const [index, source] of sources.entries()) opened.push(await open(source, index))
    return await work(opened)
  } finally {
    await Promise.all(opened.map((raster) => raster.close()))
  }
}
