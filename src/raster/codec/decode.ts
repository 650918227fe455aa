import { giveBack } from '#raster/buffers.ts'
import { decodeFax } from '#raster/codec/ccitt.ts'
import { decodeJpeg } from '#raster/codec/jpeg.ts'
import { labToColors } from '#raster/codec/lab.ts'
import { decodeLerc } from '#raster/codec/lerc.ts'
import { decodeLogLuv } from '#raster/codec/logluv.ts'
import { decodeLzma } from '#raster/codec/lzma.ts'
import { decodeLzw } from '#raster/codec/lzw.ts'
import { decodeNext } from '#raster/codec/next.ts'
import { withHeader } from '#raster/codec/old-jpeg.ts'
import { decodePackbits } from '#raster/codec/packbits.ts'
import { fitPixels } from '#raster/codec/pixels.ts'
import { undoDifferences, undoDifferences64, undoFloatPlanes, type RowShape } from '#raster/codec/predictor.ts'
import { decompress } from '#raster/codec/stream.ts'
import { decodeThunderscan } from '#raster/codec/thunderscan.ts'
import { magnitudes, reverseBits, signExtend, swapBytes, unpackBits, widenHalves, widenTriples } from '#raster/codec/unpack.ts'
import { decodeWebp } from '#raster/codec/webp.ts'
import { ycbcrBytes, ycbcrToRgb, type YcbcrCoding } from '#raster/codec/ycbcr.ts'
import { RasterError } from '#raster/errors.ts'
import type { Directory } from '#raster/tiff/directory.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { PHOTOMETRIC } from '#raster/tiff/tags.ts'
import type { ExactSampleArray } from '#raster/types.ts'

/** Rows of a block: how many it stores and how many of them, from the top, are needed. */
interface BlockRows {
  readonly stored: number
  readonly needed: number
  /** The first one whose samples are needed: those above it have undefined content. */
  readonly first?: number
}

const PARTIAL: ReadonlySet<string> = new Set(['none', 'packbits', 'lzw', 'deflate', 'zstd'])

/** Whether the first rows of a block can be decoded without the rest. */
export function decodesPartially(directory: Directory): boolean {
  return PARTIAL.has(directory.compression) && !directory.ycbcr
}

/**
 * Decodes the stored bytes of a block to samples, interleaved if the file is. The result has at least the
 * needed rows. Every codec gets a limit for its output.
 */
export async function decodeBlock(directory: Directory, stored: Uint8Array, rows: BlockRows): Promise<ExactSampleArray> {
  const samplesPerPixel = directory.planar ? 1 : directory.bandCount
  const width = directory.grid.blockWidth
  switch (directory.compression) {
    case 'jpeg':
    case 'oldJpeg':
    case 'webp':
      return decodeImage(directory, stored, rows.stored)
    case 'sgilog':
    case 'sgilog24': {
      const input = directory.reversedBits ? reverseBits(stored) : stored
      const samples = decodeLogLuv(input, {
        width,
        rows: rows.needed,
        bands: samplesPerPixel,
        isPacked: directory.compression === 'sgilog24',
      })
      return new EXACT_ARRAY[directory.sample.dataType](samples.buffer, samples.byteOffset, samples.length)
    }
    case 'lerc':
      return decodeLerc(stored, {
        width,
        rows: rows.stored,
        samplesPerPixel,
        dataType: directory.sample.dataType,
        wrapper: directory.lercWrapper,
      })
    default: {
      if (directory.ycbcr) return decodeYcbcr(directory, directory.ycbcr, stored, rows.stored)
      const bytes = decodeBytes(directory, stored, directory.grid.rowBytes * rows.needed, rows.needed)
      const shape = { rowSamples: width * samplesPerPixel, rows: rows.needed, stride: samplesPerPixel }
      return toSamples(directory, bytes, { ...shape, first: rows.first ?? 0 })
    }
  }
}

async function decodeImage(directory: Directory, stored: Uint8Array, rows: number): Promise<Uint8Array> {
  if (directory.sample.dataType !== 'uint8' || directory.sample.bits !== 8) {
    throw new RasterError('unsupported', `${directory.compression} blocks must have 8-bit samples`)
  }
  const width = directory.grid.blockWidth
  const channels = directory.planar ? 1 : directory.bandCount
  const isYcbcr = directory.photometric === PHOTOMETRIC.ycbcr
  const image =
    directory.compression === 'jpeg'
      ? await decodeJpeg(stored, directory.jpegTables, { width, rows, components: channels, isYcbcr })
      : directory.compression === 'oldJpeg'
        ? await decodeJpeg(withHeader(stored, directory.jpegTables!), null, { width, rows, components: channels, isYcbcr })
        : await decodeWebp(stored, width * directory.grid.blockHeight)
  return fitPixels(image, { width, rows, channels })
}

