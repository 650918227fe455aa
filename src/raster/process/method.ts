/** The interface of processing methods, and how they write. Memory holds some rows of blocks, never a whole raster. */
import { bytesPerSample } from '#raster/tiff/sample.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { RasterError } from '#raster/types.ts'
import { writeCog, type PartOfCog, type PullRows, type WrittenCog } from '#raster/write/cog.ts'
import { openFileSink, type ByteSink } from '#raster/write/sink.ts'
import type { CogCompression, CogSpec } from '#raster/write/spec.ts'

export interface MethodTask<O = Readonly<Record<string, unknown>>> {
  readonly rasters: readonly ExactRaster[]
  readonly options: O
  /** Paths of the output files, by name. */
  readonly files: Readonly<Record<string, string>>
  readonly temporaryDirectory: string
  readonly compression: CogCompression
  /** Rows to write of each output, at full resolution, instead of whole files; see `parts.ts`. */
  readonly part?: PartOfCog | undefined
  readonly signal: AbortSignal
  /** From 0 to 1. */
  readonly onProgress: (fraction: number) => void
}

/** Writes all files of its task and returns additional results. */
export type Method<O> = (task: MethodTask<O>) => Promise<Record<string, unknown>>

const BLOCK_SIZE = 256
const MIN_BLOCK_SIZE = 64
/** One row of blocks at full resolution, which the writer holds about three times. */
const MAX_ROW_BYTES = 48 * 1024 * 1024
/** Encoded bytes of one level kept in memory; more goes to a temporary file. */
const SPILL_BYTES = 8 * 1024 * 1024

/** Very wide images get lower blocks, so that memory use stays the same. */
export function blockSizeFor({ width, bandCount, dataType }: Pick<CogSpec, 'width' | 'bandCount' | 'dataType'>): number {
  let size = BLOCK_SIZE
  while (size > MIN_BLOCK_SIZE && width * size * bandCount * bytesPerSample(dataType) > MAX_ROW_BYTES) size /= 2
  return size
}

/** Write options that do not depend on the content. */
export const writeOptions = ({ temporaryDirectory, part, signal, onProgress }: MethodTask<unknown>) => ({
  temporaryDirectory,
  part,
  spillBytes: SPILL_BYTES,
  signal,
  onProgress,
})

export function pathOf({ files }: MethodTask<unknown>, name: string): string {
  const path = files[name]
  if (path === undefined) throw new RasterError('invalid_argument', `Unknown output file '${name}'`)
  return path
}

/** Opens an output file while it is written. */
export async function withFile<T>(task: MethodTask<unknown>, name: string, write: (sink: ByteSink) => Promise<T>): Promise<T> {
  const sink = await openFileSink(pathOf(task, name))
  try {
    return await write(sink)
  } finally {
    await sink.close()
  }
}

/** Writes one output raster, one row of blocks at a time. */
export async function writeRaster(task: MethodTask<unknown>, name: string, spec: CogSpec, pull: PullRows): Promise<WrittenCog> {
  const blockSize = spec.blockSize ?? blockSizeFor(spec)
  const compression = spec.compression ?? task.compression
  return await withFile(task, name, (sink) => writeCog(sink, { ...spec, blockSize, compression }, pull, writeOptions(task)))
}

/** The input of a task with exactly one raster. */
export function onlyRaster({ rasters }: MethodTask<unknown>): ExactRaster {
  const [raster] = rasters
  if (!raster || rasters.length > 1) throw new RasterError('invalid_argument', 'This method takes exactly one raster')
  return raster
}
