import { headerFromTables, headerOf } from '#raster/codec/old-jpeg.ts'
import { RasterError } from '#raster/errors.ts'
import type { Fields } from '#raster/tiff/fields.ts'
import { TAG } from '#raster/tiff/tags.ts'
import type { Source } from '#raster/types.ts'

const COMPONENTS = 3
/** Headers of streams, with profiles that some writers put there. */
const MAX_HEADER_BYTES = 256 * 1024
/** Of a table: sixteen counts and at most 256 codes. */
const MAX_TABLE_BYTES = 272

interface OldShape {
  readonly width: number
  readonly height: number
}

/** Everything before the scan of an old-style JPEG, however the file stores it. */
export async function readOldJpegHeader(source: Source, fields: Fields, { width, height }: OldShape): Promise<Uint8Array> {
  const at = async (offset: number, most: number): Promise<Uint8Array> => {
    const length = Math.min(most, source.size - offset)
    if (!(offset > 0) || !(length > 0)) throw new RasterError('corrupt', 'The old-style JPEG of the raster points outside the file')
    return await source.fetch(offset, length)
  }
  const stream = await fields.number(TAG.oldJpegStream, 0)
  if (stream > 0) {
    const length = await fields.number(TAG.oldJpegStreamLength, 0)
    return headerOf(await at(stream, length > 0 ? Math.min(length, MAX_HEADER_BYTES) : MAX_HEADER_BYTES))
  }
  const tables = async (tag: number): Promise<Uint8Array[]> => {
    const offsets = (await fields.numbers(tag)) ?? []
    if (offsets.length !== COMPONENTS) throw new RasterError('corrupt', 'The old-style JPEG of the raster has no tables')
    return await Promise.all(offsets.map((offset) => at(offset, MAX_TABLE_BYTES)))
  }
  const [across = 2, down = 2] = (await fields.numbers(TAG.ycbcrSubsampling)) ?? []
  if (![1, 2, 4].includes(across) || ![1, 2, 4].includes(down))
    throw new RasterError('corrupt', 'The TIFF has an invalid chroma subsampling')
  return headerFromTables({
    width,
    height,
    sampling: [across, down],
    quantizers: await tables(TAG.oldJpegQuantizers),
    dcCodes: await tables(TAG.oldJpegDcCodes),
    acCodes: await tables(TAG.oldJpegAcCodes),
    restartInterval: await fields.number(TAG.oldJpegRestartInterval, 0),
  })
}