/** Codecs that produce bytes. The result is a new, aligned buffer that later steps can modify. */
function decodeBytes(directory: Directory, stored: Uint8Array, byteLength: number, rows: number): Uint8Array {
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
    case 'lzma':
      return decodeLzma(input, byteLength)
    case 'next':
      return decodeNext(input, { width: directory.grid.blockWidth, rows })
    case 'thunderscan':
      return decodeThunderscan(input, { width: directory.grid.blockWidth, rows })
    case 'ccittRle':
    case 'ccittG3':
    case 'ccittG4':
      return decodeFax(input, {
        kind: FAX[directory.compression],
        isTwoDimensional: (directory.t4Options & T4_TWO_DIMENSIONAL) !== 0,
        columns: directory.grid.blockWidth,
        rows,
      })
    default:
      throw new RasterError('unsupported', `TIFF compression ${directory.compression} is not supported`)
  }
}

const FAX = { ccittRle: 'rle', ccittG3: 'g3', ccittG4: 'g4' } as const
const T4_TWO_DIMENSIONAL = 1

function decodeYcbcr(directory: Directory, coding: YcbcrCoding, stored: Uint8Array, rows: number): Uint8Array {
  const shape = { width: directory.grid.blockWidth, rows }
  return ycbcrToRgb(decodeBytes(directory, stored, ycbcrBytes(coding, shape), rows), coding, shape)
}

function toSamples(directory: Directory, bytes: Uint8Array, shape: RowShape & { first: number }): ExactSampleArray {
  const { bits, dataType, isFloat, isSigned, isComplex } = directory.sample
  if (directory.photometric === PHOTOMETRIC.cmyk) {
    if (directory.predictor === 2) undoPredictor2(bytes, shape, 1)
    return inksToColors(bytes)
  }
  if (directory.photometric === PHOTOMETRIC.cielab) {
    if (directory.predictor === 2) undoPredictor2(bytes, shape, 1)
    return labToColors(bytes, directory.whitePoint)
  }
  if (isComplex) {
    if (!directory.littleEndian) swapBytes(bytes, bits / 16)
    return magnitudes(bytes, { partBytes: bits / 16, isFloat })
  }
  if (isFloat && bits === 24) {
    if (directory.predictor === 3) return widenTriples(undoFloatPlanes(bytes, shape, 3))
    if (!directory.littleEndian) swapBytes(bytes, 3)
    return widenTriples(bytes)
  }
  const isWhole = bits === 8 || bits === 16 || bits === 32 || bits === 64
  if (!isWhole) {
    const unpacked = unpackBits(bytes, { bits, rowSamples: shape.rowSamples, rows: shape.rows })
    giveBack(bytes)
    return isSigned ? signExtend(unpacked, bits) : unpacked
  }
  const sampleBytes = bits / 8
  let native = bytes
  if (directory.predictor === 3) native = undoFloatPlanes(bytes, shape, sampleBytes)
  else if (!directory.littleEndian) swapBytes(bytes, sampleBytes)
  if (directory.predictor === 2) {
    const rows = shape.rows - shape.first
    undoPredictor2(native.subarray(shape.first * shape.rowSamples * sampleBytes), { ...shape, rows }, sampleBytes)
  }
  if (isFloat && bits === 16) return widenHalves(new Uint16Array(native.buffer, native.byteOffset, native.byteLength / 2))
  return new EXACT_ARRAY[dataType](native.buffer, native.byteOffset, native.byteLength / sampleBytes)
}

/** Converts CMYK to RGB with an alpha of 255, in place, with libtiff's arithmetic. */
function inksToColors(pixels: Uint8Array): Uint8Array {
  for (let i = 0; i + 3 < pixels.length; i += 4) {
    const light = 255 - pixels[i + 3]!
    for (let k = i; k < i + 3; k++) pixels[k] = Math.floor((light * (255 - pixels[k]!)) / 255)
    pixels[i + 3] = 255
  }
  return pixels
}

/** Differences wrap around, so signed and float samples are summed as unsigned integers of their width. */
function undoPredictor2(bytes: Uint8Array, shape: RowShape, sampleBytes: number): void {
  const { buffer, byteOffset, byteLength } = bytes
  if (sampleBytes === 1) undoDifferences(bytes, shape)
  else if (sampleBytes === 2) undoDifferences(new Uint16Array(buffer, byteOffset, byteLength / 2), shape)
  else if (sampleBytes === 4) undoDifferences(new Uint32Array(buffer, byteOffset, byteLength / 4), shape)
  else undoDifferences64(new BigUint64Array(buffer, byteOffset, byteLength / 8), shape)
}
