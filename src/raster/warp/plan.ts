import { requireCrs } from '#raster/crs/from-geo-keys.ts'
import { RasterError, type Affine, type Crs, type Level, type Raster, type RasterInfo } from '#raster/types.ts'

import { applyAffine, invertAffine } from './affine.ts'
import { mercatorExtent, type MercatorExtent } from './extent.ts'
import { buildGrid, ratioAt, type CoordinateGrid } from './grid.ts'
import { checkTile, tileTransform, WORLD_M, type TileAddress, type TileSize } from './mercator.ts'
import { projectorBetween, projectorFromMercator, type Point, type Projector } from './projector.ts'

/** A rectangle of the target, and the position of its pixels in one level of the source. */
export interface WarpWindow {
  /** In target pixels. */
  x: number
  y: number
  /** The grid's coordinates are pixels of `level`. */
  grid: CoordinateGrid
  level: number
  /** Pixels of the level per target pixel, along each axis of the source. */
  ratio: { x: number; y: number }
}

/** Precomputed properties of a raster that every tile needs. */
interface Placement {
  crs: Crs
  transform: Affine
  extent: MercatorExtent
  fromMercator: Projector
}

/** Cached per raster, and released with it. */
const placements = new WeakMap<RasterInfo, Placement>()

/** Margin around a raster's extent in a tile, so that rounding never cuts its edge. */
const PADDING_PX = 2

export function placementOf(info: RasterInfo): Placement {
  let placement = placements.get(info)
  if (!placement) {
    const { transform, width, height } = info
    if (!transform) throw new RasterError('no_georeference', 'The raster has no georeference')
    const crs = requireCrs(info)
    placement = { crs, transform, extent: mercatorExtent({ width, height, transform, crs }), fromMercator: projectorFromMercator(crs) }
    placements.set(info, placement)
  }
  return placement
}

/**
 * The windows of a tile in the raster: none outside it, usually one, two across the antimeridian. With a margin the
 * target is larger by this many pixels on every side.
 */
export function planTile(raster: Raster, tile: TileAddress, size: TileSize, margin = 0): WarpWindow[] {
  checkTile(tile)
  const placement = placementOf(raster.info)
  const [left, pixelM, , top] = tileTransform(tile, size)
  const transform: Affine = [left - margin * pixelM, pixelM, 0, top + margin * pixelM, 0, -pixelM]
  const windows: WarpWindow[] = []
  for (const turns of [0, -1, 1]) {
    const rectangle = tileRectangle(placement.extent, transform, size + 2 * margin, turns)
    if (rectangle) windows.push(planRectangle(raster.info, placement, transform, { ...rectangle, turns }))
  }
  return windows
}

interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

function tileRectangle(extent: MercatorExtent, transform: Affine, size: number, turns: number): Rectangle | null {
  const [originX, pixelM, , originY] = transform
  const shift = turns * WORLD_M
  const left = Math.max(0, Math.floor((extent.minX + shift - originX) / pixelM) - PADDING_PX)
  const right = Math.min(size, Math.ceil((extent.maxX + shift - originX) / pixelM) + PADDING_PX)
  const top = Math.max(0, Math.floor((originY - extent.maxY) / pixelM) - PADDING_PX)
  const bottom = Math.min(size, Math.ceil((originY - extent.minY) / pixelM) + PADDING_PX)
  return left < right && top < bottom ? { x: left, y: top, width: right - left, height: bottom - top } : null
}

function planRectangle(info: RasterInfo, placement: Placement, tile: Affine, rectangle: Rectangle & { turns: number }): WarpWindow {
  const { x, y, width, height, turns } = rectangle
  const locateIn = (inverse: Affine): Projector => {
    const point: Point = [0, 0]
    return (px, py, out) => {
      const [mx, my] = applyAffine(tile, px + x, py + y)
      placement.fromMercator(mx - turns * WORLD_M, my, point)
      out[0] = inverse[0] + point[0] * inverse[1] + point[1] * inverse[2]
      out[1] = inverse[3] + point[0] * inverse[4] + point[1] * inverse[5]
    }
  }
  return planWindow(info, { x, y, width, height }, locateIn)
}

/** A grid of pixels in any coordinate system. */
export interface TargetGrid {
  crs: Crs
  transform: Affine
  width: number
  height: number
}

/** The position of any target grid's pixels in the raster. */
export function planTarget(raster: Raster, target: TargetGrid): WarpWindow[] {
  const { crs } = placementOf(raster.info)
  const project = projectorBetween(target.crs, crs)
  const locateIn = (inverse: Affine): Projector => {
    const point: Point = [0, 0]
    return (px, py, out) => {
      project(...applyAffine(target.transform, px, py), point)
      out[0] = inverse[0] + point[0] * inverse[1] + point[1] * inverse[2]
      out[1] = inverse[3] + point[0] * inverse[4] + point[1] * inverse[5]
    }
  }
  return [planWindow(raster.info, { x: 0, y: 0, width: target.width, height: target.height }, locateIn)]
}

