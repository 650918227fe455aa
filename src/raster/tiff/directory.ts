import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import type { YcbcrCoding } from '#raster/codec/ycbcr.ts'
import type { Fields } from '#raster/tiff/fields.ts'
import { BlockGrid } from '#raster/tiff/grid.ts'
import { readOldJpegHeader } from '#raster/tiff/old-jpeg.ts'
import { sampleType, type SampleType } from '#raster/tiff/sample.ts'
import { compressionName, PHOTOMETRIC, SUBFILE, TAG, type CompressionName } from '#raster/tiff/tags.ts'
import type { Source } from '#raster/types.ts'

/** One image of a TIFF, validated: its dimensions are within our limits and its parts are consistent. */
export interface Directory {
  readonly width: number
  readonly height: number
  readonly bandCount: number
  readonly sample: SampleType
  readonly compression: CompressionName
  readonly predictor: 1 | 2 | 3
  readonly planar: boolean
  readonly photometric: number
  readonly extraSamples: readonly number[]
  /** True where each stored byte has its bits in reverse order (FillOrder 2). */
  readonly reversedBits: boolean
  readonly littleEndian: boolean
  /** Of old-style JPEG: everything before its scan. */
  readonly jpegTables: Uint8Array | null
  /** The compression around LERC's own stream. */
  readonly lercWrapper: 'none' | 'deflate' | 'zstd'
  /** How YCbCr is stored if no image codec converts it; null otherwise. */
  readonly ycbcr: YcbcrCoding | null
  /** x and y of the white point of Lab colours; null: D50. */
  readonly whitePoint: readonly [number, number] | null
  /** Of Group 3 fax compression. */
  readonly t4Options: number
  readonly isReduced: boolean
  readonly isMask: boolean
  readonly grid: BlockGrid
}

export async function readDirectory(source: Source, fields: Fields, littleEndian: boolean): Promise<Directory> {
  const shape = await readShape(fields)
  const coding = await readCoding(fields, shape.sample, shape.bandCount)
  const subfile = await fields.number(TAG.newSubfileType, 0)
  const samplesPerBlockPixel = coding.planar ? 1 : shape.bandCount
  const grid = await BlockGrid.read(source, fields, {
    width: shape.width,
    height: shape.height,
    planes: coding.planar ? shape.bandCount : 1,
    bitsPerPixel: shape.sample.bits * samplesPerBlockPixel,
    uncompressed: coding.compression === 'none' && !coding.ycbcr,
    littleEndian,
  })
  const isOldJpeg = coding.compression === 'oldJpeg'
  // Its scan continues across strips, and a part of it cannot be decoded.
  if (isOldJpeg && grid.blocksX * grid.blocksY > 1) throw new RasterError('unsupported', 'Old-style JPEG is supported with one strip only')
  return {
    ...shape,
    ...coding,
    ...(isOldJpeg ? { jpegTables: await readOldJpegHeader(source, fields, shape) } : {}),
    littleEndian,
    isReduced: (subfile & SUBFILE.reducedResolution) !== 0,
    isMask: (subfile & SUBFILE.mask) !== 0 || coding.photometric === PHOTOMETRIC.transparencyMask,
    grid,
  }
}

async function readShape(fields: Fields): Promise<Pick<Directory, 'width' | 'height' | 'bandCount' | 'sample'>> {
  const width = await fields.number(TAG.imageWidth, 0)
  const height = await fields.number(TAG.imageLength, 0)
  assertSide(width)
  assertSide(height)
  const bandCount = await fields.number(TAG.samplesPerPixel, 1)
  if (!Number.isInteger(bandCount) || bandCount < 1) throw new RasterError('corrupt', 'The TIFF has no samples')
  if (bandCount > LIMITS.bandCount)
    throw new RasterError('limit_exceeded', `The raster has ${bandCount} bands, more than ${LIMITS.bandCount}`)
  const bits = await uniform(fields, TAG.bitsPerSample, 1)
  const format = await uniform(fields, TAG.sampleFormat, 1)
  return { width, height, bandCount, sample: sampleType(bits, format) }
}

function assertSide(px: number): void {
  if (!Number.isInteger(px) || px < 1) throw new RasterError('corrupt', 'The TIFF has an invalid width or height')
  if (px > LIMITS.sidePx) throw new RasterError('too_large', `The raster has a side of ${px} pixels, more than ${LIMITS.sidePx}`)
}

