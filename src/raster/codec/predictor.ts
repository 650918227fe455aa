/**
 * The horizontal predictors, undone in place. Predictor 2 stores differences between neighbouring
 * samples of a band; predictor 3 splits floats into planes of bytes, highest first, and stores
 * byte differences.
 */

import { giveBack, takeBytes } from '#raster/buffers.ts'
import { joinPlanes, joinsPlanes } from './float-planes.ts'

type UnsignedArray = Uint8Array | Uint16Array | Uint32Array

export interface RowShape {
  /** Samples per row, over all bands of the block. */
  readonly rowSamples: number
  readonly rows: number
  /** Distance between two samples of one band. */
  readonly stride: number
}

export function undoDifferences(samples: UnsignedArray, { rowSamples, rows, stride }: RowShape): void {
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples
    if (stride === 1) sumOne(samples, start, start + rowSamples)
    else if (stride === 2) sumTwo(samples, start, start + rowSamples)
    else if (stride === 3) sumThree(samples, start, start + rowSamples)
    else if (stride === 4) sumFour(samples, start, start + rowSamples)
    else sumAny(samples, start, start + rowSamples, stride)
  }
}

/** Sums stay in registers; storing to the array truncates them to the sample's width. */
function sumOne(samples: UnsignedArray, start: number, end: number): void {
  let a = samples[start] ?? 0
  for (let i = start + 1; i < end; i++) {
    a = (a + (samples[i] ?? 0)) | 0
    samples[i] = a
  }
}

function sumTwo(samples: UnsignedArray, start: number, end: number): void {
  let a = samples[start] ?? 0
  let b = samples[start + 1] ?? 0
  for (let i = start + 2; i < end; i += 2) {
    a = (a + (samples[i] ?? 0)) | 0
    b = (b + (samples[i + 1] ?? 0)) | 0
    samples[i] = a
    samples[i + 1] = b
  }
}

function sumThree(samples: UnsignedArray, start: number, end: number): void {
  let a = samples[start] ?? 0
  let b = samples[start + 1] ?? 0
  let c = samples[start + 2] ?? 0
  for (let i = start + 3; i < end; i += 3) {
    a = (a + (samples[i] ?? 0)) | 0
    b = (b + (samples[i + 1] ?? 0)) | 0
    c = (c + (samples[i + 2] ?? 0)) | 0
    samples[i] = a
    samples[i + 1] = b
    samples[i + 2] = c
  }
}

function sumFour(samples: UnsignedArray, start: number, end: number): void {
  let a = samples[start] ?? 0
  let b = samples[start + 1] ?? 0
  let c = samples[start + 2] ?? 0
  let d = samples[start + 3] ?? 0
  for (let i = start + 4; i < end; i += 4) {
    a = (a + (samples[i] ?? 0)) | 0
    b = (b + (samples[i + 1] ?? 0)) | 0
    c = (c + (samples[i + 2] ?? 0)) | 0
    d = (d + (samples[i + 3] ?? 0)) | 0
    samples[i] = a
    samples[i + 1] = b
    samples[i + 2] = c
    samples[i + 3] = d
  }
}

function sumAny(samples: UnsignedArray, start: number, end: number, stride: number): void {
  for (let i = start + stride; i < end; i++) samples[i] = (samples[i] ?? 0) + (samples[i - stride] ?? 0)
}

export function undoDifferences64(samples: BigUint64Array, { rowSamples, rows, stride }: RowShape): void {
  for (let row = 0; row < rows; row++) {
    const start = row * rowSamples
    for (let i = start + stride; i < start + rowSamples; i++) samples[i] = (samples[i] ?? 0n) + (samples[i - stride] ?? 0n)
  }
}

/**
 * Converts byte differences and byte planes, which it overwrites, to little-endian floats. The planes are stored
 * highest byte first, whatever the byte order of the file.
 */
export function undoFloatPlanes(bytes: Uint8Array, shape: RowShape, sampleBytes: number): Uint8Array {
  const out = takeBytes(bytes.length)
  const rowBytes = shape.rowSamples * sampleBytes
  if (joinsPlanes(shape.rowSamples, shape.stride, sampleBytes) && bytes.byteOffset % 4 === 0) {
    joinPlanes(bytes, out, { rowSamples: shape.rowSamples, rows: shape.rows, sampleBytes })
    giveBack(bytes)
    return out
  }
  undoDifferences(bytes, { rowSamples: rowBytes, rows: shape.rows, stride: shape.stride })
  for (let row = 0; row < shape.rows; row++) {
    const start = row * rowBytes
    if (sampleBytes === 4) joinFour(bytes, out, start, shape.rowSamples)
    else joinAny(bytes, out, { start, count: shape.rowSamples, sampleBytes })
  }
  giveBack(bytes)
  return out
}

function joinFour(planes: Uint8Array, out: Uint8Array, start: number, count: number): void {
  const words = new Uint32Array(out.buffer, out.byteOffset + start, count)
  const second = start + count
  const third = second + count
  const fourth = third + count
  for (let i = 0; i < count; i++) {
    words[i] =
      ((planes[start + i] ?? 0) << 24) | ((planes[second + i] ?? 0) << 16) | ((planes[third + i] ?? 0) << 8) | (planes[fourth + i] ?? 0)
  }
}

function joinAny(planes: Uint8Array, out: Uint8Array, row: { start: number; count: number; sampleBytes: number }): void {
  const { start, count, sampleBytes } = row
  for (let plane = 0; plane < sampleBytes; plane++) {
    const from = start + plane * count
    let to = start + sampleBytes - 1 - plane
    for (let i = 0; i < count; i++, to += sampleBytes) out[to] = planes[from + i] ?? 0
  }
}
