import type { Directory } from '#raster/tiff/directory.ts'
import type { MetadataItem } from './gdal-metadata.ts'
import { PHOTOMETRIC } from '#raster/tiff/tags.ts'
import type { Band, ColorInterpretation, DataType } from '#raster/types.ts'

const EXTRA = { associatedAlpha: 1, unassociatedAlpha: 2 } as const

/** Band metadata from GDAL's metadata and the TIFF tags. */
export function describeBands(directory: Directory, items: readonly MetadataItem[], nodata: number | null): Band[] {
  const colors = baseColors(directory)
  // The colour interpretation of the file no longer applies after the conversion.
  const isConverted = isBitmap(directory) || directory.photometric === PHOTOMETRIC.cmyk || directory.photometric === PHOTOMETRIC.cielab
  return colors.map((color, index) => {
    const role = (name: string): string | null => items.find((item) => item.sample === index && item.role === name)?.value ?? null
    const named = role('colorinterp')
    return {
      name: role('description'),
      color: (named === null || isConverted ? null : COLOR_BY_NAME.get(named.toLowerCase())) ?? color,
      nodata,
      scale: finite(role('scale'), 1),
      offset: finite(role('offset'), 0),
      unit: role('unittype'),
    }
  })
}

function finite(text: string | null, fallback: number): number {
  const value = text === null || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(value) ? value : fallback
}

const COLOR_BY_NAME = new Map<string, ColorInterpretation>(
  (['undefined', 'gray', 'palette', 'red', 'green', 'blue', 'alpha', 'cyan', 'magenta', 'yellow', 'black'] as const).map((name) => [
    name,
    name,
  ]),
)

function baseColors(directory: Directory): ColorInterpretation[] {
  const base = photometricColors(directory)
  const firstExtra = directory.bandCount - directory.extraSamples.length
  let hasAlpha = false
  return Array.from({ length: directory.bandCount }, (_, index) => {
    const extra = directory.extraSamples[index - firstExtra]
    if ((extra === EXTRA.associatedAlpha || extra === EXTRA.unassociatedAlpha) && !hasAlpha) {
      hasAlpha = true
      return 'alpha'
    }
    return base[index] ?? 'undefined'
  })
}

function photometricColors(directory: Directory): readonly ColorInterpretation[] {
  switch (directory.photometric) {
    case PHOTOMETRIC.rgb:
    // YCbCr becomes RGB while it is decoded.
    // falls through
    case PHOTOMETRIC.ycbcr:
    case PHOTOMETRIC.cielab:
      return directory.bandCount >= 3 ? ['red', 'green', 'blue'] : ['gray']
    // So does CMYK, with an alpha of 255 in the place of black, as in GDAL.
    case PHOTOMETRIC.cmyk:
      return ['red', 'green', 'blue', 'alpha']
    case PHOTOMETRIC.palette:
      return ['palette']
    default:
      return isBitmap(directory) ? ['palette'] : ['gray']
  }
}

/** A 1-bit band is black and white, not two shades of black. */
export const isBitmap = ({ sample, bandCount }: Pick<Directory, 'sample' | 'bandCount'>): boolean => bandCount === 1 && sample.bits === 1

const FLOAT32_MAX = 3.4028234663852886e38

/** GDAL's nodata text, rounded to the precision of the samples so that a plain comparison matches. */
export function parseNodata(text: string | null, dataType: DataType): number | null {
  if (text === null) return null
  const value = parseGdalNumber(text.trim())
  if (value === null) return null
  if (dataType !== 'float32' && dataType !== 'float16') return value
  const rounded = Math.fround(value)
  // Writers with few digits print the largest float above its own limit.
  return Number.isFinite(value) && !Number.isFinite(rounded) ? Math.sign(value) * FLOAT32_MAX : rounded
}

const INTEGER_RANGES: Readonly<Partial<Record<DataType, readonly [number, number]>>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  uint32: [0, 2 ** 32 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint64: [0, 2 ** 64],
  int64: [-(2 ** 63), 2 ** 63],
}

/** Whether any sample can equal the nodata value: −10000 cannot occur in bytes, and must not disable an alpha band. */
export function canHold(dataType: DataType, value: number): boolean {
  const range = INTEGER_RANGES[dataType]
  return !range || (Number.isInteger(value) && value >= range[0] && value <= range[1])
}

/** The value of sparse blocks: the nodata value, clamped to the range of the samples as in GDAL. */
export function sparseFill(dataType: DataType, nodata: number | null): number | null {
  const range = INTEGER_RANGES[dataType]
  if (nodata === null || !range) return nodata
  return Number.isNaN(nodata) ? 0 : Math.max(range[0], Math.min(range[1], Math.round(nodata)))
}

function parseGdalNumber(text: string): number | null {
  if (/^[+-]?nan/i.test(text)) return NaN
  const infinite = /^([+-]?)(?:1\.#)?inf/i.exec(text)
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity
  const value = Number.parseFloat(text)
  return Number.isNaN(value) ? null : value
}

/**
 * The palette as RGBA. TIFF stores all reds, then greens, then blues, in 16 bits; files with
 * 8-bit values there are common, and GDAL assumes them if all values are below 256.
 */
export function colorTable(map: readonly number[] | null, bits: number, nodata: number | null): Uint8Array | null {
  const count = 2 ** bits
  if (!map || bits > 16 || map.length < 3 * count) return null
  const divisor = map.some((value) => value > 255) ? 257 : 1
  const table = new Uint8Array(count * 4)
  for (let i = 0; i < count; i++) {
    table[i * 4] = Math.floor((map[i] ?? 0) / divisor)
    table[i * 4 + 1] = Math.floor((map[count + i] ?? 0) / divisor)
    table[i * 4 + 2] = Math.floor((map[2 * count + i] ?? 0) / divisor)
    table[i * 4 + 3] = i === nodata ? 0 : 255
  }
  return table
}

/** The palette of a file in which the largest value is black. */
export function invertedGrayTable(bits: number): Uint8Array | null {
  if (bits > 8) return null
  const count = 2 ** bits
  const table = new Uint8Array(count * 4)
  for (let i = 0; i < count; i++) {
    const gray = Math.floor((255 * (count - 1 - i)) / (count - 1))
    table.set([gray, gray, gray, 255], i * 4)
  }
  return table
}
