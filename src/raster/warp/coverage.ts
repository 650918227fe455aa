import { requireCrs } from '#raster/crs/from-geo-keys.ts'
import { RasterError, type Level, type RasterInfo } from '#raster/types.ts'

import { applyAffine } from './affine.ts'
import { MAX_SOURCE_PIXELS } from './blocks.ts'
import { lonLatExtent } from './extent.ts'
import { fromMercator, HALF_WORLD_M, MAX_LATITUDE, MAX_ZOOM, toMercator, WORLD_M } from './mercator.ts'
import { placementOf } from './plan.ts'
import { projectorToLonLat, type Point } from './projector.ts'

/** What a map needs before it requests tiles. */
export interface Coverage {
  /** West, south, east, north in degrees, never across the antimeridian: a raster on both sides spans all longitudes. */
  bounds: [number, number, number, number]
  /** Longitude, latitude, and a zoom at which the whole raster is visible. */
  center: [number, number, number]
  /** Below this zoom, the raster is only a few pixels wide. */
  minZoom: number
  /** At this zoom a tile pixel is no larger than a raster pixel. */
  maxZoom: number
}

const TILE_PX = 256
/** Approximate size of a raster in pixels at its lowest zoom. */
const SPECK_PX = 64

/** Cached per raster, and released with it. */
const coverages = new WeakMap<RasterInfo, Coverage>()

/** Extent of a raster on a map, and its useful zooms. */
export function coverageOf(info: RasterInfo): Coverage {
  let coverage = coverages.get(info)
  if (!coverage) coverages.set(info, (coverage = compute(info)))
  return coverage
}

const extentOf = ([west, south, east, north]: NonNullable<RasterInfo['bounds']>) => ({ west, south, east, north })
const WORLD = { west: -180, south: -MAX_LATITUDE, east: 180, north: MAX_LATITUDE }

function compute(info: RasterInfo): Coverage {
  const { width, height, transform } = info
  if (!transform) throw new RasterError('no_georeference', 'The raster has no georeference')
  const computed = lonLatExtent({ width, height, transform, crs: requireCrs(info) })
  const own = !computed ? WORLD : computed.holdsPole ? aroundPole(computed) : computed
  const extent = info.bounds ? extentOf(info.bounds) : own
  const turns = extent.west >= 180 ? -360 : extent.east <= -180 ? 360 : 0
  const { west, south, east, north } = {
    west: extent.west + turns,
    south: held(extent.south),
    east: extent.east + turns,
    north: held(extent.north),
  }
  const [left, bottom] = toMercator(west, south)
  const [right, top] = toMercator(east, north)
  const longest = Math.max(right - left, top - bottom, 1)
  const maxZoom = bounded(Math.ceil(zoomOf(pixelMetres(info) ?? longest / Math.max(width, height)) - 0.1))
  const whole = bounded(Math.floor(zoomOf(longest / TILE_PX)))
  const minZoom = Math.min(maxZoom, Math.max(lowestReadable(info, maxZoom), bounded(Math.floor(zoomOf(longest / SPECK_PX)))))
  const [longitude, latitude] = fromMercator((left + right) / 2, (bottom + top) / 2)
  const crosses = west < -180 || east > 180
  return {
    bounds: [crosses ? -180 : west, south, crosses ? 180 : east, north],
    center: [
      longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude,
      latitude,
      Math.min(maxZoom, Math.max(minZoom, whole)),
    ],
    minZoom,
    maxZoom,
  }
}

/** The number of pixels of the raster, in Web Mercator squares that contain it; coarser grids halve them. */
export interface ImageGrid {
  left: number
  top: number
  /** In metres, of the finest grid. */
  pixelM: number
  /** How often it can be halved until the raster is one tile, or until that is too much to read. */
  halvings: number
}

/** Significant digits of a grid's numbers, which are part of URLs. */
const PIXEL_DIGITS = 9
const MAX_HALVINGS = 20

export function imageGridOf(info: RasterInfo): ImageGrid {
  const { maxZoom } = coverageOf(info)
  const { x, y, right, bottom } = sidesOf(info)
  const [left, top] = [Math.floor(x * 100) / 100, Math.ceil(y * 100) / 100]
  const exact = Math.max((right - left) / info.width, (top - bottom) / info.height)
  const step = 10 ** (Math.ceil(Math.log10(exact)) - PIXEL_DIGITS)
  const whole = Math.ceil(Math.log2(Math.max(info.width, info.height, TILE_PX) / TILE_PX))
  return {
    left,
    top,
    pixelM: Number((Math.ceil(exact / step) * step).toPrecision(PIXEL_DIGITS)),
    halvings: Math.min(whole, MAX_HALVINGS, maxZoom - lowestReadable(info, maxZoom)),
  }
}

/** In metres; a raster on both sides of the antimeridian is one piece. */
function sidesOf(info: RasterInfo): { x: number; y: number; right: number; bottom: number } {
  const { minX, maxX, minY, maxY } = placementOf(info).extent
  if (minX < -HALF_WORLD_M || maxX > HALF_WORLD_M) return { x: minX, y: maxY, right: maxX, bottom: minY }
  const { bounds: _ofAllFiles, ...grid } = info
  const [west, south, east, north] = compute(grid).bounds
  const [x, bottom] = toMercator(west, south)
  const [right, y] = toMercator(east, north)
  return { x, y, right, bottom }
}

const held = (latitude: number): number => Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude))
const bounded = (zoom: number): number => Math.max(0, Math.min(MAX_ZOOM, zoom))
/** The zoom, with its fraction, whose tiles have pixels of this many metres at the equator. */
const zoomOf = (metres: number): number => Math.log2(WORLD_M / TILE_PX / metres)

function aroundPole({ south, north }: { south: number; north: number }) {
  return south + north > 0 ? { west: -180, south, east: 180, north: MAX_LATITUDE } : { west: -180, south: -MAX_LATITUDE, east: 180, north }
}

/** The side of a pixel in the middle of the raster, in metres of Web Mercator. */
function pixelMetres(info: RasterInfo): number | null {
  const { crs, transform } = placementOf(info)
  const toLonLat = projectorToLonLat(crs)
  const point: Point = [0, 0]
  const at = (column: number, row: number): [number, number] => {
    toLonLat(...applyAffine(transform, column, row), point)
    return toMercator(point[0], point[1])
  }
  const [column, row] = [info.width / 2, info.height / 2]
  const [x, y] = at(column, row)
  const sides = [at(column + 1, row), at(column, row + 1)].map(([x1, y1]) => Math.hypot(x1 - x, y1 - y))
  const shortest = Math.min(...sides)
  return Number.isFinite(shortest) && shortest > 0 && shortest < WORLD_M / 4 ? shortest : null
}

/** A raster whose smallest overview is still huge cannot be read for a tile that shows all of it. */
function lowestReadable(info: RasterInfo, maxZoom: number): number {
  const { width, height } = info.levels.at(-1) as Level
  if (width * height <= MAX_SOURCE_PIXELS) return 0
  const reduction = Math.floor(Math.log2(info.width / width))
  return bounded(maxZoom - reduction - Math.floor(Math.log2(Math.sqrt(MAX_SOURCE_PIXELS) / TILE_PX)))
}
