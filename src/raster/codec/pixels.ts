import { RasterError } from '#raster/errors.ts'

/** The output of an image codec: interleaved 8-bit pixels. */
export interface PixelBlock {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: number
}

/** Converts an image codec's pixels to the block's size and bands: adds an omitted opaque alpha, drops surplus rows of a strip. */
export function fitPixels(image: PixelBlock, shape: { width: number; rows: number; channels: number }): Uint8Array {
  const count = shape.width * shape.rows
  if (image.width !== shape.width || image.height < shape.rows) {
    throw new RasterError('corrupt', `An image block of the raster has an unexpected size of ${image.width}×${image.height} pixels`)
  }
  // A plain view, because the library's array type slices and copies differently.
  if (image.channels === shape.channels) return new Uint8Array(image.data.buffer, image.data.byteOffset, count * shape.channels)
  if (image.channels === 3 && shape.channels === 4) return withOpaqueAlpha(image.data, count)
  if (image.channels === 4 && shape.channels === 3) return withoutAlpha(image.data, count)
  throw new RasterError('corrupt', `An image block of the raster has ${image.channels} channels instead of ${shape.channels}`)
}

function withOpaqueAlpha(rgb: Uint8Array, count: number): Uint8Array {
  const out = new Uint8Array(count * 4).fill(255)
  for (let i = 0; i < count; i++) out.set(rgb.subarray(i * 3, i * 3 + 3), i * 4)
  return out
}

function withoutAlpha(rgba: Uint8Array, count: number): Uint8Array {
  const out = new Uint8Array(count * 3)
  for (let i = 0; i < count; i++) out.set(rgba.subarray(i * 4, i * 4 + 3), i * 3)
  return out
}