/** The common value of a tag with one value per band. */
async function uniform(fields: Fields, tag: number, fallback: number): Promise<number> {
  const values = (await fields.numbers(tag)) ?? [fallback]
  const first = values[0] ?? fallback
  if (values.some((value) => value !== first)) throw new RasterError('unsupported', 'The bands of the raster have different sample types')
  return first
}

type Coding = Pick<
  Directory,
  | 'compression'
  | 'predictor'
  | 'planar'
  | 'photometric'
  | 'extraSamples'
  | 'reversedBits'
  | 'jpegTables'
  | 'lercWrapper'
  | 'ycbcr'
  | 't4Options'
  | 'whitePoint'
>

/** Known codecs that we cannot read: none has a maintained decoder that we can ship. */
const REFUSED: Readonly<Record<number, string>> = {
  34712: 'JPEG 2000',
  50002: 'JPEG XL',
  52546: 'JPEG XL',
  34661: 'JBIG',
}

async function readCoding(fields: Fields, sample: SampleType, bandCount: number): Promise<Coding> {
  const code = await fields.number(TAG.compression, 1)
  const compression = compressionName(code)
  if (!compression) throw new RasterError('unsupported', `TIFF compression ${REFUSED[code] ?? code} is not supported`)
  const photometric = await fields.number(TAG.photometric, PHOTOMETRIC.minIsBlack)
  assertPhotometric(photometric, compression)
  if (isFax(compression) && (sample.bits !== 1 || bandCount !== 1))
    throw new RasterError('unsupported', 'Fax compression requires one band of 1-bit samples')
  const greyBits = GREY_BITS[compression]
  if (greyBits !== undefined && (sample.bits !== greyBits || bandCount !== 1))
    throw new RasterError('unsupported', `TIFF compression ${compression} requires one band of ${greyBits}-bit samples`)
  const planar = (await fields.number(TAG.planarConfiguration, 1)) === 2 && bandCount > 1
  const predictor = await readPredictor(fields, compression, sample)
  const isPlainYcbcr = photometric === PHOTOMETRIC.ycbcr && !PICTURE_CODECS.has(compression)
  if (photometric === PHOTOMETRIC.cmyk && (planar || bandCount !== 4 || sample.bits !== 8)) {
    throw new RasterError('unsupported', 'CMYK is supported with four interleaved 8-bit bands only')
  }
  if (photometric === PHOTOMETRIC.cielab && (planar || bandCount !== 3 || sample.bits !== 8)) {
    throw new RasterError('unsupported', 'CIELab is supported with three interleaved 8-bit bands only')
  }
  if (compression === 'oldJpeg' && (photometric !== PHOTOMETRIC.ycbcr || planar || bandCount !== 3 || sample.bits !== 8)) {
    throw new RasterError('unsupported', 'Old-style JPEG is supported with three interleaved YCbCr bands only')
  }
  assertLogarithmic(compression, photometric, { planar, bandCount, bits: sample.bits, isFloat: sample.isFloat })
  if (isPlainYcbcr && (planar || bandCount !== 3 || sample.bits !== 8 || predictor !== 1)) {
    throw new RasterError('unsupported', 'YCbCr without JPEG is supported with three interleaved 8-bit bands only')
  }
  return {
    compression,
    predictor,
    ycbcr: isPlainYcbcr ? await readYcbcr(fields) : null,
    t4Options: await fields.number(TAG.t4Options, 0),
    whitePoint: photometric === PHOTOMETRIC.cielab ? await readWhitePoint(fields) : null,
    planar,
    photometric,
    extraSamples: (await fields.numbers(TAG.extraSamples)) ?? [],
    reversedBits: (await fields.number(TAG.fillOrder, 1)) === 2,
    jpegTables: compression === 'jpeg' ? await fields.bytes(TAG.jpegTables) : null,
    lercWrapper: compression === 'lerc' ? await readLercWrapper(fields) : 'none',
  }
}

/** Compressions for one kind of image. */
const GREY_BITS: Partial<Record<CompressionName, number>> = { next: 2, thunderscan: 4 }

const isFax = (compression: CompressionName): boolean => compression.startsWith('ccitt')

