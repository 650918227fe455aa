import { giveBack } from '#raster/buffers.ts'
import { decodeJpeg } from '#raster/codec/jpeg.ts'
import { decodeLerc } from '#raster/codec/lerc.ts'
import { decodeLzw } from '#raster/codec/lzw.ts'
import { decodePackbits } from '#raster/codec/packbits.ts'
import { fitPixels } from '#raster/codec/pixels.ts'
import { undoDifferences, undoDifferences64, undoFloatPlanes, type RowShape } from '#raster/codec/predictor.ts'
import { decompress } from '#raster/codec/stream.ts'
import { reverseBits, swapBytes, unpackBits, widenHalves } from '#raster/codec/unpack.ts'
import { decodeWebp } from '#raster/codec/webp.ts'
import { RasterError } from '#raster/errors.ts'
import type { Directory } from '#raster/tiff/directory.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { PHOTOMETRIC } from '#raster/tiff/tags.ts'
import type { ExactSampleArray } from '#raster/types.ts'

/** Rows of a block: how many it stores and how many of them, from the top, are wanted. */
interface BlockRows {
  readonly stored: number
  readonly wanted: number
}

const PARTIAL: ReadonlySet<string> = new Set(['none', 'packbits', 'lzw', 'deflate', 'zstd'])

/** Whether the first rows of a block can be had without decoding all of it. */
export function decodesPartially(directory: Directory): boolean {
  return PARTIAL.has(directory.compression)
}

/**
 * Stored bytes of a block to samples, interleaved where the file is. The result has at least the
 * wanted rows. Every codec is told how many bytes it may make.
 */
export async function decodeBlock(directory: Directory, stored: Uint8Array, rows: BlockRows): Promise<ExactSampleArray> {
  const samplesPerPixel = directory.planar ? 1 : directory.bandCount
  const width = directory.grid.blockWidth
  switch (directory.compression) {
    case 'jpeg':
    case 'webp':
      return decodeImage(directory, stored, rows.stored)
    case 'lerc':
      return decodeLerc(stored, {
        width,
        rows: rows.stored,
        samplesPerPixel,
        dataType: directory.sample.dataType,
        wrapper: directory.lercWrapper,
      })
    default: {
      const bytes = decodeBytes(directory, stored, directory.grid.rowBytes * rows.wanted)
      return toSamples(directory, bytes, { rowSamples: width * samplesPerPixel, rows: rows.wanted, stride: samplesPerPixel })
    }
  }
}

async function decodeImage(directory: Directory, stored: Uint8Array, rows: number): Promise<Uint8Array> {
  if (directory.sample.dataType !== 'uint8' || directory.sample.bits !== 8) {
    throw new RasterError('unsupported', `${directory.compression} blocks hold 8-bit samples only`)
  }
  const width = directory.grid.blockWidth
  const channels = directory.planar ? 1 : directory.bandCount
  const isYcbcr = directory.photometric === PHOTOMETRIC.ycbcr
  const image =
    directory.compression === 'jpeg'
      ? await decodeJpeg(stored, directory.jpegTables, { width, rows, components: channels, isYcbcr })
      : await decodeWebp(stored, width * directory.grid.blockHeight)
  return fitPixels(image, { width, rows, channels })
}

/** Codecs that know only bytes. The result is a fresh, aligned buffer that the next steps may change. */
function decodeBytes(directory: Directory, stored: Uint8Array, byteLength: number): Uint8Array {
  const input = directory.reversedBits ? reverseBits(stored) : stored
  switch (directory.compression) {
    case 'none':
      if (input.byteLength < byteLength) throw new RasterError('corrupt', 'A block of the TIFF is shorter than its pixels')
      return new Uint8Array(input.subarray(0, byteLength))
    case 'packbits':
      return decodePackbits(input, byteLength)
    case 'lzw':
      return decodeLzw(input, byteLength)
    case 'deflate':
      return decompress('deflate', input, byteLength)
    case 'zstd':
      return decompress('zstd', input, byteLength)
    default:
      throw new RasterError('unsupported', `TIFF compression ${directory.compression} is not supported`)
  }
}

function toSamples(directory: Directory, bytes: Uint8Array, shape: RowShape): ExactSampleArray {
  const { bits, dataType, isFloat } = directory.sample
  const isWhole = bits === 8 || bits === 16 || bits === 32 || bits === 64
  if (!isWhole) {
    const unpacked = unpackBits(bytes, { bits, rowSamples: shape.rowSamples, rows: shape.rows })
    giveBack(bytes)
    return unpacked
  }
  const sampleBytes = bits / 8
  let native = bytes
  if (directory.predictor === 3) native = undoFloatPlanes(bytes, shape, sampleBytes)
  else if (!directory.littleEndian) swapBytes(bytes, sampleBytes)
  if (directory.predictor === 2) undoPredictor2(native, shape, sampleBytes)
  if (isFloat && bits === 16) return widenHalves(new Uint16Array(native.buffer, native.byteOffset, native.byteLength / 2))
  return new EXACT_ARRAY[dataType](native.buffer, native.byteOffset, native.byteLength / sampleBytes)
}

/** Differences wrap around, so signed and float samples are summed as unsigned ones of their width. */
function undoPredictor2(bytes: Uint8Array, shape: RowShape, sampleBytes: number): void {
  const { buffer, byteOffset, byteLength } = bytes
  if (sampleBytes === 1) undoDifferences(bytes, shape)
  else if (sampleBytes === 2) undoDifferences(new Uint16Array(buffer, byteOffset, byteLength / 2), shape)
  else if (sampleBytes === 4) undoDifferences(new Uint32Array(buffer, byteOffset, byteLength / 4), shape)
  else undoDifferences64(new BigUint64Array(buffer, byteOffset, byteLength / 8), shape)
}
