import { unlink } from 'node:fs/promises'
import { bytesPerSample } from '#raster/tiff/sample.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import type { RasterInfo } from '#raster/types.ts'
import type { Position } from './position.ts'
import { convertToCog } from '#raster/write/convert.ts'
import { openFileSink } from '#raster/write/sink.ts'
import type { WrittenCog } from '#raster/write/cog.ts'
import type { CogCompression } from '#raster/write/spec.ts'

export interface RewriteOptions {
  /** The file to write. */
  readonly path: string
  readonly temporaryDirectory: string
  /** Pixel values are class codes: overviews pick one of them and never average. */
  readonly isCategorical: boolean
  /** Default `zstd`, which we decode up to three times as fast; `deflate` is for software without zstd. */
  readonly compression?: CogCompression | undefined
  /** Overrides the file's own georeference. */
  readonly position?: Position | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: (fraction: number) => void
}

const BLOCK_SIZE = 256
const MIN_BLOCK_SIZE = 64
/** One row of blocks at full resolution, which the writer holds about three times. */
const MAX_ROW_BYTES = 64 * 1024 * 1024
/** Encoded bytes of one level kept in memory; more goes to a temporary file. */
const SPILL_BYTES = 8 * 1024 * 1024

/** Writes a raster as a COG; on failure no file remains. */
export async function rewriteAsCog(
  raster: ExactRaster,
  { path, temporaryDirectory, isCategorical, compression = 'zstd', position, signal, onProgress }: RewriteOptions,
): Promise<WrittenCog> {
  const sink = await openFileSink(path)
  try {
    return await convertToCog(raster, sink, {
      temporaryDirectory,
      ...uploadOptions(raster.info, isCategorical),
      compression,
      position,
      signal,
      ...(onProgress ? { onProgress } : {}),
    })
  } catch (error) {
    await unlink(path).catch(() => undefined)
    throw error
  } finally {
    await sink.close()
  }
}

/** How an uploaded raster is written, by one machine or many. */
export const uploadOptions = (info: RasterInfo, isCategorical: boolean) => ({
  spillBytes: SPILL_BYTES,
  blockSize: blockSizeOf(info),
  ...(isCategorical ? { overviews: 'mode' as const } : {}),
})

/** Very wide images get lower blocks, so that memory use stays the same. */
function blockSizeOf({ width, bandCount, dataType }: RasterInfo): number {
  let size = BLOCK_SIZE
  while (size > MIN_BLOCK_SIZE && width * size * bandCount * bytesPerSample(dataType) > MAX_ROW_BYTES) size /= 2
  return size
}
