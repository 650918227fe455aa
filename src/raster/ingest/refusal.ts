/** Why a file is not taken, in words for whoever made it. */
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'

/** First bytes, as text of one byte a character. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['BM', 'a bitmap image'],
  ['RIFF', 'a WebP image'],
  ['PK\x03\x04', 'a ZIP archive: unpack it and upload the .tif files in it'],
  ['\x1f\x8b', 'a gzip archive: unpack it first'],
  ['%PDF', 'a PDF document'],
  ['\x89HDF', 'an HDF5 or NetCDF-4 file'],
  ['CDF', 'a NetCDF file'],
  ['\x00\x00\x00\x0cjP', 'a JPEG 2000 image'],
  ['\xff\x4f\xff\x51', 'a JPEG 2000 image'],
  ['EHFA', 'an ERDAS Imagine file'],
  ['NITF', 'a NITF file'],
  ['GRIB', 'a GRIB file'],
  ['{', 'a text in JSON'],
  ['<', 'a text in XML or HTML'],
]
const TIFF_MAGIC = ['II*\0', 'II+\0', 'MM\0*', 'MM\0+']

/** What the first bytes of a file look like; null for a TIFF. A name says nothing. */
export function unlikeTiff(head: Uint8Array): string | null {
  const text = Buffer.from(head).toString('latin1')
  if (TIFF_MAGIC.some((magic) => text.startsWith(magic))) return null
  return (
    `It is not a GeoTIFF${describe(MAGIC.find(([magic]) => text.startsWith(magic))?.[1])}. GeoTIFF and COG files are ` +
    'taken; gdal_translate makes them from most other formats'
  )
}

const describe = (what: string | undefined): string => (what ? `, but ${what}` : '')

type Sentence = (message: string) => string
const dotless = (message: string): string => message.replace(/\.$/, '')

/** What is wrong with the file, as opposed to what went wrong here; the latter is worth another try. */
const REASONS: Partial<Record<RasterErrorCode, Sentence>> = {
  not_a_tiff: (message) => `It is not a GeoTIFF: ${dotless(message)}`,
  no_georeference: (message) =>
    `${dotless(message)}: it has no usable georeference, so it cannot be put on a map. Send \`positions\` with uploads.complete ` +
    '(`crs` with `bounds` or `gcps`); the file is kept until then, and need not be uploaded again',
  unknown_crs: (message) =>
    `Its coordinate reference system is not known here: ${dotless(message)}. Send \`positions\` with uploads.complete, with the ` +
    '`crs` that the coordinates are in; the file is kept until then. Or reproject it with gdalwarp -t_srs EPSG:4326',
  corrupt: (message) => `The file is damaged: ${dotless(message)}`,
  unsupported: (message) => `${dotless(message)}. Rewriting it with gdal_translate -of COG usually helps`,
  invalid_argument: dotless,
  too_large: (message) => `It asks for more than is allowed: ${dotless(message)}`,
  limit_exceeded: (message) =>
    `It asks for more than is allowed: ${dotless(message)}. Rewriting it with gdal_translate -of COG usually helps`,
  deadline_exceeded: () => 'Reading it takes longer than is allowed. Rewriting it with gdal_translate -of COG usually helps',
  worker_failed: () => 'The program that reads it was brought down by it. Rewriting it with gdal_translate -of COG usually helps',
}

/** Whether a position is all that a file needs to be put on a map. */
export const lacksPosition = (error: unknown): boolean =>
  error instanceof RasterError && (error.code === 'no_georeference' || error.code === 'unknown_crs')

/** Null for errors that are not the file's fault. */
export function refusalOf(error: unknown): string | null {
  return error instanceof RasterError ? (REASONS[error.code]?.(error.message) ?? null) : null
}