async function readYcbcr(fields: Fields): Promise<YcbcrCoding> {
  const [across = 2, down = 2] = (await fields.numbers(TAG.ycbcrSubsampling)) ?? []
  if (![1, 2, 4].includes(across) || ![1, 2, 4].includes(down))
    throw new RasterError('corrupt', 'The TIFF has an invalid chroma subsampling')
  const [red = 0.299, green = 0.587, blue = 0.114] = (await fields.numbers(TAG.ycbcrCoefficients)) ?? []
  const reference = (await fields.numbers(TAG.referenceBlackWhite)) ?? [0, 255, 128, 255, 128, 255]
  const isUsable = green !== 0 && [red, green, blue, ...reference].every(Number.isFinite) && reference.length >= 6
  if (!isUsable || [0, 2, 4].some((i) => reference[i] === reference[i + 1]))
    throw new RasterError('corrupt', 'The TIFF has invalid YCbCr coefficients')
  return { across, down, coefficients: [red, green, blue], reference }
}

async function readWhitePoint(fields: Fields): Promise<[number, number] | null> {
  const [x, y] = (await fields.numbers(TAG.whitePoint)) ?? []
  if (x === undefined || y === undefined) return null
  if (!(x > 0 && y > 0 && x + y <= 1)) throw new RasterError('corrupt', 'The TIFF has an invalid white point')
  return [x, y]
}

/** SGI's compressions are for LogLuv with or without colour, which exists in no other compression. */
function assertLogarithmic(
  compression: CompressionName,
  photometric: number,
  shape: { planar: boolean; bandCount: number; bits: number; isFloat: boolean },
): void {
  const isCoded = compression === 'sgilog' || compression === 'sgilog24'
  const bands = photometric === PHOTOMETRIC.logLuv ? 3 : photometric === PHOTOMETRIC.logL && compression === 'sgilog' ? 1 : null
  if (!isCoded && photometric !== PHOTOMETRIC.logL && photometric !== PHOTOMETRIC.logLuv) return
  if (!isCoded || bands !== shape.bandCount || shape.planar || shape.bits !== 16 || shape.isFloat)
    throw new RasterError(
      'unsupported',
      `LogLuv is supported with one or three interleaved bands of 16-bit integers in SGI's encoding only`,
    )
}

/** GDAL supports only CIELab too; CMYK inside JPEG is stored in two opposite ways. */
function assertPhotometric(photometric: number, compression: CompressionName): void {
  const isConverted = photometric === PHOTOMETRIC.cmyk || photometric === PHOTOMETRIC.cielab
  if (REFUSED_LAB.has(photometric) || (isConverted && WHOLE_PICTURES.has(compression))) {
    throw new RasterError('unsupported', `TIFF photometric interpretation ${photometric} is not supported with ${compression}`)
  }
}

const REFUSED_LAB: ReadonlySet<number> = new Set([PHOTOMETRIC.icclab, PHOTOMETRIC.itulab])
/** Codecs that give samples rather than bytes. */
const WHOLE_PICTURES: ReadonlySet<CompressionName> = new Set(['jpeg', 'oldJpeg', 'webp', 'lerc'])
/** Codecs that convert YCbCr to colours themselves. */
const PICTURE_CODECS: ReadonlySet<CompressionName> = new Set(['jpeg', 'oldJpeg', 'webp'])

const PREDICTED: ReadonlySet<CompressionName> = new Set(['lzw', 'deflate', 'zstd', 'lzma'])

async function readPredictor(fields: Fields, compression: CompressionName, sample: SampleType): Promise<1 | 2 | 3> {
  // As in libtiff, the tag is ignored for other codecs.
  if (!PREDICTED.has(compression)) return 1
  const predictor = await fields.number(TAG.predictor, 1)
  const wholeBytes = sample.bits === 8 || sample.bits === 16 || sample.bits === 32 || sample.bits === 64
  if (predictor === 1) return 1
  if (sample.isComplex) throw new RasterError('unsupported', `TIFF predictor ${predictor} is not supported for complex samples`)
  if (predictor === 2 && wholeBytes) return 2
  if (predictor === 3 && sample.isFloat) return 3
  throw new RasterError('unsupported', `TIFF predictor ${predictor} is not supported for ${sample.bits}-bit samples`)
}

async function readLercWrapper(fields: Fields): Promise<'none' | 'deflate' | 'zstd'> {
  const wrapper = (await fields.numbers(TAG.lercParameters))?.[1] ?? 0
  if (wrapper === 0) return 'none'
  if (wrapper === 1) return 'deflate'
  if (wrapper === 2) return 'zstd'
  throw new RasterError('unsupported', `LERC with additional compression ${wrapper} is not supported`)
}
