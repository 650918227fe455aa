import { RasterError } from '#raster/errors.ts'

/** Rejects a range that is not inside a file of `size` bytes. */
export function assertRange(offset: number, length: number, size: number): void {
  const sane = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0
  if (!sane || offset + length > size) {
    throw new RasterError('corrupt', `The file is truncated: bytes ${offset} to ${offset + length - 1} are missing from its ${size} bytes`)
  }
}
