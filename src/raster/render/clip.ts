import { readPolygons } from '#raster/geometry/polygon.ts'
import { chooseArea, readArea } from '#raster/statistics/area.ts'
import type { Affine, Crs, Level, PixelWindow, Raster, SampleArray } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { placementOf } from '#raster/warp/plan.ts'

interface ClippedWindow {
  level: number
  window: PixelWindow
  width: number
  height: number
  /** One per band, in the source's type. */
  planes: SampleArray[]
  /** Not 0 where a pixel is data and its centre inside the polygon. */
  mask: Uint8Array
  transform: Affine
  crs: Crs
}

interface ClipOptions {
  /** 1-based; all by default. */
  bands?: readonly number[]
  /** Above this many pixels, an overview is read. */
  maxPixels: number
  signal?: AbortSignal | undefined
}

/** Clips the pixels under a polygon out of a raster, in the raster's own CRS, with their mask and position. */
export async function readClipped(raster: Raster, geometry: unknown, options: ClipOptions): Promise<ClippedWindow> {
  const { info } = raster
  const bands = (options.bands ?? info.bands.map((_, i) => i + 1)).map((band) => band - 1)
  const area = chooseArea(info, { polygons: readPolygons(geometry), maxPixels: options.maxPixels })
  const { width, height, planes, mask: inside } = await readArea({ raster, exactCoverage: false, signal: options.signal }, area, bands)
  const mask = inside ?? new Uint8Array(width * height).fill(255)
  const nodata = bands.map((band) => info.bands[band]?.nodata ?? Number.NaN)
  for (let i = 0; i < mask.length; i++) {
    // As in images: a pixel is data where any of its bands is.
    const isData = planes.some((plane, k) => plane[i] !== nodata[k] && Number.isFinite(plane[i]))
    if (!isData) mask[i] = 0
  }
  const { crs, transform } = placementOf(info)
  const level = info.levels[area.level] as Level
  const [x0, a, b, y0, c, d] = level.transform ?? transform
  const [left, top] = applyAffine([x0, a, b, y0, c, d], area.window.x, area.window.y)
  return { level: area.level, window: area.window, width, height, planes, mask, transform: [left, a, b, top, c, d], crs }
}
