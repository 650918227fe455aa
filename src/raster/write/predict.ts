import type { ExactSampleArray } from '#raster/types.ts'

/** The horizontal predictors, applied. The inverse of codec/predictor.ts. */

interface TileShape {
  /** Samples per row, over all bands. */
  readonly rowSamples: number
  readonly rows: number
  /** Distance between two samples of one band. */
  readonly stride: number
}

/**
 * The bytes to compress. Predictor 2 works in place and overwrites the tile; here it is only for 64-bit samples,
 * narrower ones are predicted while a tile is copied.
 */
export function predict(tile: ExactSampleArray, predictor: 1 | 2 | 3, shape: TileShape): Uint8Array {
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: size } = tile
  if (predictor === 3) return floatPlanes(new Uint8Array(buffer, byteOffset, byteLength), size, shape)
  if (predictor === 2) differences64(new BigUint64Array(buffer, byteOffset, byteLength / 8), shape)
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function differences(samples: Uint8Array, { rowSamples, rows, stride }: TileShape): void {
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples + stride
    for (let i = (row + 1) * rowSamples - 1; i >= start; i--) samples[i] = (samples[i] ?? 0) - (samples[i - stride] ?? 0)
  }
}

function differences64(samples: BigUint64Array, { rowSamples, rows, stride }: TileShape): void {
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples + stride
    for (let i = (row + 1) * rowSamples - 1; i >= start; i--) samples[i] = (samples[i] ?? 0n) - (samples[i - stride] ?? 0n)
  }
}

function floatPlanes(bytes: Uint8Array, size: number, { rowSamples, rows, stride }: TileShape): Uint8Array {
  const out = new Uint8Array(bytes.length)
  const rowBytes = rowSamples * size
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes
    for (let plane = 0; plane < size; plane++) {
      const to = start + plane * rowSamples
      let from = start + size - 1 - plane
      for (let i = 0; i < rowSamples; i++, from += size) out[to + i] = bytes[from] ?? 0
    }
  }
  differences(out, { rowSamples: rowBytes, rows, stride })
  return out
}
