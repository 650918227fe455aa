import { RasterError } from '#raster/errors.ts'

/**
 * TIFF's LZW. A table entry is not a chain of bytes but a position in the output, where every string of
 * the table has been written, so that decoding a code is one copy.
 *
 * Two dialects exist: the standard one packs codes from the high bit and widens one code early;
 * writers before 1992 packed from the low bit and widened late. As in libtiff, the old one is recognized
 * by its first code, a clear code, whose bytes cannot begin a standard stream.
 */

const CLEAR = 256
const END = 257
const FIRST_FREE = 258
const TABLE_SIZE = 4096
const MIN_WIDTH = 9
const MAX_WIDTH = 12
/** Above this length, the engine's copy function is faster than a loop. */
const LONG_COPY_BYTES = 24

interface Dialect {
  readonly lowBitFirst: boolean
  /** How many codes before the table is full the code width increases. */
  readonly early: 0 | 1
}

const STANDARD: Dialect = { lowBitFirst: false, early: 1 }
const OLD: Dialect = { lowBitFirst: true, early: 0 }

export function decodeLzw(input: Uint8Array, outputBytes: number): Uint8Array {
  const isOld = input.length >= 2 && input[0] === 0 && ((input[1] ?? 0) & 1) === 1
  return new LzwDecoder(input, isOld ? OLD : STANDARD).decode(outputBytes)
}

class LzwDecoder {
  readonly #input: Uint8Array
  readonly #dialect: Dialect
  readonly #starts = new Uint32Array(TABLE_SIZE)
  readonly #lengths = new Uint32Array(TABLE_SIZE)
  #at = 0
  #bits = 0
  #bitCount = 0

  constructor(input: Uint8Array, dialect: Dialect) {
    this.#input = input
    this.#dialect = dialect
  }

  decode(outputBytes: number): Uint8Array {
    const out = new Uint8Array(outputBytes)
    const starts = this.#starts
    const lengths = this.#lengths
    const early = this.#dialect.early
    let width = MIN_WIDTH
    let next = FIRST_FREE
    let done = 0
    let lastStart = 0
    let lastLength = 0
    while (done < outputBytes) {
      const code = this.#read(width)
      if (code === END) break
      if (code === CLEAR) {
        width = MIN_WIDTH
        next = FIRST_FREE
        lastLength = 0
        continue
      }
      const start = done
      if (code < CLEAR) out[done++] = code
      else if (code < next) done = copy(out, starts[code] ?? 0, lengths[code] ?? 0, done)
      else if (code === next && lastLength > 0) {
        done = copy(out, lastStart, lastLength, done)
        if (done < outputBytes) out[done++] = out[start] ?? 0
      } else throw damaged('a code is not in the table')
      if (lastLength > 0 && next < TABLE_SIZE) {
        starts[next] = lastStart
        lengths[next] = lastLength + 1
        next++
        if (next + early >= 1 << width && width < MAX_WIDTH) width++
      }
      lastStart = start
      lastLength = done - start
    }
    if (done < outputBytes) throw damaged('it is truncated')
    return out
  }

  #read(width: number): number {
    while (this.#bitCount < width) {
      if (this.#at >= this.#input.length) return END
      const byte = this.#input[this.#at++] ?? 0
      if (this.#dialect.lowBitFirst) this.#bits |= byte << this.#bitCount
      else this.#bits = ((this.#bits << 8) | byte) & 0xffffff
      this.#bitCount += 8
    }
    this.#bitCount -= width
    const mask = (1 << width) - 1
    if (!this.#dialect.lowBitFirst) return (this.#bits >>> this.#bitCount) & mask
    const code = this.#bits & mask
    this.#bits >>>= width
    return code
  }
}

/** Copies a string that is already in the output; returns the new end, never past the buffer. */
function copy(out: Uint8Array, start: number, length: number, at: number): number {
  const count = Math.min(length, out.length - at)
  if (count > LONG_COPY_BYTES && start + count <= at) out.copyWithin(at, start, start + count)
  else for (let i = 0; i < count; i++) out[at + i] = out[start + i] ?? 0
  return at + count
}

function damaged(detail: string): RasterError {
  return new RasterError('corrupt', `An LZW block of the raster is damaged: ${detail}`)
}
