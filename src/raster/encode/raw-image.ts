import { takeBytes } from '#raster/buffers.ts'

/** Pixels ready to be encoded: 8 bits per channel, rows from the top, channels interleaved. */
export interface RawImage {
  width: number
  height: number
  /** 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  channels: 1 | 2 | 3 | 4
  data: Uint8Array<ArrayBuffer>
}

/** Pixels as palette entries, one byte each. */
export interface IndexedImage {
  width: number
  height: number
  indices: Uint8Array<ArrayBuffer>
  /** 0 is transparent, any other value opaque. */
  mask: Uint8Array
  /** 256 colours of three bytes. */
  palette: Uint8Array
}

export const isIndexed = (image: RawImage | IndexedImage): image is IndexedImage => 'indices' in image

const OPAQUE = 255
const COLORS = 256

/** An entry that no visible pixel uses, or -1: transparency needs its own palette entry. */
export function freeEntry({ indices, mask }: IndexedImage): number {
  const isUsed = new Uint8Array(COLORS)
  for (let i = 0; i < indices.length; i++) if (mask[i] !== 0) isUsed[indices[i]!] = 1
  return isUsed.indexOf(0)
}

/** Expands palette entries: RGB if no pixel is transparent, RGBA otherwise. */
export function expandPalette({ width, height, indices, mask, palette }: IndexedImage): RawImage {
  if (mask.includes(0)) {
    const data = takeBytes(indices.length * 4)
    const words = new Uint32Array(data.buffer, 0, indices.length)
    const colors = new Uint32Array(COLORS)
    for (let entry = 0; entry < COLORS; entry++)
      colors[entry] = (OPAQUE << 24) | (palette[entry * 3 + 2]! << 16) | (palette[entry * 3 + 1]! << 8) | palette[entry * 3]!
    for (let i = 0; i < indices.length; i++) words[i] = mask[i] === 0 ? 0 : colors[indices[i]!]!
    return { width, height, channels: 4, data }
  }
  const data = takeBytes(indices.length * 3)
  for (let i = 0, o = 0; i < indices.length; i++, o += 3) {
    const entry = indices[i]! * 3
    data[o] = palette[entry]!
    data[o + 1] = palette[entry + 1]!
    data[o + 2] = palette[entry + 2]!
  }
  return { width, height, channels: 3, data }
}

/** RGBA pixels as words, alpha highest. */
export function wordsOf(data: Uint8Array<ArrayBuffer>): Int32Array {
  const aligned = data.byteOffset % 4 === 0 ? data : data.slice()
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >>> 2)
}

/** Whether an image has no alpha, or an opaque one. */
export function isOpaque({ channels, data }: RawImage): boolean {
  if (channels !== 2 && channels !== 4) return true
  if (channels === 4) {
    const words = wordsOf(data)
    let all = -1
    for (let i = 0; i < words.length; i++) all &= words[i]!
    return all >>> 24 === OPAQUE
  }
  for (let i = channels - 1; i < data.length; i += channels) if (data[i] !== OPAQUE) return false
  return true
}

/** Drops an opaque alpha channel: every encoder is faster and every file smaller without it. */
export function dropOpaqueAlpha(image: RawImage): RawImage {
  const { width, height, channels, data } = image
  if ((channels !== 2 && channels !== 4) || !isOpaque(image)) return image
  const count = width * height
  if (channels === 2) {
    const gray = new Uint8Array(count)
    for (let i = 0; i < count; i++) gray[i] = data[i * 2]!
    return { width, height, channels: 1, data: gray }
  }
  const color = takeBytes(count * 3)
  for (let i = 0, o = 0; o < color.length; i += 4, o += 3) {
    color[o] = data[i]!
    color[o + 1] = data[i + 1]!
    color[o + 2] = data[i + 2]!
  }
  return { width, height, channels: 3, data: color }
}

/** Composites an image with alpha over white, for formats without transparency. */
export function flattenOnWhite(image: RawImage): RawImage {
  if (isOpaque(image)) return image
  const { channels } = image
  const data = image.data.slice()
  const colors = channels - 1
  for (let i = 0; i < data.length; i += channels) {
    const alpha = data[i + colors]!
    if (alpha === OPAQUE) continue
    for (let c = i; c < i + colors; c++) data[c] = Math.round(OPAQUE + ((data[c]! - OPAQUE) * alpha) / OPAQUE)
    data[i + colors] = OPAQUE
  }
  return { ...image, data }
}
