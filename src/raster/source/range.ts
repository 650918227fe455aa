import { RasterError } from '#raster/errors.ts'

/** Refuses a range that is not inside a file of `size` bytes. */
export function assertRange(offset: number, length: number, size: number): void {
  const sane = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0
  if (!sane || offset + length > size) {
    throw new RasterError('corrupt', `Bytes ${offset}+${length} lie outside the file of ${size} bytes`)
  }
}
