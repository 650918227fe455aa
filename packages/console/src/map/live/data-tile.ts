/** Samples of a tile, and how the service would render them: what `…/tiles/{z}/{x}/{y}.bin` returns. */

type SampleType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64'
export type Samples = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/** One step of an expression in postfix order; null is no data. */
export type Step = number | null | string

/** The values of the first and the last colour, and the gamma of the curve between them. */
export type ChannelRange = readonly [low: number, high: number, gamma?: number | null]

export type DataStyle =
  | { kind: 'rgb'; bands: readonly number[] }
  | { kind: 'single'; band: number; colormap: string | null; hillshade: boolean }
  | { kind: 'expression'; results: readonly (readonly Step[])[]; colormap: string | null }
  | { kind: 'palette' }

export interface DataHeader {
  width: number
  height: number
  type: SampleType
  /** One per plane. */
  bands: readonly number[]
  predictor: 2 | 3
  data: 'none' | 'all' | 'mask'
  scales: readonly { scale: number; offset: number }[] | null
  style: DataStyle
  ranges: readonly ChannelRange[]
}

export interface DataTile {
  header: DataHeader
  /** Empty if no pixel is data. */
  planes: readonly Samples[]
  /** Null if all pixels are data. */
  mask: Uint8Array<ArrayBuffer> | null
}

const MAGIC = 'GTD1'
const START = MAGIC.length + 4

const ARRAYS = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const

export async function readDataTile(bytes: ArrayBuffer): Promise<DataTile> {
  const text = (from: number, to: number) => new TextDecoder().decode(bytes.slice(from, to))
  if (bytes.byteLength < START || text(0, MAGIC.length) !== MAGIC) throw new Error('Not a data tile')
  const end = START + new DataView(bytes).getUint32(MAGIC.length, true)
  const header = JSON.parse(text(START, end)) as DataHeader
  if (header.data === 'none') return { header, planes: [], mask: null }
  const stream = new Blob([bytes.slice(end)]).stream().pipeThrough(new DecompressionStream('deflate'))
  const content = await new Response(stream).arrayBuffer()
  const { width, height, bands, type, predictor } = header
  const array = ARRAYS[type]
  const planeBytes = width * height * array.BYTES_PER_ELEMENT
  const planes = bands.map((_, index) => {
    const part = content.slice(index * planeBytes, (index + 1) * planeBytes)
    if (predictor === 3) return new array(floatsOf(new Uint8Array(part), width, height, array.BYTES_PER_ELEMENT))
    const plane = new array(part)
    addUp(plane, width)
    return plane
  })
  return { header, planes, mask: header.data === 'mask' ? new Uint8Array(content, bands.length * planeBytes, width * height) : null }
}

/** Undoes the differences to the sample on the left. */
function addUp(plane: Samples, width: number): void {
  for (let start = 0; start < plane.length; start += width)
    for (let i = start + 1; i < start + width; i++) plane[i] = plane[i]! + plane[i - 1]!
}

/** Undoes TIFF's predictor 3: in each row, all first bytes, then all second ones, as differences, the most significant first. */
function floatsOf(bytes: Uint8Array, width: number, height: number, size: number): ArrayBuffer {
  addUp(bytes, width * size)
  const out = new Uint8Array(bytes.length)
  for (let row = 0; row < height; row++) {
    const start = row * width * size
    for (let plane = 0; plane < size; plane++) {
      const from = start + plane * width
      for (let i = 0, to = start + size - 1 - plane; i < width; i++, to += size) out[to] = bytes[from + i]!
    }
  }
  return out.buffer
}
