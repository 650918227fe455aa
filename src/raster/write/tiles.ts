import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { giveBack, takeBytes } from '#raster/buffers.ts'
import { bytesPerSample, EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { ExactSampleArray } from '#raster/types.ts'
import { predict } from '#raster/write/predict.ts'
import type { CogPlan } from '#raster/write/spec.ts'
import { Frames } from '#raster/write/frames.ts'

const deflate = promisify(zlib.deflate)

/** GDAL frames each block: its size before it and its last four bytes again after it. */
export const BLOCK_LEADER_BYTES = 4
export const BLOCK_TRAILER_BYTES = 4

/** Accepted growth of tiles whose pixels are noise, for a third of the time. */
const MOST_GROWTH = 1.05

/** Rows of interleaved pixels, with one mask byte per pixel if the file has a mask. */
export interface RowBand {
  readonly width: number
  readonly rows: number
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

/**
 * Copies tiles out of rows and compresses them. Its buffers are reused: a file has thousands of tiles, and allocating costs more
 * than filling.
 */
export class TileEncoder {
  readonly #plan: CogPlan
  readonly #frames: Frames
  /** Deflate that only searches for runs, such as those outside an area; used if it is worth trying. */
  readonly #coded: Frames | null
  readonly #free: ExactSampleArray[] = []

  constructor(plan: CogPlan) {
    this.#plan = plan
    const { blockSize, bandCount, spec, compressionLevel } = plan
    const mostBytes = blockSize * blockSize * bandCount * bytesPerSample(spec.dataType)
    this.#frames = new Frames({ method: plan.compression, level: compressionLevel }, mostBytes)
    const mayBeNoise = plan.compression === 'deflate' && plan.overviews !== 'mode' && spec.compressionLevel === undefined
    this.#coded = mayBeNoise ? new Frames({ method: 'runs', level: compressionLevel }, mostBytes) : null
  }

  /**
   * Whether a tile is noise after prediction: searching it for repetitions takes two thirds of the time and finds next to none. The
   * tiles of a row share the decision, so that the same pixels always give the same file.
   */
  async isNoise(band: RowBand, tileX: number): Promise<boolean> {
    if (!this.#coded) return false
    const [searched, coded] = await Promise.all([this.encode(band, tileX, false), this.encode(band, tileX, true)])
    const isNoise = coded.byteLength <= searched.byteLength * MOST_GROWTH
    giveBack(searched)
    giveBack(coded)
    return isNoise
  }

  /** One tile of a band of rows as stored; outside the image it repeats its edge, which costs nothing after prediction. */
  async encode(band: RowBand, tileX: number, isNoise: boolean): Promise<Uint8Array> {
    const plan = this.#plan
    const tile = this.#take()
    let bytes: Uint8Array = new Uint8Array(tile.buffer, tile.byteOffset, tile.byteLength)
    if (plan.predictor === 2 && tile.BYTES_PER_ELEMENT <= 4) cutDifferences(band, tileX, plan, tile)
    else if (plan.predictor === 3 && tile.BYTES_PER_ELEMENT === 4) cutFloats(band, tileX, plan, bytes)
    else {
      cutTile(band, tileX, plan, tile)
      bytes = predict(tile, plan.predictor, { rowSamples: plan.blockSize * plan.bandCount, rows: plan.blockSize, stride: plan.bandCount })
    }
    const frames = (isNoise ? this.#coded : null) ?? this.#frames
    const stored = await frames.compress(bytes, framed)
    this.#free.push(tile)
    return stored
  }

  close(): void {
    this.#frames.close()
    this.#coded?.close()
  }

  #take(): ExactSampleArray {
    const { blockSize, bandCount, spec } = this.#plan
    return this.#free.pop() ?? new EXACT_ARRAY[spec.dataType](blockSize * blockSize * bandCount)
  }
}

/** A block as stored in the file, assembled from its parts. */
function framed(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  const out = takeBytes(BLOCK_LEADER_BYTES + length + BLOCK_TRAILER_BYTES)
  new DataView(out.buffer).setUint32(0, length, true)
  let at = BLOCK_LEADER_BYTES
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.byteLength
  }
  out.copyWithin(at, at - BLOCK_TRAILER_BYTES, at)
  return out
}

function cutTile(band: RowBand, tileX: number, { blockSize, bandCount }: CogPlan, tile: ExactSampleArray): void {
  const left = tileX * blockSize
  const columns = Math.min(blockSize, band.width - left)
  const rowSamples = blockSize * bandCount
  for (let y = 0; y < band.rows; y++) {
    const from = (y * band.width + left) * bandCount
    const row = y * rowSamples
    copyWithin(tile, band.samples.subarray(from, from + columns * bandCount), row)
    for (let x = columns; x < blockSize; x++)
      tile.copyWithin(row + x * bandCount, row + (columns - 1) * bandCount, row + columns * bandCount)
  }
  for (let y = band.rows; y < blockSize; y++) tile.copyWithin(y * rowSamples, (band.rows - 1) * rowSamples, band.rows * rowSamples)
}

/** `set` between arrays of the same kind, which the type checker cannot see. */
function copyWithin(target: ExactSampleArray, source: ExactSampleArray, at: number): void {
  ;(target as Uint8Array).set(source as Uint8Array, at)
}

/** Copies and predicts in one pass. Differences wrap around, as for unsigned integers of the same width. */
function cutDifferences(band: RowBand, tileX: number, { blockSize, bandCount }: CogPlan, tile: ExactSampleArray): void {
  const left = tileX * blockSize
  const columns = Math.min(blockSize, band.width - left)
  const rowSamples = blockSize * bandCount
  const from = unsigned(band.samples)
  const to = unsigned(tile)
  if (inPairs(band.samples, bandCount)) pairedDifferences(band, left, { blockSize, columns, bandCount }, tile)
  else
    for (let y = 0; y < band.rows; y++)
      differencesOfRow(
        from,
        (y * band.width + left) * bandCount,
        { to, at: y * rowSamples, count: columns * bandCount, end: (y + 1) * rowSamples },
        bandCount,
      )
  for (let y = band.rows; y < blockSize; y++) to.copyWithin(y * rowSamples, (band.rows - 1) * rowSamples, band.rows * rowSamples)
}

const inPairs = ({ BYTES_PER_ELEMENT, byteOffset }: ExactSampleArray, bandCount: number): boolean =>
  BYTES_PER_ELEMENT === 2 && bandCount % 2 === 0 && byteOffset % 4 === 0

/** The highest bits of two 16-bit samples in one number. */
const HIGH_BITS = 0x80008000 | 0

/** Two 16-bit samples at a time, where a pixel has pairs of them: neither borrows from the other. */
function pairedDifferences(
  { samples, width, rows }: RowBand,
  left: number,
  { blockSize, columns, bandCount }: { blockSize: number; columns: number; bandCount: number },
  tile: ExactSampleArray,
): void {
  const from = new Int32Array(samples.buffer, samples.byteOffset, samples.length / 2)
  const to = new Int32Array(tile.buffer, tile.byteOffset, tile.length / 2)
  const stride = bandCount / 2
  for (let y = 0; y < rows; y++) {
    const start = (y * width + left) * stride
    const at = y * blockSize * stride
    const count = columns * stride
    if (stride === 2) differencesOfFour(from, start, to, at, count)
    else {
      for (let i = 0; i < stride; i++) to[at + i] = from[start + i]!
      for (let i = stride; i < count; i++) {
        const a = from[start + i]!
        const b = from[start + i - stride]!
        to[at + i] = ((a | HIGH_BITS) - (b & ~HIGH_BITS)) ^ ((a ^ ~b) & HIGH_BITS)
      }
    }
    to.fill(0, at + count, at + blockSize * stride)
  }
}

/** A row of pixels of four samples, the most common ones: each is read once. */
function differencesOfFour(from: Int32Array, start: number, to: Int32Array, at: number, count: number): void {
  let a = 0
  let b = 0
  for (let i = 0; i < count; i += 2) {
    const c = from[start + i]!
    const d = from[start + i + 1]!
    to[at + i] = ((c | HIGH_BITS) - (a & ~HIGH_BITS)) ^ ((c ^ ~a) & HIGH_BITS)
    to[at + i + 1] = ((d | HIGH_BITS) - (b & ~HIGH_BITS)) ^ ((d ^ ~b) & HIGH_BITS)
    a = c
    b = d
  }
}

type UnsignedArray = Uint8Array | Uint16Array | Uint32Array

function unsigned({ buffer, byteOffset, length, BYTES_PER_ELEMENT }: ExactSampleArray): UnsignedArray {
  if (BYTES_PER_ELEMENT === 1) return new Uint8Array(buffer, byteOffset, length)
  return BYTES_PER_ELEMENT === 2 ? new Uint16Array(buffer, byteOffset, length) : new Uint32Array(buffer, byteOffset, length)
}

/** Beyond the image, the row repeats its last pixel: differences of 0. */
function differencesOfRow(
  from: UnsignedArray,
  start: number,
  { to, at, count, end }: { to: UnsignedArray; at: number; count: number; end: number },
  stride: number,
): void {
  for (let i = 0; i < stride; i++) to[at + i] = from[start + i]!
  for (let i = stride; i < count; i++) to[at + i] = from[start + i]! - from[start + i - stride]!
  to.fill(0, at + count, end)
}

/**
 * Copies 32-bit floats and predicts them in one pass: differences of byte planes, the highest byte of each sample of a row first.
 */
function cutFloats(band: RowBand, tileX: number, { blockSize, bandCount }: CogPlan, tile: Uint8Array): void {
  const left = tileX * blockSize
  const count = Math.min(blockSize, band.width - left) * bandCount
  const rowBytes = blockSize * bandCount * 4
  const words = new Uint32Array(band.samples.buffer, band.samples.byteOffset, band.samples.length)
  for (let y = 0; y < band.rows; y++) {
    const from = (y * band.width + left) * bandCount
    floatsOfRow(words, from, { to: tile, at: y * rowBytes, count, planeBytes: rowBytes / 4 }, bandCount)
  }
  for (let y = band.rows; y < blockSize; y++) tile.copyWithin(y * rowBytes, (band.rows - 1) * rowBytes, band.rows * rowBytes)
}

interface PlanesOfRow {
  readonly to: Uint8Array
  readonly at: number
  /** Samples of the row inside the image; beyond them, the last pixel is repeated. */
  readonly count: number
  readonly planeBytes: number
}

function floatsOfRow(words: Uint32Array, from: number, { to, at, count, planeBytes }: PlanesOfRow, stride: number): void {
  const [second, third, fourth] = [at + planeBytes, at + 2 * planeBytes, at + 3 * planeBytes]
  const last = from + count - stride
  for (let i = 0; i < stride; i++) {
    const word = words[from + i]!
    // The first byte of a plane follows the last one of the previous plane.
    const before = words[last + i]!
    to[at + i] = word >>> 24
    to[second + i] = (word >>> 16) - (before >>> 24)
    to[third + i] = (word >>> 8) - (before >>> 16)
    to[fourth + i] = word - (before >>> 8)
  }
  for (let i = stride; i < count; i++) {
    const word = words[from + i]! | 0
    const before = words[from + i - stride]! | 0
    to[at + i] = (word >>> 24) - (before >>> 24)
    to[second + i] = (word >>> 16) - (before >>> 16)
    to[third + i] = (word >>> 8) - (before >>> 8)
    to[fourth + i] = word - before
  }
  if (count === planeBytes) return
  for (const start of [at, second, third, fourth]) to.fill(0, start + count, start + planeBytes)
}

/** One tile of the mask: one bit per pixel, high bit first, 0 outside the image. */
export async function encodeMaskTile(band: RowBand, tileX: number, plan: CogPlan): Promise<Uint8Array> {
  const { blockSize } = plan
  const bits = new Uint8Array((blockSize / 8) * blockSize)
  const left = tileX * blockSize
  const columns = Math.min(blockSize, band.width - left)
  for (let y = 0; y < band.rows; y++) {
    for (let x = 0; x < columns; x++) {
      const valid = band.mask ? band.mask[y * band.width + left + x] : 255
      if (valid) bits[(y * blockSize + x) >> 3]! |= 0x80 >> (x & 7)
    }
  }
  return framed([await deflate(bits, { level: 6 })])
}
