/** Animated GIFs: a palette for each frame, compressed with LZW, repeated for ever. */
import { ByteWriter } from './byte-writer.ts'
import { indexColours } from './palette.ts'

const MAX_CODE_BITS = 12
const CENTISECONDS = 100

interface GifSize {
  width: number
  height: number
}

/** Frames are added one by one, so that only the file and one frame are in memory. */
export class GifEncoder {
  readonly #file = new ByteWriter()
  readonly #size: GifSize
  readonly #delay: number

  /** Each frame is shown for `seconds`, which the format rounds to hundredths; upwards, so that it never flickers faster. */
  constructor(size: GifSize, seconds: number) {
    this.#size = size
    this.#delay = Math.ceil(Number((seconds * CENTISECONDS).toFixed(6)))
    const file = this.#file
    file.text('GIF89a')
    file.number(size.width, 2)
    file.number(size.height, 2)
    file.bytes([0x70, 0, 0]) // Colours of 8 bits, no palette for all frames.
    file.bytes([0x21, 0xff, 11])
    file.text('NETSCAPE2.0')
    file.bytes([3, 1, 0, 0, 0]) // Again and again.
  }

  /** `pixels` has red, green, blue and alpha of each pixel. */
  add(pixels: Uint8ClampedArray): void {
    const { palette, indices } = indexColours(pixels)
    const bits = Math.max(2, Math.ceil(Math.log2(palette.length / 3)))
    const file = this.#file
    file.bytes([0x21, 0xf9, 4, 0x04]) // Each frame stays until the next one covers it.
    file.number(this.#delay, 2)
    file.bytes([0, 0])
    file.byte(0x2c)
    file.number(0, 2)
    file.number(0, 2)
    file.number(this.#size.width, 2)
    file.number(this.#size.height, 2)
    file.byte(0x80 | (bits - 1))
    file.bytes(palette)
    file.bytes(new Uint8Array(3 * 2 ** bits - palette.length))
    file.byte(bits)
    writeBlocks(file, compress(indices, bits))
    file.byte(0)
  }

  finish(): Uint8Array<ArrayBuffer> {
    this.#file.byte(0x3b)
    return this.#file.take()
  }
}

const MAX_BLOCK = 255

function writeBlocks(file: ByteWriter, data: Uint8Array): void {
  for (let at = 0; at < data.length; at += MAX_BLOCK) {
    const block = data.subarray(at, at + MAX_BLOCK)
    file.byte(block.length)
    file.bytes(block)
  }
}

const TABLE_BITS = 14
const TABLE_SIZE = 1 << TABLE_BITS
const GOLDEN = 0x9e3779b1

/** LZW with codes that grow from `bits` + 1 to 12 bits. */
function compress(indices: Uint8Array, bits: number): Uint8Array {
  const out = new ByteWriter()
  const [clear, end] = [1 << bits, (1 << bits) + 1]
  let [buffer, filled, size, next] = [0, 0, bits + 1, end + 1]
  const write = (code: number) => {
    buffer |= code << filled
    filled += size
    while (filled >= 8) {
      out.byte(buffer & 255)
      buffer >>>= 8
      filled -= 8
    }
  }
  // Open addressing: a key is a known sequence and the colour that follows it; a Map is several times slower.
  const keys = new Int32Array(TABLE_SIZE).fill(-1)
  const codes = new Uint16Array(TABLE_SIZE)
  write(clear)
  let prefix = indices[0]!
  for (let at = 1; at < indices.length; at++) {
    const key = (prefix << 8) | indices[at]!
    let slot = Math.imul(key, GOLDEN) >>> (32 - TABLE_BITS)
    while (keys[slot] !== -1 && keys[slot] !== key) slot = (slot + 1) & (TABLE_SIZE - 1)
    if (keys[slot] === key) {
      prefix = codes[slot]!
      continue
    }
    write(prefix)
    prefix = indices[at]!
    if (next < 1 << MAX_CODE_BITS) {
      if (next === 1 << size) size++
      keys[slot] = key
      codes[slot] = next++
    } else {
      write(clear)
      keys.fill(-1)
      ;[size, next] = [bits + 1, end + 1]
    }
  }
  write(prefix)
  write(end)
  if (filled > 0) out.byte(buffer & 255)
  return out.take()
}
