import { RasterError } from '#raster/errors.ts'

/** NeXT's 2-bit greyscale compression: each row is stored literally, in part, or as runs. */

const LITERAL_ROW = 0x00
const LITERAL_SPAN = 0x40
const SPAN_HEADER_BYTES = 4
const PIXELS_A_BYTE = 4
const WHITE = 0xff

interface NextShape {
  readonly width: number
  readonly rows: number
}

/** Packed pixels, four per byte, the first in the highest bits. */
export function decodeNext(stored: Uint8Array, { width, rows }: NextShape): Uint8Array {
  const rowBytes = Math.ceil(width / PIXELS_A_BYTE)
  const out = new Uint8Array(rowBytes * rows).fill(WHITE)
  let at = 0
  for (let start = 0; start < out.length; start += rowBytes) {
    const row = out.subarray(start, start + rowBytes)
    const code = stored[at++]
    if (code === undefined) throw damaged()
    if (code === LITERAL_ROW) at = copied(stored, at, row, { from: 0, count: rowBytes })
    else if (code === LITERAL_SPAN) {
      const number = (offset: number): number => ((stored[at + offset] ?? 0) << 8) | (stored[at + offset + 1] ?? 0)
      at = copied(stored, at + SPAN_HEADER_BYTES, row, { from: number(0), count: number(2) })
    } else at = unrun(stored, at - 1, row, width)
  }
  return out
}

function copied(stored: Uint8Array, at: number, row: Uint8Array, { from, count }: { from: number; count: number }): number {
  if (at + count > stored.length || from + count > row.length) throw damaged()
  row.set(stored.subarray(at, at + count), from)
  return at + count
}

/** Each byte has a 2-bit value and a 6-bit count. */
function unrun(stored: Uint8Array, first: number, row: Uint8Array, width: number): number {
  let at = first
  for (let pixel = 0; pixel < width;) {
    const code = stored[at++]
    if (code === undefined) throw damaged()
    const end = Math.min(width, pixel + (code & 0x3f))
    for (; pixel < end; pixel++) {
      const shift = 6 - 2 * (pixel % PIXELS_A_BYTE)
      const byte = Math.floor(pixel / PIXELS_A_BYTE)
      row[byte] = (row[byte]! & ~(3 << shift)) | ((code >> 6) << shift)
    }
  }
  return at
}

const damaged = (): RasterError => new RasterError('corrupt', 'A NeXT block of the raster is damaged')
