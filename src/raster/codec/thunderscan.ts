import { RasterError } from '#raster/errors.ts'

/** ThunderScan's 4-bit greyscale compression: runs, small differences to the previous pixel, and literal pixels. */

const [RUN, SMALL_STEPS, LARGE_STEPS] = [0, 1, 2]
/** Differences of 2-bit and 3-bit codes; null skips a pixel. */
const SMALL: readonly (number | null)[] = [0, 1, null, -1]
const LARGE: readonly (number | null)[] = [0, 1, 2, 3, null, -3, -2, -1]

interface ThunderShape {
  readonly width: number
  readonly rows: number
}

/** Packed pixels, two per byte, the first in the high bits. */
export function decodeThunderscan(stored: Uint8Array, { width, rows }: ThunderShape): Uint8Array {
  const rowBytes = Math.ceil(width / 2)
  const out = new Uint8Array(rowBytes * rows)
  let at = 0
  for (let row = 0; row < rows; row++) {
    let pixel = 0
    let grey = 0
    const put = (): void => {
      if (pixel >= width) throw damaged()
      out[row * rowBytes + (pixel >> 1)]! |= pixel % 2 === 0 ? grey << 4 : grey
      pixel++
    }
    const step = (difference: number | null | undefined): void => {
      if (difference == null) return
      grey = (grey + difference) & 0xf
      put()
    }
    while (pixel < width) {
      const code = stored[at++]
      if (code === undefined) throw damaged()
      const kind = code >> 6
      if (kind === RUN) for (let left = code & 0x3f; left > 0; left--) put()
      else if (kind === SMALL_STEPS) for (const shift of [4, 2, 0]) step(SMALL[(code >> shift) & 3])
      else if (kind === LARGE_STEPS) for (const shift of [3, 0]) step(LARGE[(code >> shift) & 7])
      else {
        grey = code & 0xf
        put()
      }
    }
  }
  return out
}

const damaged = (): RasterError => new RasterError('corrupt', 'A ThunderScan block of the raster is damaged')
