/** Tiles of samples instead of colours, for clients that apply a style themselves. The guide on tiles documents the format. */
import { deflateSync } from 'node:zlib'
import type { PostfixStep } from '#raster/expression/index.ts'
import type { Range } from '#raster/render/style.ts'
import type { SampleArray } from '#raster/types.ts'
import { predict } from '#raster/write/predict.ts'

type SampleType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64'

/** What the samples are, and how the service would render them. */
interface DataTileHeader {
  width: number
  height: number
  type: SampleType
  /** 1-based bands of the file, one per plane. */
  bands: number[]
  /** TIFF's predictor of each plane: 2 for integers, 3 for floats. */
  predictor: 2 | 3
  /** Where pixels are data: nowhere, and then no samples follow; everywhere; or as the mask after the planes says. */
  data: 'none' | 'all' | 'mask'
  /** Value = sample · scale + offset; null if samples are the values. */
  scales: { scale: number; offset: number }[] | null
  style: DataTileStyle
  /** Values of the first and the last colour, with the gamma of the curve between them, for each channel. */
  ranges: Range[]
}

export type DataTileStyle =
  | { kind: 'rgb'; bands: readonly number[] }
  | { kind: 'single'; band: number; colormap: string | null; hillshade: boolean }
  | { kind: 'expression'; results: PostfixStep[][]; colormap: string | null }
  | { kind: 'palette' }

const MAGIC = 'GTD1'
/** Fast: a map waits for it. */
const LEVEL = 2

const TYPES: ReadonlyMap<unknown, SampleType> = new Map<unknown, SampleType>([
  [Uint8Array, 'uint8'],
  [Int8Array, 'int8'],
  [Uint16Array, 'uint16'],
  [Int16Array, 'int16'],
  [Uint32Array, 'uint32'],
  [Int32Array, 'int32'],
  [Float32Array, 'float32'],
  [Float64Array, 'float64'],
])

export const sampleTypeOf = (plane: SampleArray): SampleType => TYPES.get(plane.constructor)!

/** `planes` are overwritten. Samples without data are written as zeros. */
export function encodeDataTile(
  header: Omit<DataTileHeader, 'predictor' | 'data'>,
  planes: readonly SampleArray[],
  mask: Uint8Array,
): Buffer {
  const isFloat = header.type.startsWith('float')
  const data = mask.every((value) => value === 255) ? 'all' : mask.every((value) => value === 0) ? 'none' : 'mask'
  const whole: DataTileHeader = { ...header, predictor: isFloat ? 3 : 2, data }
  if (data === 'none') return assemble(whole, new Uint8Array(0))
  const { width, height } = header
  const parts = planes.map((plane) => {
    if (data === 'mask') for (let i = 0; i < mask.length; i++) if (mask[i] === 0) plane[i] = 0
    if (isFloat) return predict(plane, 3, { rowSamples: width, rows: height, stride: 1 })
    differences(plane, width)
    return new Uint8Array(plane.buffer, plane.byteOffset, plane.byteLength)
  })
  return assemble(whole, deflateSync(Buffer.concat(data === 'mask' ? [...parts, mask] : parts), { level: LEVEL }))
}

/** Each sample minus the one to its left, modulo the type. */
function differences(plane: SampleArray, width: number): void {
  for (let i = plane.length - 1; i > 0; i--) if (i % width !== 0) plane[i] = plane[i]! - plane[i - 1]!
}

function assemble(header: DataTileHeader, compressed: Uint8Array): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const start = Buffer.alloc(MAGIC.length + 4)
  start.write(MAGIC, 'latin1')
  start.writeUInt32LE(json.length, MAGIC.length)
  return Buffer.concat([start, json, compressed])
}
