import { bandIndex } from '#raster/bands.ts'
import { giveBack } from '#raster/buffers.ts'
import { emptyTile, encodeImage, encodeLosslessWebp, type EncodeOptions, type IndexedImage, type RawImage } from '#raster/encode/index.ts'
import { terrainPicture } from '#raster/encode/terrain.ts'
import { throwIfAborted, type Raster } from '#raster/types.ts'
import type { TileAddress, TileSize } from '#raster/warp/mercator.ts'
import { planTile } from '#raster/warp/plan.ts'
import { samplePlanes, type Resampling } from '#raster/warp/sample.ts'

import { aoiMask } from './aoi.ts'
import { clipImage, isEmpty } from './color.ts'
import { resolveRanges, type RenderContext } from './context.ts'
import { hillshade, shaded } from './hillshade.ts'
import { draw } from './render.ts'
import { defaultStyle, type Style } from './style.ts'

export interface TileOptions {
  /** 256 by default. */
  size?: TileSize
  /** Default: that of the image. */
  style?: Style | undefined
  resampling?: Resampling
  unscale?: boolean
  /** GeoJSON in longitude and latitude; outside it the tile is transparent. */
  aoi?: unknown
  signal?: AbortSignal | undefined
}

const DEFAULT_SIZE = 256

/** Renders a tile, or returns null if it is empty. */
export async function drawTile(
  context: RenderContext,
  raster: Raster,
  tile: TileAddress,
  options: TileOptions = {},
): Promise<RawImage | IndexedImage | null> {
  const { size = DEFAULT_SIZE, style = defaultStyle(raster.info), resampling = 'nearest', aoi, signal } = options
  const { unscale = raster.info.isScaled ?? false } = options
  throwIfAborted(signal)
  const windows = planTile(raster, tile, size)
  if (windows.length === 0) return null
  const clip = aoi === undefined ? null : aoiMask(aoi, tile, size)
  if (clip?.every((value) => value === 0)) return null
  const ranges = await resolveRanges(context, raster, style, { unscale, signal })
  const image = await draw(context, raster, { windows, width: size, height: size }, { style, ranges, resampling, unscale, signal })
  if (clip) clipImage(image, clip)
  if (isEmpty(image)) return null
  if (style.kind !== 'single' || !style.hillshade) return image
  return shaded(image, await hillshade(context, raster, { band: style.band - 1, tile, size, signal }))
}

/** Renders and encodes a tile. An empty one is transparent, white for JPEG. */
export async function renderTile(
  context: RenderContext,
  raster: Raster,
  tile: TileAddress,
  options: TileOptions & EncodeOptions,
): Promise<Buffer> {
  const image = await drawTile(context, raster, tile, options)
  throwIfAborted(options.signal)
  if (!image) return emptyTile(options.format, options.size ?? DEFAULT_SIZE)
  const encoded = await encodeImage(image, options)
  giveBack('indices' in image ? image.indices : image.data)
  return encoded
}

/** The tile from the cache; concurrent requests render it once. The bytes are shared. */
export function renderCachedTile(
  context: RenderContext,
  raster: Raster,
  tile: TileAddress,
  options: TileOptions & EncodeOptions,
): Promise<Buffer> {
  const { signal, ...wanted } = options
  const key = `${raster.key}/${JSON.stringify([tile, wanted])}`
  return context.tiles.get(key, (loadSignal) => renderTile(context, raster, tile, { ...wanted, signal: loadSignal }), { signal })
}

export interface TerrainTileOptions {
  size?: TileSize
  /** 1-based; the first by default. */
  band?: number
  /** Negates heights, for depths stored as positive numbers. */
  invert?: boolean
  /** Outside it, heights are 0 and transparent. */
  aoi?: unknown
  resampling?: Resampling
  effort?: number
  signal?: AbortSignal | undefined
}

/** Renders heights as a lossless Terrain-RGB WebP. Heights are physical: scale and offset apply. */
export async function renderTerrainTile(
  context: RenderContext,
  raster: Raster,
  tile: TileAddress,
  options: TerrainTileOptions = {},
): Promise<Buffer> {
  const { size = DEFAULT_SIZE, band = 1, invert = false, aoi, resampling = 'bilinear', effort, signal } = options
  throwIfAborted(signal)
  const index = bandIndex(raster.info, band)
  const target = { windows: planTile(raster, tile, size), width: size, height: size }
  const { planes, mask } = await samplePlanes({
    ...target,
    raster,
    blocks: context.blocks,
    bands: [index],
    resampling,
    rule: 'all',
    signal,
  })
  if (aoi !== undefined) {
    const clip = aoiMask(aoi, tile, size)
    for (let i = 0; i < mask.length; i++) if (clip[i] === 0) mask[i] = 0
  }
  const { scale, offset } = raster.info.bands[band - 1] ?? { scale: 1, offset: 0 }
  const samples = planes[0]!
  const isPlain = scale === 1 && offset === 0
  const heights = isPlain ? samples : Float64Array.from(samples, (sample) => sample * scale + offset)
  return encodeLosslessWebp(terrainPicture(heights, mask, { width: size, height: size }, { invert }), effort)
}
