/** Unpacks stored samples to arrays: byte order, unusual bit widths, small floats. */

/** Reverses the order of the bits in each byte (FillOrder 2), into a copy. */
export function reverseBits(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes, (byte) => REVERSED[byte] ?? 0)
}

const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) => {
  let reversed = 0
  for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) reversed |= 0x80 >> bit
  return reversed
})

/** Swaps the bytes of each sample in place. */
export function swapBytes(bytes: Uint8Array, sampleBytes: number): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (sampleBytes === 2) buffer.swap16()
  else if (sampleBytes === 3) swapTriples(bytes)
  else if (sampleBytes === 4) buffer.swap32()
  else if (sampleBytes === 8) buffer.swap64()
}

function swapTriples(bytes: Uint8Array): void {
  for (let i = 0; i + 2 < bytes.length; i += 3) {
    const first = bytes[i]!
    bytes[i] = bytes[i + 2]!
    bytes[i + 2] = first
  }
}

interface PackedShape {
  readonly bits: number
  readonly rowSamples: number
  readonly rows: number
}

/** Unsigned integers of 1–31 bits, packed from the high bit; each row starts at a byte boundary. */
export function unpackBits(packed: Uint8Array, shape: PackedShape): Uint8Array | Uint16Array | Uint32Array {
  const { bits, rowSamples, rows } = shape
  const count = rowSamples * rows
  const out = bits <= 8 ? new Uint8Array(count) : bits <= 16 ? new Uint16Array(count) : new Uint32Array(count)
  const rowBytes = Math.ceil((rowSamples * bits) / 8)
  if (bits === 1) unpackSingleBits(packed, out, { rowSamples, rows, rowBytes })
  else
    for (let row = 0; row < rows; row++)
      unpackRow(packed.subarray(row * rowBytes, (row + 1) * rowBytes), out, { bits, first: row * rowSamples, count: rowSamples })
  return out
}

function unpackSingleBits(
  packed: Uint8Array,
  out: Uint8Array | Uint16Array | Uint32Array,
  { rowSamples, rows, rowBytes }: { rowSamples: number; rows: number; rowBytes: number },
): void {
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < rowSamples; i++) {
      out[row * rowSamples + i] = ((packed[row * rowBytes + (i >> 3)] ?? 0) >> (7 - (i & 7))) & 1
    }
  }
}

function unpackRow(
  packed: Uint8Array,
  out: Uint8Array | Uint16Array | Uint32Array,
  row: { bits: number; first: number; count: number },
): void {
  let at = 0
  // Up to 7 remaining bits and 31 new ones exceed 32-bit integers, so multiply instead of shifting.
  let kept = 0
  let keptBits = 0
  for (let i = 0; i < row.count; i++) {
    while (keptBits < row.bits) {
      kept = kept * 256 + (packed[at++] ?? 0)
      keptBits += 8
    }
    keptBits -= row.bits
    const scale = 2 ** keptBits
    const value = Math.floor(kept / scale)
    out[row.first + i] = value
    kept -= value * scale
  }
}

/** Reinterprets the highest bit as the sign. */
export function signExtend(samples: Uint8Array | Uint16Array | Uint32Array, bits: number): Int8Array | Int16Array | Int32Array {
  const out = bits <= 8 ? new Int8Array(samples.length) : bits <= 16 ? new Int16Array(samples.length) : new Int32Array(samples.length)
  const shift = 32 - bits
  for (let i = 0; i < samples.length; i++) out[i] = (samples[i]! << shift) >> shift
  return out
}

/** 24-bit floats (7 bits exponent, 16 bits fraction), little-endian. */
export function widenTriples(bytes: Uint8Array): Float32Array {
  const out = new Float32Array(Math.floor(bytes.length / 3))
  for (let i = 0; i < out.length; i++) {
    const top = bytes[i * 3 + 2]!
    const fraction = bytes[i * 3]! | (bytes[i * 3 + 1]! << 8)
    const exponent = top & 0x7f
    const sign = top & 0x80 ? -1 : 1
    if (exponent === 0x7f) out[i] = fraction ? NaN : sign * Infinity
    else if (exponent === 0) out[i] = sign * fraction * 2 ** -78
    else out[i] = sign * (1 + fraction / 65_536) * 2 ** (exponent - 63)
  }
  return out
}

/** Converts complex samples in native byte order to their magnitudes. */
export function magnitudes(
  bytes: Uint8Array,
  { partBytes, isFloat }: { partBytes: number; isFloat: boolean },
): Float32Array | Float64Array {
  const { buffer, byteOffset, byteLength } = bytes
  const count = byteLength / partBytes
  const parts = isFloat
    ? partBytes === 4
      ? new Float32Array(buffer, byteOffset, count)
      : new Float64Array(buffer, byteOffset, count)
    : partBytes === 2
      ? new Int16Array(buffer, byteOffset, count)
      : new Int32Array(buffer, byteOffset, count)
  const isSingle = isFloat ? partBytes === 4 : partBytes === 2
  const out = isSingle ? new Float32Array(count / 2) : new Float64Array(count / 2)
  for (let i = 0; i < out.length; i++) out[i] = Math.sqrt(parts[2 * i]! ** 2 + parts[2 * i + 1]! ** 2)
  return out
}

/** Converts IEEE half floats in native byte order to single floats. */
export function widenHalves(halves: Uint16Array): Float32Array {
  const out = new Float32Array(halves.length)
  for (let i = 0; i < halves.length; i++) out[i] = halfToNumber(halves[i] ?? 0)
  return out
}

export function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? NaN : sign * Infinity
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
