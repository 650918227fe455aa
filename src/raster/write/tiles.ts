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

/** Cuts one tile out of a band of rows; what lies outside the image repeats its edge, which costs nothing once predicted. */
export function cutTile(band: RowBand, tileX: number, plan: CogPlan): ExactSampleArray {
  const { blockSize, bandCount } = plan
  const tile = new EXACT_ARRAY[plan.spec.dataType](blockSize * blockSize * bandCount)
  const left = tileX * blockSize
  const columns = Math.min(blockSize, band.width - left)
  const rowSamples = blockSize * bandCount
  for (let y = 0; y < band.rows; y++) {
    const from = (y * band.width + left) * bandCount
    const row = y * rowSamples
    copyWithin(tile, band.samples.subarray(from, from + columns * bandCount), row)
    for (let x = columns; x < blockSize; x++) tile.copyWithin(row + x * bandCount, row + (columns - 1) * bandCount, row + columns * bandCount)
  }
  for (let y = band.rows; y < blockSize; y++) tile.copyWithin(y * rowSamples, (band.rows - 1) * rowSamples, band.rows * rowSamples)
  return tile
}

/** `set` between arrays of the same kind, which the type checker cannot see. */
function copyWithin(target: ExactSampleArray, source: ExactSampleArray, at: number): void {
  ;(target as Uint8Array).set(source as Uint8Array, at)
}

export async function encodeTile(tile: ExactSampleArray, plan: CogPlan): Promise<Uint8Array> {
  const { blockSize, bandCount, compression, compressionLevel } = plan
  const bytes = predict(tile, plan.predictor, { rowSamples: blockSize * bandCount, rows: blockSize, stride: bandCount })
  // One chunk for the whole result spares the trips between threads that small chunks cost.
  const chunkSize = bytes.byteLength
  if (compression === 'deflate') return deflate(bytes, { level: compressionLevel, chunkSize })
  return zstdCompress(bytes, { chunkSize, params: { [zlib.constants.ZSTD_c_compressionLevel]: compressionLevel } })
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
