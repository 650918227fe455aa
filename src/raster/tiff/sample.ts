import { RasterError } from '#raster/errors.ts'
import type { DataType, ExactSampleArray } from '#raster/types.ts'

/** How a sample is stored, and the type it is read as. */
export interface SampleType {
  /** Stored bits. */
  readonly bits: number
  readonly isFloat: boolean
  readonly isSigned: boolean
  /** Pairs of a real and an imaginary part, read as their magnitude. */
  readonly isComplex: boolean
  readonly dataType: DataType
}

const FORMAT = { uint: 1, int: 2, float: 3, untyped: 4, complexInt: 5, complexFloat: 6 } as const

export function sampleType(bits: number, format: number): SampleType {
  const plain = { bits, isComplex: false }
  if (format === FORMAT.float) return { ...plain, isFloat: true, isSigned: true, dataType: floatType(bits) }
  if (format === FORMAT.int) return { ...plain, isFloat: false, isSigned: true, dataType: intType(bits) }
  if (format === FORMAT.uint || format === FORMAT.untyped) return { ...plain, isFloat: false, isSigned: false, dataType: uintType(bits) }
  if (format === FORMAT.complexInt || format === FORMAT.complexFloat) {
    return { bits, isComplex: true, isFloat: format === FORMAT.complexFloat, isSigned: true, dataType: magnitudeType(bits, format) }
  }
  throw new RasterError('unsupported', `TIFF sample format ${format} is not supported`)
}

/** Magnitudes of 16-bit pairs and of single floats fit singles; the others need doubles. */
function magnitudeType(bits: number, format: number): DataType {
  if (format === FORMAT.complexInt && bits === 32) return 'float32'
  if (format === FORMAT.complexInt && bits === 64) return 'float64'
  if (format === FORMAT.complexFloat && bits === 64) return 'float32'
  if (format === FORMAT.complexFloat && bits === 128) return 'float64'
  throw badBits(bits)
}

function floatType(bits: number): DataType {
  if (bits === 16) return 'float16'
  if (bits === 24) return 'float32'
  if (bits === 32) return 'float32'
  if (bits === 64) return 'float64'
  throw badBits(bits)
}

function intType(bits: number): DataType {
  if (!Number.isInteger(bits) || bits < 2) throw badBits(bits)
  if (bits <= 8) return 'int8'
  if (bits <= 16) return 'int16'
  if (bits <= 32) return 'int32'
  if (bits === 64) return 'int64'
  throw badBits(bits)
}

function uintType(bits: number): DataType {
  if (!Number.isInteger(bits) || bits < 1) throw badBits(bits)
  if (bits <= 8) return 'uint8'
  if (bits <= 16) return 'uint16'
  if (bits <= 32) return 'uint32'
  if (bits === 64) return 'uint64'
  throw badBits(bits)
}

function badBits(bits: number): RasterError {
  return new RasterError('unsupported', `Samples of ${bits} bits are not supported`)
}

interface ArrayType {
  new (length: number): ExactSampleArray
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ExactSampleArray
  readonly BYTES_PER_ELEMENT: number
  readonly name: string
}

/** The array that holds samples of each type exactly; float16 is widened. */
export const EXACT_ARRAY: Readonly<Record<DataType, ArrayType>> = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float16: Float32Array,
  float32: Float32Array,
  float64: Float64Array,
}

/** Decoded bytes of one sample. */
export function bytesPerSample(dataType: DataType): number {
  return EXACT_ARRAY[dataType].BYTES_PER_ELEMENT
}

/** 64-bit integers, which need BigInt arithmetic. */
export function isBigArray(samples: ExactSampleArray): samples is BigInt64Array | BigUint64Array {
  return samples instanceof BigInt64Array || samples instanceof BigUint64Array
}
