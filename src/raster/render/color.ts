import { LRUCache } from 'lru-cache'
import { takeZeros } from '#raster/buffers.ts'
import { COLOR_COUNT, colorTable } from '#raster/colormap/index.ts'
import type { IndexedImage, RawImage } from '#raster/encode/index.ts'

export interface Size {
  width: number
  height: number
}

/** Interleaves one or three planes of bytes and a mask. */
export function interleave(planes: readonly Uint8Array[], mask: Uint8Array, { width, height }: Size): RawImage {
  const [first, second, third] = planes
  if (!first) throw new TypeError('an image needs a plane')
  if (!second || !third) {
    const gray = new Uint8Array(width * height * 2)
    for (let i = 0, o = 0; i < mask.length; i++, o += 2) {
      if (mask[i] === 0) continue
      gray[o] = first[i]!
      gray[o + 1] = mask[i]!
    }
    return { width, height, channels: 2, data: gray }
  }
  const color = takeZeros(width * height * 4)
  for (let i = 0, o = 0; i < mask.length; i++, o += 4) {
    if (mask[i] === 0) continue
    color[o] = first[i]!
    color[o + 1] = second[i]!
    color[o + 2] = third[i]!
    color[o + 3] = mask[i]!
  }
  return { width, height, channels: 4, data: color }
}

/** Maps samples to the file's own colour table (RGBA); unknown values are transparent. */
export function lookUpColors(samples: ArrayLike<number>, mask: Uint8Array, table: Uint8Array, { width, height }: Size): RawImage {
  const data = new Uint8Array(width * height * 4)
  const pixels = new Uint32Array(data.buffer)
  const colors = new Uint32Array(Uint8Array.from(table).buffer)
  for (let i = 0; i < pixels.length; i++) if (mask[i] !== 0) pixels[i] = colors[samples[i]!] ?? 0
  return { width, height, channels: 4, data }
}

const CLASS_COUNT = 65_536
const MAX_CLASS_TABLES = 8
/** A pure function's answers: the same in every process. */
const classTables = new LRUCache<string, Uint8Array>({ max: MAX_CLASS_TABLES })

/** An RGBA table for class codes: the colours of a colormap in turn, so that neighbouring codes differ. */
export function classColors(colormap: string): Uint8Array {
  const key = colormap.toLowerCase()
  let table = classTables.get(key)
  if (!table) {
    const colors = distinctColors(colorTable(colormap))
    table = new Uint8Array(CLASS_COUNT * 4)
    for (let value = 0; value < CLASS_COUNT; value++) table.set(colors[value % colors.length]!, value * 4)
    classTables.set(key, table)
  }
  return table
}

const MAX_CLASS_COLORS = 20

/** The colours of a categorical colormap; of a smooth one, a few distinguishable ones. */
function distinctColors(table: Uint8Array): number[][] {
  const all = Array.from({ length: COLOR_COUNT }, (_, entry) => [...table.subarray(entry * 3, entry * 3 + 3), 255])
  const distinct = all.filter((color, entry) => entry === 0 || color.join() !== all[entry - 1]!.join())
  if (distinct.length <= MAX_CLASS_COLORS) return distinct
  return Array.from({ length: MAX_CLASS_COLORS }, (_, index) => distinct[Math.floor((index * distinct.length) / MAX_CLASS_COLORS)]!)
}

/** Makes everything outside the mask transparent. */
export function clipImage(image: RawImage | IndexedImage, mask: Uint8Array): void {
  if ('indices' in image) {
    for (let i = 0; i < mask.length; i++) if (mask[i] === 0) image.mask[i] = 0
    return
  }
  const { channels, data } = image
  for (let i = 0; i < mask.length; i++) if (mask[i] === 0) data.fill(0, i * channels, (i + 1) * channels)
}

/** Whether no pixel is visible. */
export function isEmpty(image: RawImage | IndexedImage): boolean {
  if ('indices' in image) return image.mask.every((value) => value === 0)
  const { channels, data } = image
  for (let i = channels - 1; i < data.length; i += channels) if (data[i] !== 0) return false
  return true
}
