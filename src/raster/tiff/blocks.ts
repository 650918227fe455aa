import { decodeBlock } from '#raster/codec/decode.ts'
import { giveBack } from '#raster/buffers.ts'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import type { Directory } from '#raster/tiff/directory.ts'
import { EXACT_ARRAY, isBigArray } from '#raster/tiff/sample.ts'
import type { ExactSampleArray, PixelWindow, Source } from '#raster/types.ts'

/** One image of a file: the location and encoding of its bytes. */
export interface TiffImage {
  readonly source: Source
  readonly directory: Directory
}

export interface BlockAddress {
  readonly blockX: number
  readonly blockY: number
  /** Number of rows needed, from the top. */
  readonly rows: number
  /** The first row whose samples are needed; default 0. */
  readonly firstRow?: number
  readonly signal: AbortSignal | undefined
}

/** Smaller blocks are read from shared pages. */
const BORROWED_BYTES = 64 * 1024

/** Samples of one plane of a block: all bands of a chunky file, one band of a planar one. */
export async function readPlane(image: TiffImage, plane: number, address: BlockAddress, nodata: number | null): Promise<ExactSampleArray> {
  const { source, directory } = image
  const { grid } = directory
  const count = grid.blockWidth * address.rows * (directory.planar ? 1 : directory.bandCount)
  const place = await grid.place(plane, address.blockX, address.blockY)
  if (place.length === 0) return emptyPlane(directory, count, nodata)
  assertStoredSize(place.length, grid.rowBytes * grid.blockHeight)
  // Of uncompressed rows, only the needed ones are read.
  const length = directory.compression === 'none' && !directory.ycbcr ? Math.min(place.length, grid.rowBytes * address.rows) : place.length
  const isBorrowed = source.borrow !== undefined && length >= BORROWED_BYTES
  const stored = await (isBorrowed
    ? source.borrow!(place.offset, length, address.signal)
    : source.fetch(place.offset, length, address.signal))
  throwIfAborted(address.signal)
  const samples = await decodeBlock(directory, stored, {
    stored: grid.rowsOf(address.blockY),
    needed: address.rows,
    first: Math.min(address.firstRow ?? 0, address.rows),
  })
  if (isBorrowed) giveBack(stored)
  return samples.subarray(0, count)
}

/** A sparse block holds nodata, or zeros. */
function emptyPlane(directory: Directory, count: number, nodata: number | null): ExactSampleArray {
  const samples = new EXACT_ARRAY[directory.sample.dataType](count)
  if (nodata === null) return samples
  if (!isBigArray(samples)) return samples.fill(nodata)
  return Number.isFinite(nodata) ? samples.fill(BigInt(Math.trunc(nodata))) : samples
}

function assertStoredSize(stored: number, decoded: number): void {
  const most = decoded * LIMITS.storedBlockGrowth + LIMITS.storedBlockSlackBytes
  if (stored > most) throw new RasterError('corrupt', `A block of ${decoded} bytes cannot be stored in ${stored} bytes`)
}

/**
 * The mask of one block of the image. The mask can have another block size than the image, so all mask blocks
 * that touch the block are read. Outside the image it is 0; null if the whole image part is data.
 */
export async function readMaskUnder(mask: TiffImage, image: Directory, address: BlockAddress): Promise<Uint8Array | null> {
  const { directory } = mask
  const { grid } = directory
  const { blockWidth, blockHeight } = image.grid
  const x = address.blockX * blockWidth
  const y = address.blockY * blockHeight
  const window = { x, y, width: Math.min(blockWidth, directory.width - x), height: Math.min(address.rows, directory.height - y) }
  const out = new Uint8Array(blockWidth * address.rows)
  for (let by = Math.floor(y / grid.blockHeight); by * grid.blockHeight < y + window.height; by++) {
    for (let bx = Math.floor(x / grid.blockWidth); bx * grid.blockWidth < x + window.width; bx++) {
      const rows = grid.rowsOf(by)
      const samples = await readPlane(mask, 0, { ...address, blockX: bx, blockY: by, rows, firstRow: 0 }, null)
      const part = { x: bx * grid.blockWidth, y: by * grid.blockHeight, width: grid.blockWidth, height: rows }
      copyMask({ samples, part }, { mask: out, rowLength: blockWidth }, window)
    }
  }
  return isFull(out, window, blockWidth) ? null : out
}

function isFull(mask: Uint8Array, { width, height }: PixelWindow, rowLength: number): boolean {
  for (let y = 0; y < height; y++) {
    if (mask.subarray(y * rowLength, y * rowLength + width).includes(0)) return false
  }
  return true
}

/** Copies the intersection; any sample but 0 means data. */
function copyMask(
  from: { samples: ExactSampleArray; part: PixelWindow },
  to: { mask: Uint8Array; rowLength: number },
  window: PixelWindow,
): void {
  const { samples, part } = from
  const x0 = Math.max(part.x, window.x)
  const x1 = Math.min(part.x + part.width, window.x + window.width)
  const y0 = Math.max(part.y, window.y)
  const y1 = Math.min(part.y + part.height, window.y + window.height)
  for (let y = y0; y < y1; y++) {
    const row = (y - part.y) * part.width - part.x
    const target = (y - window.y) * to.rowLength - window.x
    for (let x = x0; x < x1; x++) to.mask[target + x] = samples[row + x] ? 255 : 0
  }
}
