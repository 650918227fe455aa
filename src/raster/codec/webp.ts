import type { PixelBlock } from '#raster/codec/pixels.ts'
import { sharp } from '#raster/codec/sharp.ts'
import { RasterError } from '#raster/errors.ts'

/** Decodes WebP blocks, lossy or lossless; `maxPx` limits what the library allocates. */
export async function decodeWebp(stored: Uint8Array, maxPx: number): Promise<PixelBlock> {
  assertWebp(stored)
  try {
    const image = sharp(stored, { failOn: 'error', autoOrient: false, limitInputPixels: maxPx, pages: 1 })
    const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
    return { data, width: info.width, height: info.height, channels: info.channels }
  } catch (cause) {
    throw new RasterError('corrupt', `A WebP block of the raster is damaged: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/** The library decodes any image format, so other formats are rejected here. */
function assertWebp(stored: Uint8Array): void {
  const name = String.fromCharCode(...stored.subarray(0, 4), ...stored.subarray(8, 12))
  if (name !== 'RIFFWEBP') throw new RasterError('corrupt', 'A WebP block of the raster is damaged: it has no WebP header')
}
