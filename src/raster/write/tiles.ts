import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { ExactSampleArray } from '#raster/types.ts'
import { predict } from '#raster/write/predict.ts'
import type { CogPlan } from '#raster/write/spec.ts'

const deflate = promisify(zlib.deflate)
const zstdCompress = promisify(zlib.zstdCompress)

/** Rows of interleaved pixels, with a mask byte a pixel where the file has a mask. */
export interface RowBand {
  readonly width: number
  readonly rows: number
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

/** Buffers for tiles, used again and again: a file has thousands of tiles, and fresh memory costs more than filling it. */
export class TileBuffers {
  readonly #plan: CogPlan
  readonly #free: ExactSampleArray[] = []

  constructor(plan: CogPlan) {
    this.#plan = plan
  }

  take(): ExactSampleArray {
    const { blockSize, bandCount, spec } = this.#plan
    return this.#free.pop() ?? new EXACT_ARRAY[spec.dataType](blockSize * blockSize * bandCount)
  }

  giveBack(tile: ExactSampleArray): void {
    this.#free.push(tile)
  }
}

/** One tile of a band of rows as it is stored; what lies outside the image repeats its edge, which costs nothing once predicted. */
export async function encodeTile(band: RowBand, tileX: number, plan: CogPlan, buffers: TileBuffers): Promise<Uint8Array> {
  const tile = buffers.take()
  const shape = { rowSamples: plan.blockSize * plan.bandCount, rows: plan.blockSize, stride: plan.bandCount }
  let bytes: Uint8Array
  if (plan.predictor === 2 && tile.BYTES_PER_ELEMENT <= 4) {
    cutDifferences(band, tileX, plan, tile)
    bytes = new Uint8Array(tile.buffer, tile.byteOffset, tile.byteLength)
  } else {
    cutTile(band, tileX, plan, tile)
    bytes = predict(tile, plan.predictor, shape)
  }
  const encoded = await compress(bytes, plan)
  buffers.giveBack(tile)
  return encoded
}

async function compress(bytes: Uint8Array, { compression, compressionLevel }: CogPlan): Promise<Uint8Array> {
  // One chunk for the whole result spares the trips between threads that small chunks cost.
  const chunkSize = bytes.byteLength
  if (compression === 'deflate') return deflate(bytes, { level: compressionLevel, chunkSize, memLevel: 9 })
  return zstdCompress(bytes, { chunkSize, params: { [zlib.constants.ZSTD_c_compressionLevel]: compressionLevel } })
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

/** Cuts and predicts at once. Differences wrap around, so they are those of unsigned numbers of the same width. */
function cutDifferences(band: RowBand, tileX: number, { blockSize, bandCount }: CogPlan, tile: ExactSampleArray): void {
  const left = tileX * blockSize
  const columns = Math.min(blockSize, band.width - left)
  const rowSamples = blockSize * bandCount
  const from = unsigned(band.samples)
  const to = unsigned(tile)
  for (let y = 0; y < band.rows; y++)
    differencesOfRow(
      from,
      (y * band.width + left) * bandCount,
      { to, at: y * rowSamples, count: columns * bandCount, end: (y + 1) * rowSamples },
      bandCount,
    )
  for (let y = band.rows; y < blockSize; y++) to.copyWithin(y * rowSamples, (band.rows - 1) * rowSamples, band.rows * rowSamples)
}

type UnsignedArray = Uint8Array | Uint16Array | Uint32Array

function unsigned({ buffer, byteOffset, length, BYTES_PER_ELEMENT }: ExactSampleArray): UnsignedArray {
  if (BYTES_PER_ELEMENT === 1) return new Uint8Array(buffer, byteOffset, length)
  return BYTES_PER_ELEMENT === 2 ? new Uint16Array(buffer, byteOffset, length) : new Uint32Array(buffer, byteOffset, length)
}

/** Behind the image the row goes on with its last pixel: differences of 0. */
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

/** One tile of the mask: one bit a pixel, high bit first, outside the image 0. */
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
  return deflate(bits, { level: 6 })
}
