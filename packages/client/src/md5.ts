/** MD5 of a part, which object stores compare with what arrives. Browsers have none, so it is here; Node's own is faster. */

/** In base64, as `Content-MD5` has it, and in hexadecimal, as object stores list it. */
interface Digest {
  readonly base64: string
  readonly hex: string
}

const SLICE_BYTES = 4 * 1024 * 1024
const BLOCK_BYTES = 64
const SHIFTS = Int32Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21)
const SINES = Int32Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32))

interface Hash {
  update(bytes: Uint8Array): void
  digest(): Uint8Array
}

/** Reads a slice at a time, so that a part of any size needs little memory. */
export async function md5Of(data: Uint8Array | Blob): Promise<Digest> {
  const hash = nativeHash() ?? new Md5()
  const size = data instanceof Blob ? data.size : data.length
  for (let from = 0; from < size; from += SLICE_BYTES) {
    const to = Math.min(size, from + SLICE_BYTES)
    hash.update(data instanceof Blob ? new Uint8Array(await data.slice(from, to).arrayBuffer()) : data.subarray(from, to))
  }
  const bytes = [...hash.digest()]
  return {
    base64: btoa(String.fromCharCode(...bytes)),
    hex: bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(''),
  }
}

interface NodeProcess {
  getBuiltinModule?(name: string): { createHash(name: string): Hash } | undefined
}

/** Null in a browser, and where MD5 is switched off. */
function nativeHash(): Hash | null {
  try {
    return (globalThis as { process?: NodeProcess }).process?.getBuiltinModule?.('node:crypto')?.createHash('md5') ?? null
  } catch {
    return null
  }
}

/** RFC 1321. */
export class Md5 implements Hash {
  readonly #state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)
  readonly #rest = new Uint8Array(BLOCK_BYTES)
  readonly #words = new Int32Array(16)
  #restLength = 0
  #length = 0

  update(bytes: Uint8Array): void {
    this.#length += bytes.length
    let at = 0
    if (this.#restLength > 0) {
      at = Math.min(bytes.length, BLOCK_BYTES - this.#restLength)
      this.#rest.set(bytes.subarray(0, at), this.#restLength)
      this.#restLength += at
      if (this.#restLength < BLOCK_BYTES) return
      this.#mix(this.#rest, 0)
      this.#restLength = 0
    }
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) this.#mix(bytes, at)
    this.#rest.set(bytes.subarray(at))
    this.#restLength = bytes.length - at
  }

  digest(): Uint8Array {
    const bits = this.#length * 8
    const padding = new Uint8Array(((this.#restLength < 56 ? 56 : 120) - this.#restLength + 8) | 0)
    padding[0] = 0x80
    const view = new DataView(padding.buffer)
    view.setUint32(padding.length - 8, bits >>> 0, true)
    view.setUint32(padding.length - 4, Math.floor(bits / 2 ** 32), true)
    this.update(padding)
    const out = new DataView(new ArrayBuffer(16))
    for (const [index, word] of this.#state.entries()) out.setInt32(index * 4, word, true)
    return new Uint8Array(out.buffer)
  }

  /** A loop for each round: a browser spends all its time here. */
  #mix(bytes: Uint8Array, at: number): void {
    const words = this.#words
    const state = this.#state
    for (let index = 0, from = at; index < 16; index++, from += 4)
      words[index] = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24)
    let a = state[0]!
    let b = state[1]!
    let c = state[2]!
    let d = state[3]!
    for (let step = 0; step < 16; step++) {
      const sum = (a + ((b & c) | (~b & d)) + SINES[step]! + words[step]!) | 0
      const shift = SHIFTS[step & 3]!
      a = d
      d = c
      c = b
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0
    }
    for (let step = 16; step < 32; step++) {
      const sum = (a + ((d & b) | (~d & c)) + SINES[step]! + words[(5 * step + 1) & 15]!) | 0
      const shift = SHIFTS[4 + (step & 3)]!
      a = d
      d = c
      c = b
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0
    }
    for (let step = 32; step < 48; step++) {
      const sum = (a + (b ^ c ^ d) + SINES[step]! + words[(3 * step + 5) & 15]!) | 0
      const shift = SHIFTS[8 + (step & 3)]!
      a = d
      d = c
      c = b
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0
    }
    for (let step = 48; step < 64; step++) {
      const sum = (a + (c ^ (b | ~d)) + SINES[step]! + words[(7 * step) & 15]!) | 0
      const shift = SHIFTS[12 + (step & 3)]!
      a = d
      d = c
      c = b
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0
    }
    state[0] = state[0]! + a
    state[1] = state[1]! + b
    state[2] = state[2]! + c
    state[3] = state[3]! + d
  }
}
