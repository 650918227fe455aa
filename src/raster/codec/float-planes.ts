/**
 * Undoes the floating-point predictor for one band: sums the byte differences and joins the byte planes (highest byte first) in one
 * pass, four samples at a time. Two bytes share one number and are added at once; overflow is masked after each sum.
 */

/** Masks the first and third byte of a word, or the second and fourth after a shift. */
const BYTES = 0x00ff00ff
const SAMPLES_AT_ONCE = 4
const PLANES_AT_ONCE = 4

interface FloatRows {
  /** Samples per row: a multiple of four. */
  readonly rowSamples: number
  readonly rows: number
  /** Bytes per sample: 4 or 8. */
  readonly sampleBytes: number
}

/** Whether `joinPlanes` supports this layout. */
export const joinsPlanes = (rowSamples: number, stride: number, sampleBytes: number): boolean =>
  stride === 1 && rowSamples % SAMPLES_AT_ONCE === 0 && (sampleBytes === 4 || sampleBytes === 8)

/** Both arrays must be aligned to four bytes. */
export function joinPlanes(planes: Uint8Array, out: Uint8Array, { rowSamples, rows, sampleBytes }: FloatRows): void {
  const from = new Int32Array(planes.buffer, planes.byteOffset, planes.byteLength / 4)
  const to = new Int32Array(out.buffer, out.byteOffset, out.byteLength / 4)
  const planeWords = rowSamples / SAMPLES_AT_ONCE
  const wordsPerSample = sampleBytes / 4
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples * wordsPerSample
    // The first four planes are the higher words of doubles; singles have no others.
    let before = 0
    for (let word = wordsPerSample - 1; word >= 0; word--) {
      const first = start + (wordsPerSample - 1 - word) * PLANES_AT_ONCE * planeWords
      before = joinFour(from, first, { to, at: start + word, step: wordsPerSample }, planeWords, before)
    }
  }
}

/** The sum of a plane's bytes and the sum before it; it fits for up to 2^23 bytes. */
function sumOf(words: Int32Array, start: number, end: number, before: number): number {
  let sum = before
  for (let i = start; i < end; i++) {
    const word = words[i]!
    const pairs = (word & BYTES) + ((word >>> 8) & BYTES)
    sum = (sum + (pairs & 0xffff) + (pairs >>> 16)) | 0
  }
  return sum & 0xff
}

interface Joined {
  readonly to: Int32Array
  readonly at: number
  /** Distance between samples in words. */
  readonly step: number
}

/** Joins four planes to words. Each plane continues from the sum of the previous one; returns the sum of all. */
function joinFour(from: Int32Array, first: number, { to, at, step }: Joined, planeWords: number, before: number): number {
  const [second, third, fourth] = [first + planeWords, first + 2 * planeWords, first + 3 * planeWords]
  let a = before
  let b = sumOf(from, first, second, a)
  let c = sumOf(from, second, third, b)
  let d = sumOf(from, third, fourth, c)
  for (let i = 0, out = at; i < planeWords; i++, out += SAMPLES_AT_ONCE * step) {
    // For each plane: the sums up to its first and third byte, then up to its second and fourth.
    let word = from[first + i]!
    let odd = word & BYTES
    let pair = odd + ((word >>> 8) & BYTES)
    let base = (a | (a << 16)) + (pair << 16)
    let high = ((base + odd) & BYTES) << 8
    let highNext = (base + pair) & BYTES
    a = highNext >>> 16
    highNext <<= 8

    word = from[second + i]!
    odd = word & BYTES
    pair = odd + ((word >>> 8) & BYTES)
    base = (b | (b << 16)) + (pair << 16)
    high |= (base + odd) & BYTES
    let sums = (base + pair) & BYTES
    b = sums >>> 16
    highNext |= sums

    word = from[third + i]!
    odd = word & BYTES
    pair = odd + ((word >>> 8) & BYTES)
    base = (c | (c << 16)) + (pair << 16)
    let low = ((base + odd) & BYTES) << 8
    let lowNext = (base + pair) & BYTES
    c = lowNext >>> 16
    lowNext <<= 8

    word = from[fourth + i]!
    odd = word & BYTES
    pair = odd + ((word >>> 8) & BYTES)
    base = (d | (d << 16)) + (pair << 16)
    low |= (base + odd) & BYTES
    sums = (base + pair) & BYTES
    d = sums >>> 16
    lowNext |= sums

    to[out] = (high << 16) | (low & 0xffff)
    to[out + step] = (highNext << 16) | (lowNext & 0xffff)
    to[out + 2 * step] = (high & ~0xffff) | (low >>> 16)
    to[out + 3 * step] = (highNext & ~0xffff) | (lowNext >>> 16)
  }
  return d
}
