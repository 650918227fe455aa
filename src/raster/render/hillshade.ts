/** Hillshading from the north-west, which shows valleys and ridges under any colours. */
import type { IndexedImage, RawImage } from '#raster/encode/index.ts'
import type { Raster } from '#raster/types.ts'
import { fromMercator, tileTransform, type TileAddress, type TileSize } from '#raster/warp/mercator.ts'
import { planTile } from '#raster/warp/plan.ts'
import { samplePlanes } from '#raster/warp/sample.ts'

import type { RenderContext } from './context.ts'

/** Slopes use the surrounding pixels, so one more is read on every side: neighbouring tiles have no seam. */
const MARGIN_PX = 1
const AZIMUTH = (315 * Math.PI) / 180
const ALTITUDE = (45 * Math.PI) / 180
/** Shadow and highlight: flat ground keeps its colour. */
const DARKEST = 0.45
const BRIGHTEST = 1.25
/** How much of a colour is light. */
const STRENGTH = 0.7
/** Coarse pixels flatten slopes; exaggerate them so that mountains stay visible. */
const SHARP_PIXEL_M = 30
const RAISE_POWER = 0.45

interface Request {
  band: number
  tile: TileAddress
  size: TileSize
  signal?: AbortSignal | undefined
}

/** The factor for the colour of each pixel of a tile. */
export async function hillshade(context: RenderContext, raster: Raster, { band, tile, size, signal }: Request): Promise<Float32Array> {
  const side = size + 2 * MARGIN_PX
  const target = { windows: planTile(raster, tile, size, MARGIN_PX), width: side, height: side }
  const request = { ...target, raster, blocks: context.blocks, bands: [band], resampling: 'bilinear', rule: 'all', signal } as const
  const { planes, mask } = await samplePlanes(request)
  const heights = planes[0]!
  const { scale, offset } = raster.info.bands[band] ?? { scale: 1, offset: 0 }
  const pixelM = groundPixel(tile, size)
  const steepness = (scale * Math.max(1, (pixelM / SHARP_PIXEL_M) ** RAISE_POWER)) / (8 * pixelM)
  const light = new Float32Array(size * size)
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const middle = (y + MARGIN_PX) * side + x + MARGIN_PX
      const here = mask[middle] === 0 ? -offset : heights[middle]!
      const at = (index: number): number => (mask[index] === 0 ? here : heights[index]!)
      const [north, south] = [middle - side, middle + side]
      const east = at(north + 1) + 2 * at(middle + 1) + at(south + 1) - at(north - 1) - 2 * at(middle - 1) - at(south - 1)
      const down = at(south - 1) + 2 * at(south) + at(south + 1) - at(north - 1) - 2 * at(north) - at(north + 1)
      light[y * size + x] = brightness(east * steepness, down * steepness)
    }
  }
  return light
}

/** Metres on the ground at the centre of the tile. */
function groundPixel(tile: TileAddress, size: TileSize): number {
  const [left, pixelM, , top] = tileTransform(tile, size)
  const [, latitude] = fromMercator(left + (size / 2) * pixelM, top - (size / 2) * pixelM)
  return pixelM * Math.cos((latitude * Math.PI) / 180)
}

/** The cosine between the light and the ground's normal, relative to flat ground. */
function brightness(east: number, down: number): number {
  const towards = -east * Math.sin(AZIMUTH) + down * Math.cos(AZIMUTH)
  const lit = (Math.sin(ALTITUDE) + Math.cos(ALTITUDE) * towards) / Math.sqrt(1 + east * east + down * down) / Math.sin(ALTITUDE)
  return Math.max(DARKEST, Math.min(BRIGHTEST, 1 - STRENGTH + STRENGTH * lit))
}

/** The image with this light. */
export function shaded(image: RawImage | IndexedImage, light: Float32Array): RawImage {
  const { width, height } = image
  const data = new Uint8Array(width * height * 4)
  for (let i = 0; i < light.length; i++) {
    const [red, green, blue, alpha] = colourAt(image, i)
    if (alpha === 0) continue
    data[i * 4] = Math.min(255, red * light[i]!)
    data[i * 4 + 1] = Math.min(255, green * light[i]!)
    data[i * 4 + 2] = Math.min(255, blue * light[i]!)
    data[i * 4 + 3] = alpha
  }
  return { width, height, channels: 4, data }
}

function colourAt(image: RawImage | IndexedImage, pixel: number): readonly [number, number, number, number] {
  if ('indices' in image) {
    const entry = image.indices[pixel]! * 3
    return [image.palette[entry]!, image.palette[entry + 1]!, image.palette[entry + 2]!, image.mask[pixel] === 0 ? 0 : 255]
  }
  const { channels, data } = image
  const at = pixel * channels
  if (channels === 2) return [data[at]!, data[at]!, data[at]!, data[at + 1]!]
  return [data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!]
}
