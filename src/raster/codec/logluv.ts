import { CHROMA_ROWS } from '#raster/codec/logluv-rows.ts'
import { RasterError } from '#raster/errors.ts'

/**
 * SGI's LogLuv: 16-bit logarithmic luminance, alone or with two bytes of colour, run-length encoded; or everything packed into 24
 * bits. The samples are those of GDAL: the logarithm unchanged, and u and v of CIE 1976 in units of 1/32768.
 */

const CHROMA_ONE = 32_768
/** Run-length encoding: colour steps per unit of u or v. */
const CHROMA_STEPS = 410
/** 24-bit encoding: the lower edge of v and the size of its squares. */
const [FIRST_V, SQUARE] = [0.01694, 0.0035]
const NEUTRAL = [chroma(0.210526316), chroma(0.473684211)] as const
const [RUN, SHORTEST_RUN] = [128, 2]

interface LogShape {
  readonly width: number
  readonly rows: number
  readonly bands: number
  /** 24 bits per pixel, without runs. */
  readonly isPacked: boolean
}

export function decodeLogLuv(stored: Uint8Array, { width, rows, bands, isPacked }: LogShape): Int16Array {
  const pixels = isPacked ? unpacked(stored, width * rows) : fromRuns(stored, { width, rows, planes: bands === 1 ? 2 : 4 })
  const samples = new Int16Array(pixels.length * bands)
  if (bands === 1) samples.set(pixels)
  else if (isPacked) for (const [index, pixel] of pixels.entries()) samples.set(colorOfPacked(pixel), index * bands)
  else for (const [index, pixel] of pixels.entries()) samples.set(colorOf(pixel), index * bands)
  return samples
}

function unpacked(stored: Uint8Array, count: number): Uint32Array {
  if (stored.length < count * 3) throw damaged()
  return Uint32Array.from({ length: count }, (_, i) => (stored[3 * i]! << 16) | (stored[3 * i + 1]! << 8) | stored[3 * i + 2]!)
}

/** Each row is stored byte plane by byte plane: first the highest byte of all pixels, then the next. */
function fromRuns(stored: Uint8Array, { width, rows, planes }: { width: number; rows: number; planes: number }): Uint32Array {
  const pixels = new Uint32Array(width * rows)
  let at = 0
  for (let row = 0; row < rows; row++) {
    for (let shift = (planes - 1) * 8; shift >= 0; shift -= 8) {
      let column = 0
      while (column < width) {
        const head = stored[at++] ?? 0
        const isRun = head >= RUN
        const count = isRun ? head - RUN + SHORTEST_RUN : head
        if (count === 0 || column + count > width || at + (isRun ? 1 : count) > stored.length) throw damaged()
        for (let end = column + count; column < end; column++) pixels[row * width + column]! |= stored[isRun ? at : at++]! << shift
        if (isRun) at++
      }
    }
  }
  return pixels
}

function chroma(value: number): number {
  return Math.trunc(value * CHROMA_ONE)
}

const colorOf = (pixel: number): [number, number, number] => [
  pixel >>> 16,
  chroma((((pixel >>> 8) & 0xff) + 0.5) / CHROMA_STEPS),
  chroma(((pixel & 0xff) + 0.5) / CHROMA_STEPS),
]

/** Ten bits of luminance, decoded to the middle of their interval, and fourteen bits of a colour square. */
function colorOfPacked(pixel: number): readonly [number, number, number] {
  return [((pixel >>> 12) & 0xffd) + 13_314, ...(CHROMAS[pixel & 0x3fff] ?? NEUTRAL)]
}

const CHROMAS: readonly (readonly [number, number])[] = CHROMA_ROWS.flatMap(([firstU, steps], row) =>
  Array.from({ length: steps }, (_, step) => [chroma(firstU + (step + 0.5) * SQUARE), chroma(FIRST_V + (row + 0.5) * SQUARE)] as const),
)

const damaged = (): RasterError => new RasterError('corrupt', 'A LogLuv block of the raster is damaged')
