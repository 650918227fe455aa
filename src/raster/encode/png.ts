import { crc32, deflateSync } from 'node:zlib'
import { giveBack, takeBytes } from '#raster/buffers.ts'
import { deflateRows } from './deflate.ts'
import { dropOpaqueAlpha, expandPalette, freeEntry, isIndexed, isOpaque, wordsOf, type IndexedImage, type RawImage } from './raw-image.ts'

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
const COLOR_TYPES = { 1: 0, 2: 4, 3: 2, 4: 6 } as const
const PALETTE_COLOR_TYPE = 3
const FILTER_NONE = 0
const FILTER_UP = 2

/** Writes a PNG. An effort from 0 to 9 is the zlib level; without one it is written fast (`deflate.ts`). */
export function encodePng(image: RawImage | IndexedImage, effort?: number): Buffer {
  if (isIndexed(image)) return encodeIndexed(image, effort)
  const isPlain = isOpaque(image)
  const { width, height } = image
  const channels = isPlain ? ({ 1: 1, 2: 1, 3: 3, 4: 3 } as const)[image.channels] : image.channels
  const filtered =
    channels === 3 && image.channels === 4
      ? filterColors(image)
      : filterRows(isPlain ? dropOpaqueAlpha(image).data : image.data, width * channels, height)
  return written(filtered, effort, [['IHDR', header(width, height, COLOR_TYPES[channels])]])
}

/** Neighbouring palette entries are similar colours, so differences to the row above are small as well. */
function encodeIndexed(image: IndexedImage, effort?: number): Buffer {
  const { width, height, indices, mask, palette } = image
  const chunks: Chunk[] = [
    ['IHDR', header(width, height, PALETTE_COLOR_TYPE)],
    ['PLTE', palette.subarray(0, 768)],
  ]
  if (mask.includes(0)) {
    const clear = freeEntry(image)
    if (clear < 0) return encodeExpanded(image, effort)
    for (let i = 0; i < indices.length; i++) if (mask[i] === 0) indices[i] = clear
    chunks.push(['tRNS', new Uint8Array(clear + 1).fill(255, 0, clear)])
  }
  return written(filterRows(indices, width, height), effort, chunks)
}

/** For the rare image that uses all 256 colours and transparency. */
function encodeExpanded(image: IndexedImage, effort?: number): Buffer {
  const expanded = expandPalette(image)
  const png = encodePng(expanded, effort)
  giveBack(expanded.data)
  return png
}

function written(filtered: Uint8Array, effort: number | undefined, head: readonly Chunk[]): Buffer {
  const compressed = effort === undefined ? deflateRows(filtered) : deflateSync(filtered, { level: effort, memLevel: 9 })
  const png = assemble([...head, ['IDAT', compressed], ['IEND', new Uint8Array(0)]])
  giveBack(filtered)
  giveBack(compressed)
  return png
}

/** The difference to the row above: cheap, and nearly as good as choosing a filter per row. */
function filterRows(data: Uint8Array, rowBytes: number, height: number): Uint8Array {
  const filtered = takeBytes((rowBytes + 1) * height)
  filtered[0] = FILTER_NONE
  filtered.set(data.subarray(0, rowBytes), 1)
  for (let y = 1; y < height; y++) {
    let out = y * (rowBytes + 1)
    filtered[out++] = FILTER_UP
    const start = y * rowBytes
    for (let i = start; i < start + rowBytes; i++) filtered[out++] = data[i]! - data[i - rowBytes]!
  }
  return filtered
}

/** The same for RGBA with an opaque alpha, which is dropped. */
function filterColors({ width, height, data }: RawImage): Uint8Array {
  const filtered = takeBytes((width * 3 + 1) * height)
  const words = wordsOf(data)
  let out = 0
  for (let y = 0; y < height; y++) {
    filtered[out++] = y === 0 ? FILTER_NONE : FILTER_UP
    for (let i = y * width; i < (y + 1) * width; i++, out += 3) {
      const difference = y === 0 ? words[i]! : subtractBytes(words[i]!, words[i - width]!)
      filtered[out] = difference
      filtered[out + 1] = difference >>> 8
      filtered[out + 2] = difference >>> 16
    }
  }
  return filtered
}

const HIGH_BITS = 0x80808080 | 0
const LOW_BITS = 0x7f7f7f7f

/** Four differences at once, each within its byte: the highest bits are masked so that nothing is borrowed across. */
const subtractBytes = (a: number, b: number): number => ((a | HIGH_BITS) - (b & LOW_BITS)) ^ ((a ^ ~b) & HIGH_BITS)

function header(width: number, height: number, colorType: number): Buffer {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32BE(width, 0)
  bytes.writeUInt32BE(height, 4)
  bytes[8] = 8
  bytes[9] = colorType
  return bytes
}

type Chunk = readonly [type: string, content: Uint8Array]
/** Length, type and checksum. */
const CHUNK_BYTES = 12

function assemble(chunks: readonly Chunk[]): Buffer {
  const png = Buffer.allocUnsafe(chunks.reduce((sum, [, { length }]) => sum + length + CHUNK_BYTES, SIGNATURE.length))
  png.set(SIGNATURE)
  let at = SIGNATURE.length
  for (const [type, content] of chunks) {
    png.writeUInt32BE(content.length, at)
    png.write(type, at + 4, 'latin1')
    png.set(content, at + 8)
    const end = at + 8 + content.length
    png.writeUInt32BE(crc32(png.subarray(at + 4, end)), end)
    at = end + 4
  }
  return png
}
