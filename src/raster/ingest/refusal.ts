/** Why a file is rejected, in words for its author. */
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'

/** First bytes, as Latin-1 text. */
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
  ['{', 'a JSON document'],
  ['<', 'an XML or HTML document'],
]
const TIFF_MAGIC = ['II*\0', 'II+\0', 'MM\0*', 'MM\0+']

/** Describes the format of a file by its first bytes, not by its name; null for a TIFF. */
export function unlikeTiff(head: Uint8Array): string | null {
  const text = Buffer.from(head).toString('latin1')
  if (TIFF_MAGIC.some((magic) => text.startsWith(magic))) return null
  return (
    `The file is not a GeoTIFF${describe(MAGIC.find(([magic]) => text.startsWith(magic))?.[1])}. GeoTIFF and COG files are ` +
    'accepted; gdal_translate converts most other formats'
  )
}

const describe = (format: string | undefined): string => (format ? `, but ${format}` : '')

type Sentence = (message: string) => string
const dotless = (message: string): string => message.replace(/\.$/, '')

/** Errors of the file itself; other errors are ours and can be retried. */
const REASONS: Partial<Record<RasterErrorCode, Sentence>> = {
  not_a_tiff: (message) => `The file is not a GeoTIFF: ${dotless(message)}`,
  no_georeference: (message) =>
    `No usable georeference: ${dotless(message)}. Send \`positions\` with uploads.complete ` +
    '(`crs` with `bounds` or `gcps`); the file is kept and need not be uploaded again',
  unknown_crs: (message) =>
    `Unknown coordinate reference system: ${dotless(message)}. Send \`positions\` with uploads.complete, with the ` +
    '`crs` of the coordinates; the file is kept until then. Or reproject it with gdalwarp -t_srs EPSG:4326',
  corrupt: (message) => `The file is damaged: ${dotless(message)}`,
  unsupported: (message) => `${dotless(message)}. Converting it with gdal_translate -of COG usually helps`,
  invalid_argument: dotless,
  too_large: (message) => `The file is too large: ${dotless(message)}`,
  limit_exceeded: (message) => `The file exceeds a limit: ${dotless(message)}. Converting it with gdal_translate -of COG usually helps`,
  deadline_exceeded: () => 'Reading the file takes too long. Converting it with gdal_translate -of COG usually helps',
  worker_failed: () => 'Reading the file crashed the reader. Converting it with gdal_translate -of COG usually helps',
}

/** Whether a position is all that the file lacks. */
export const lacksPosition = (error: unknown): boolean =>
  error instanceof RasterError && (error.code === 'no_georeference' || error.code === 'unknown_crs')

/** Null for errors that are not the file's fault. */
export function refusalOf(error: unknown): string | null {
  return error instanceof RasterError ? (REASONS[error.code]?.(error.message) ?? null) : null
}
