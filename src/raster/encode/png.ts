import { constants, crc32, deflateSync } from 'node:zlib'

import { giveBack, takeBytes } from '#raster/buffers.ts'

import { dropOpaqueAlpha, isIndexed, isOpaque, wordsOf, type IndexedPicture, type Picture } from './picture.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLOR_TYPES = { 1: 0, 2: 4, 3: 2, 4: 6 } as const
const PALETTE_COLOR_TYPE = 3
const FILTER_NONE = 0
const FILTER_UP = 2

/**
 * Writes a PNG. Without an effort the compression is chosen by content: after the row filter a photograph is noise, where
 * Huffman coding alone is twice as fast as matching and only 5% larger; drawings and tiles with empty parts are full of
 * runs, which matching shrinks many times over. An effort from 0 to 9 is zlib's own level.
 */
export function encodePng(picture: Picture | IndexedPicture, effort?: number): Buffer {
  if (isIndexed(picture)) return encodeIndexed(picture, effort)
  const isPlain = isOpaque(picture)
  const { width, height } = picture
  const channels = isPlain ? ({ 1: 1, 2: 1, 3: 3, 4: 3 } as const)[picture.channels] : picture.channels
  const filtered =
    channels === 3 && picture.channels === 4
      ? filterColors(picture)
      : filterRows(isPlain ? dropOpaqueAlpha(picture).data : picture.data, width * channels, height)
  const compressed = compress(filtered, effort)
  giveBack(filtered)
  return assemble([chunk('IHDR', header(width, height, COLOR_TYPES[channels])), chunk('IDAT', compressed)])
}

function encodeIndexed({ width, height, indices, palette }: IndexedPicture, effort?: number): Buffer {
  // Neighbouring entries are not neighbouring numbers, so no filter helps; matching on whole entries does.
  const rows = takeBytes((width + 1) * height)
  for (let y = 0; y < height; y++) {
    rows[y * (width + 1)] = FILTER_NONE
    rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  }
  const compressed = deflateSync(rows, { level: effort ?? 1, memLevel: 9, chunkSize: Math.max(1024, rows.length) })
  giveBack(rows)
  const chunks = [chunk('IHDR', header(width, height, PALETTE_COLOR_TYPE)), chunk('PLTE', palette.subarray(0, 768))]
  if (indices.includes(0)) chunks.push(chunk('tRNS', Uint8Array.of(0)))
  chunks.push(chunk('IDAT', compressed))
  return assemble(chunks)
}

/** The difference to the row above: cheap, and nearly as good as choosing a filter for every row. */
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

/** The same for RGBA whose alpha says nothing, which is left out on the way. */
function filterColors({ width, height, data }: Picture): Uint8Array {
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

/** Four differences at once, each within its byte: the highest bits are set aside so that nothing is borrowed across. */
const subtractBytes = (a: number, b: number): number => ((a | HIGH_BITS) - (b & LOW_BITS)) ^ ((a ^ ~b) & HIGH_BITS)

/** Above this share of zero differences there are runs worth matching. */
const RUN_SHARE = 0.3
const SAMPLE_STEP = 13

function compress(filtered: Uint8Array, effort: number | undefined): Buffer {
  const common = { memLevel: 9, chunkSize: Math.max(1024, filtered.length) }
  if (effort !== undefined) return deflateSync(filtered, { ...common, level: effort })
  let zeros = 0
  for (let i = 0; i < filtered.length; i += SAMPLE_STEP) if (filtered[i] === 0) zeros += 1
  const isNoise = zeros * SAMPLE_STEP < filtered.length * RUN_SHARE
  return deflateSync(filtered, { ...common, level: 1, strategy: isNoise ? constants.Z_HUFFMAN_ONLY : constants.Z_DEFAULT_STRATEGY })
}

function header(width: number, height: number, colorType: number): Buffer {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32BE(width, 0)
  bytes.writeUInt32BE(height, 4)
  bytes[8] = 8
  bytes[9] = colorType
  return bytes
}

function chunk(type: string, content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(content.length + 12)
  bytes.writeUInt32BE(content.length, 0)
  bytes.write(type, 4, 'latin1')
  bytes.set(content, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, content.length + 8)), content.length + 8)
  return bytes
}

const assemble = (chunks: readonly Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...chunks, chunk('IEND', Buffer.alloc(0))])
