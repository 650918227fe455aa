import { encodeImage, type EncodeOptions } from '#raster/encode/index.ts'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { mapPolygons, readPolygons } from '#raster/geometry/polygon.ts'
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import { RasterError, type Raster } from '#raster/types.ts'
import { applyAffine, invertAffine } from '#raster/warp/affine.ts'
import { toMercator, WEB_MERCATOR_EPSG } from '#raster/warp/mercator.ts'
import { planTarget } from '#raster/warp/plan.ts'

import { clipImage } from './color.ts'
import { resolveRanges, type RenderContext } from './context.ts'
import { draw } from './render.ts'
import { defaultStyle, type Style } from './style.ts'

export interface MapImageOptions {
  /** West, south, east, north in degrees. */
  bounds: readonly [number, number, number, number]
  /** Pixels along the longer side. */
  maxSide: number
  style?: Style | undefined
  /** GeoJSON in longitude and latitude; outside it the image is transparent. */
  aoi?: unknown
  signal?: AbortSignal | undefined
}

export interface MapImage {
  width: number
  height: number
  bytes: Uint8Array
}

const MAX_SIDE_PX = 2048
const MAX_EDGE_DEGREES = 0.5

/** Renders any rectangle of a Web Mercator map as one image. */
export async function renderMapImage(context: RenderContext, raster: Raster, options: MapImageOptions & EncodeOptions): Promise<MapImage> {
  const { style = defaultStyle(raster.info), maxSide, aoi, signal } = options
  const [west, south, east, north] = options.bounds
  if (!(west < east && south < north))
    throw new RasterError('invalid_argument', 'bounds must be west, south, east and north, in this order')
  if (!Number.isInteger(maxSide) || maxSide < 1 || maxSide > MAX_SIDE_PX)
    throw new RasterError('invalid_argument', `each side must be between 1 and ${MAX_SIDE_PX} pixels`)
  const [left, bottom] = toMercator(west, south)
  const [right, top] = toMercator(east, north)
  const pixel = Math.max(right - left, top - bottom) / maxSide
  const [width, height] = [Math.max(1, Math.round((right - left) / pixel)), Math.max(1, Math.round((top - bottom) / pixel))]
  const transform = [left, (right - left) / width, 0, top, 0, (bottom - top) / height] as const
  const windows = planTarget(raster, { crs: crsFromEpsg(WEB_MERCATOR_EPSG), transform, width, height })
  const unscale = raster.info.isScaled ?? false
  const ranges = await resolveRanges(context, raster, style, { unscale, signal })
  const resampling = style.kind === 'palette' ? 'nearest' : 'bilinear'
  const image = await draw(context, raster, { windows, width, height }, { style, ranges, resampling, unscale, signal })
  if (aoi !== undefined) {
    const inverse = invertAffine(transform)
    const inside = mapPolygons(readPolygons(aoi), ([x, y]) => applyAffine(inverse, ...toMercator(x, y)), MAX_EDGE_DEGREES)
    clipImage(image, rasterizeMask(inside, { width, height }))
  }
  return { width, height, bytes: await encodeImage(image, options) }
}
