import { bandIndex } from '#raster/bands.ts'
import type { Block, Level, Raster, RasterInfo } from '#raster/types.ts'
import { invertAffine } from '#raster/warp/affine.ts'
import { withBlocks } from '#raster/warp/blocks.ts'
import { placementOf } from '#raster/warp/plan.ts'
import { projectorFromLonLat, type Point } from '#raster/warp/projector.ts'

import type { RenderContext } from './context.ts'

export interface PointOptions {
  /** 1-based; all by default. */
  bands?: readonly number[]
  /** Apply scale and offset. */
  unscale?: boolean
  signal?: AbortSignal | undefined
}

export interface Place {
  longitude: number
  latitude: number
}

/** The value of each band at a point, null without data; null altogether outside the raster. */
export async function readPoint(
  context: RenderContext,
  raster: Raster,
  place: Place,
  options: PointOptions = {},
): Promise<(number | null)[] | null> {
  return raster.forBands ? readBandwise(context, raster, place, options) : readPixel(context, raster, place, options)
}

async function readPixel(context: RenderContext, raster: Raster, place: Place, options: PointOptions): Promise<(number | null)[] | null> {
  const { info } = raster
  const bands = (options.bands ?? info.bands.map((_, i) => i + 1)).map((band) => bandIndex(info, band))
  const pixel = pixelAt(raster, place)
  if (!pixel) return null
  const range = { minX: pixel.x, minY: pixel.y, maxX: pixel.x + 1, maxY: pixel.y + 1 }
  return withBlocks(context.blocks, { raster, level: 0, range, bands, signal: options.signal }, ({ blocks }) =>
    valuesAt(blocks[0] as Block, { info, level: info.levels[0] as Level }, pixel, bands, options),
  )
}

/** Of a stack, each band is read on its own pixels. One whose file cannot be read has no value. */
async function readBandwise(
  context: RenderContext,
  raster: Raster,
  place: Place,
  options: PointOptions,
): Promise<(number | null)[] | null> {
  const { bands: described } = raster.info
  const bands = options.bands ?? described.map((_, index) => index + 1)
  const pixels = await Promise.all(
    bands.map(async (band) => {
      const index = bandIndex(raster.info, band)
      if (described[index]!.problem !== undefined) return null
      return readPixel(context, raster.forBands!([index]), place, { ...options, bands: [band] })
    }),
  )
  return pixels.every((pixel) => pixel === null) ? null : pixels.map((pixel) => pixel?.[0] ?? null)
}

/** The values of a pixel of a level, from the block that holds it. */
export function valuesAt(
  block: Block,
  { info, level }: { info: RasterInfo; level: Level },
  pixel: { x: number; y: number },
  bands: readonly number[],
  options: PointOptions,
): (number | null)[] {
  const { blockWidth, blockHeight } = level
  const offset = (pixel.y % blockHeight) * block.width + (pixel.x % blockWidth)
  if (block.mask && block.mask[offset] === 0) return bands.map(() => null)
  return bands.map((band) => {
    const plane = block.bands.indexOf(band)
    const value = block.data[plane]?.[offset * block.stride + (block.starts[plane] ?? 0)] ?? Number.NaN
    const { nodata, scale, offset: shift } = info.bands[band] ?? { nodata: null, scale: 1, offset: 0 }
    if (!Number.isFinite(value) || value === nodata) return null
    return (options.unscale ?? info.isScaled) ? value * scale + shift : value
  })
}

/** At full resolution; null outside the raster. */
export function pixelAt({ info }: Raster, { longitude, latitude }: Place): { x: number; y: number } | null {
  const { crs, transform } = placementOf(info)
  const inverse = invertAffine(transform)
  const point: Point = [0, 0]
  projectorFromLonLat(crs)(longitude, latitude, point)
  for (const turns of crs.kind === 'geographic' ? [0, -1, 1] : [0]) {
    const x = point[0] + turns * 360
    const column = Math.floor(inverse[0] + x * inverse[1] + point[1] * inverse[2])
    const row = Math.floor(inverse[3] + x * inverse[4] + point[1] * inverse[5])
    if (column >= 0 && row >= 0 && column < info.width && row < info.height) return { x: column, y: row }
  }
  return null
}
