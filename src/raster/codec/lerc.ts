import * as lerc from 'lerc'
import { readLercHeader } from './lerc-header.ts'
import { decompressUpTo } from '#raster/codec/stream.ts'
import { RasterError } from '#raster/errors.ts'
import type { DataType, SampleArray } from '#raster/types.ts'

interface LercShape {
  readonly width: number
  readonly rows: number
  readonly samplesPerPixel: number
  readonly dataType: DataType
  readonly wrapper: 'none' | 'deflate' | 'zstd'
}

const PIXEL_TYPES: Readonly<Partial<Record<DataType, string>>> = {
  int8: 'S8',
  uint8: 'U8',
  int16: 'S16',
  uint16: 'U16',
  int32: 'S32',
  uint32: 'U32',
  float32: 'F32',
  float64: 'F64',
}
/** LERC data is never much larger than the raw samples: header, mask and one flag byte per micro-block. */
const BLOB_SLACK_BYTES = 64 * 1024
const BLOB_GROWTH = 2

/** Decodes LERC blocks, interleaved. Masked pixels become NaN in floats, or get an alpha of 0 if the last band is alpha. */
export async function decodeLerc(stored: Uint8Array, shape: LercShape): Promise<SampleArray> {
  await lerc.load()
  const blob = unwrap(stored, shape)
  const image = decodeBlob(blob, shape)
  const pixels = image.pixels[0]
  if (!pixels || image.pixelType !== PIXEL_TYPES[shape.dataType]) throw damaged('it has another sample type')
  const samples: SampleArray =
    image.depthCount === shape.samplesPerPixel ? (pixels as SampleArray) : withAlpha(pixels as SampleArray, image.mask, shape)
  const isFloat = shape.dataType === 'float32' || shape.dataType === 'float64'
  if (isFloat && image.mask) maskWithNan(samples, image.mask, shape.samplesPerPixel)
  return samples
}

function unwrap(stored: Uint8Array, shape: LercShape): Uint8Array {
  if (shape.wrapper === 'none') return stored
  const rawBytes = shape.width * shape.rows * shape.samplesPerPixel * 8
  return decompressUpTo(shape.wrapper, stored, rawBytes * BLOB_GROWTH + BLOB_SLACK_BYTES)
}

function decodeBlob(blob: Uint8Array, shape: LercShape): lerc.LercData {
  const header = readLercHeader(blob)
  if (!header) throw damaged('its header or checksum is invalid')
  const { width, height, depth } = header
  if (width !== shape.width || height !== shape.rows || (depth !== shape.samplesPerPixel && depth !== shape.samplesPerPixel - 1)) {
    throw damaged(`its size is ${width}×${height}×${depth} samples`)
  }
  try {
    return lerc.decode(blob.subarray(0, header.blobBytes), { returnInterleaved: true })
  } catch (cause) {
    throw damaged(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

/** libtiff stores an alpha band with only 0 and 255 as LERC's mask. */
function withAlpha(pixels: SampleArray, mask: Uint8Array | null, shape: LercShape): SampleArray {
  const colors = shape.samplesPerPixel - 1
  const count = shape.width * shape.rows
  if (shape.dataType !== 'uint8' || pixels.length !== count * colors) throw damaged('bands are missing')
  const out = new Uint8Array(count * shape.samplesPerPixel)
  for (let i = 0; i < count; i++) {
    for (let band = 0; band < colors; band++) out[i * shape.samplesPerPixel + band] = pixels[i * colors + band] ?? 0
    out[i * shape.samplesPerPixel + colors] = !mask || mask[i] ? 255 : 0
  }
  return out
}

function maskWithNan(samples: SampleArray, mask: Uint8Array, samplesPerPixel: number): void {
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) samples.fill(NaN, i * samplesPerPixel, (i + 1) * samplesPerPixel)
  }
}

function damaged(detail: string, cause?: unknown): RasterError {
  return new RasterError('corrupt', `A LERC block of the raster is damaged: ${detail}`, { cause })
}
