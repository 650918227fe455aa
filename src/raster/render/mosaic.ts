import { emptyTile, encodeImage, type EncodeOptions, type RawImage } from '#raster/encode/index.ts'
import { expandPalette, isIndexed } from '#raster/encode/raw-image.ts'
import { RasterError, throwIfAborted, UNREADABLE } from '#raster/errors.ts'
import type { Raster } from '#raster/types.ts'
import type { TileAddress, TileSize } from '#raster/warp/mercator.ts'
import { planTile, type WarpWindow } from '#raster/warp/plan.ts'
import type { Resampling } from '#raster/warp/sample.ts'

import type { RenderContext } from './context.ts'
import type { Style } from './style.ts'
import { drawTile } from './tile.ts'

/** A raster of a mosaic. It is opened only if the tile still has empty pixels. */
export interface MosaicLayer {
  open: () => Promise<Raster>
  style: Style
  resampling?: Resampling | undefined
}

export interface MosaicOptions {
  size?: TileSize
  signal?: AbortSignal | undefined
}

const DEFAULT_SIZE = 256
const OPAQUE = 255

/**
 * Renders rasters as one: each pixel is that of the first layer with data, and below a translucent one the next is
 * visible. A layer is read only where it can add something; once the tile is full, no further one is read.
 */
export async function drawMosaic(
  context: RenderContext,
  layers: readonly MosaicLayer[],
  tile: TileAddress,
  options: MosaicOptions = {},
): Promise<RawImage | null> {
  const { size = DEFAULT_SIZE, signal } = options
  const data = new Uint8Array(size * size * 4)
  let missing: Box | null = { left: 0, top: 0, right: size, bottom: size }
  let isEmpty = true
  for (const { open, style, resampling } of layers) {
    throwIfAborted(signal)
    const box: Box = missing
    const image = await unlessUnreadable(async () => {
      const raster = await open()
      if (!planTile(raster, tile, size).some((window) => touches(window, box))) return null
      return await drawTile(context, raster, tile, { size, style, signal, ...(resampling ? { resampling } : {}) })
    })
    if (!image) continue
    isEmpty = false
    putUnder(data, isIndexed(image) ? expandPalette(image) : image)
    missing = missingBox(data, size)
    if (!missing) break
  }
  return isEmpty ? null : { width: size, height: size, channels: 4, data }
}

async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof RasterError && UNREADABLE.includes(error.code)) return null
    throw error
  }
}

export async function renderMosaic(
  context: RenderContext,
  layers: readonly MosaicLayer[],
  tile: TileAddress,
  options: MosaicOptions & EncodeOptions,
): Promise<Buffer> {
  const image = await drawMosaic(context, layers, tile, options)
  throwIfAborted(options.signal)
  return image ? encodeImage(image, options) : emptyTile(options.format, options.size ?? DEFAULT_SIZE)
}

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

const touches = ({ x, y, grid }: WarpWindow, box: Box): boolean =>
  x < box.right && x + grid.width > box.left && y < box.bottom && y + grid.height > box.top

/** The bounding box of all pixels that are not opaque yet; null if the tile is full. */
function missingBox(data: Uint8Array, size: number): Box | null {
  let [left, top, right, bottom] = [size, -1, 0, 0]
  for (let y = 0, i = 3; y < size; y++) {
    for (let x = 0; x < size; x++, i += 4) {
      if (data[i] === OPAQUE) continue
      if (top < 0) top = y
      bottom = y + 1
      if (x < left) left = x
      if (x >= right) right = x + 1
    }
  }
  return top < 0 ? null : { left, top, right, bottom }
}

/** Composites an image under the existing pixels. */
function putUnder(data: Uint8Array, { channels, data: source }: RawImage): void {
  const colors = channels < 3 ? 1 : 3
  const hasAlpha = channels === 2 || channels === 4
  for (let i = 0, s = 0; i < data.length; i += 4, s += channels) {
    const above = data[i + 3]!
    const below = hasAlpha ? source[s + channels - 1]! : OPAQUE
    if (above === OPAQUE || below === 0) continue
    const share = (below * (OPAQUE - above)) / OPAQUE
    const total = above + share
    for (let c = 0; c < 3; c++) data[i + c] = Math.round((data[i + c]! * above + source[s + (colors === 1 ? 0 : c)]! * share) / total)
    data[i + 3] = Math.round(total)
  }
}