/** The target pixels of a window, in another raster. */
export function planAgain({ x, y, grid, level }: WarpWindow, from: RasterInfo, to: RasterInfo): WarpWindow {
  const { transform } = from.levels[level] as Level
  if (!transform) throw new RasterError('no_georeference', 'The raster has no georeference')
  const project = projectorBetween(placementOf(from).crs, placementOf(to).crs)
  const locateIn = (inverse: Affine): Projector => {
    const point: Point = [0, 0]
    return (px, py, out) => {
      grid.locate(px, py, point)
      project(...applyAffine(transform, point[0], point[1]), point)
      out[0] = inverse[0] + point[0] * inverse[1] + point[1] * inverse[2]
      out[1] = inverse[3] + point[0] * inverse[4] + point[1] * inverse[5]
    }
  }
  return planWindow(to, { x, y, width: grid.width, height: grid.height }, locateIn)
}

/** How to rotate and mirror a raster so that north is up, in quarter turns. */
interface Orientation {
  /** Rows run from west to east. */
  isTransposed: boolean
  fromRight: boolean
  fromBelow: boolean
}

const AS_STORED: Orientation = { isTransposed: false, fromRight: false, fromBelow: false }

/** Satellite scenes are stored as scanned: bottom-up, right to left, or transposed. */
export function orientationOf({ transform }: RasterInfo): Orientation {
  if (!transform) return AS_STORED
  const [, a, b, , d, e] = transform
  const isTransposed = Math.abs(b) + Math.abs(d) > Math.abs(a) + Math.abs(e)
  return isTransposed ? { isTransposed, fromRight: b < 0, fromBelow: d > 0 } : { isTransposed, fromRight: a < 0, fromBelow: e > 0 }
}

/** The whole raster resized, without projection: rasters without a georeference have thumbnails too. */
export function planPreview(raster: Raster, width: number, height: number): WarpWindow[] {
  const { info } = raster
  const { isTransposed, fromRight, fromBelow } = orientationOf(info)
  const [across, down] = isTransposed ? [info.height, info.width] : [info.width, info.height]
  const level = chooseLevel(info, Math.min(across / width, down / height))
  const { width: levelWidth, height: levelHeight } = info.levels[level] as Level
  const [alongX, alongY] = isTransposed ? [levelHeight / width, levelWidth / height] : [levelWidth / width, levelHeight / height]
  const ratio = isTransposed ? { x: alongY, y: alongX } : { x: alongX, y: alongY }
  const locate: Projector = (px, py, out) => {
    const x = (fromRight ? width - px : px) * alongX
    const y = (fromBelow ? height - py : py) * alongY
    out[0] = isTransposed ? y : x
    out[1] = isTransposed ? x : y
  }
  return [{ x: 0, y: 0, grid: buildGrid({ width, height, locate }), level, ratio }]
}

/** Chooses the level for a rectangle of the target and builds its grid. `locateIn` gets the inverse of a level's transform. */
function planWindow(info: RasterInfo, rectangle: Rectangle, locateIn: (inverse: Affine) => Projector): WarpWindow {
  const { x, y, width, height } = rectangle
  const full = coarseRatio(rectangle, locateIn(levelInverse(info, 0)))
  const level = chooseLevel(info, Math.min(full.x, full.y))
  const grid = buildGrid({ width, height, locate: locateIn(levelInverse(info, level)) })
  const { width: levelWidth, height: levelHeight } = info.levels[level] as Level
  return { x, y, grid, level, ratio: { x: (full.x * levelWidth) / info.width, y: (full.y * levelHeight) / info.height } }
}

/** At the centre of the rectangle, or elsewhere in it if the centre is outside the projection. */
function coarseRatio(rectangle: Rectangle, locate: Projector): { x: number; y: number } {
  for (const share of [0.5, 0.25, 0.75, 0.05, 0.95]) {
    const ratio = ratioAt(locate, rectangle.width * share, rectangle.height * share)
    if (ratio.x > 0 && ratio.y > 0 && Number.isFinite(ratio.x + ratio.y)) return ratio
  }
  return { x: 1, y: 1 }
}

/** Cached per level, and released with it. */
const levelInverses = new WeakMap<Level, Affine>()

function levelInverse(info: RasterInfo, index: number): Affine {
  const level = info.levels[index] as Level
  let inverse = levelInverses.get(level)
  if (!inverse) {
    if (!level.transform) throw new RasterError('no_georeference', 'The raster has no georeference')
    inverse = invertAffine(level.transform)
    levelInverses.set(level, inverse)
  }
  return inverse
}

/** A level that is slightly coarser than the target is still used, as in GDAL. */
const RATIO_TOLERANCE = 0.1

/** The coarsest level with all the detail that the target can show. `ratio` is full-resolution pixels per target pixel. */
export function chooseLevel(info: RasterInfo, ratio: number): number {
  let chosen = 0
  info.levels.forEach((level, index) => {
    const levelRatio = info.width / level.width
    if (index > 0 && (levelRatio <= ratio || levelRatio - ratio < RATIO_TOLERANCE)) chosen = index
  })
  return chosen
}
