import type { Affine, Level, RasterInfo } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'

const METRES_PER_DEGREE = 111_320

/** Approximate side of a pixel on the ground; without a georeference, finer for larger images. */
export function groundPixelM({ transform, crs, width, height }: RasterInfo): number {
  if (!transform || !crs) return 1 / Math.max(1, width * height)
  const [, a, b, , d, e] = transform
  const side = Math.sqrt(Math.abs(a * e - b * d))
  if (crs.kind === 'projected') return side * crs.unit
  const [, latitude] = applyAffine(transform, width / 2, height / 2)
  return side * METRES_PER_DEGREE * Math.sqrt(Math.max(0.01, Math.cos((latitude * Math.PI) / 180)))
}

/** Maximum distance, in pixels, at which two grids count as identical. */
const SAME_PX = 1e-3

/** Whether a level of two files has the same pixels at the same places. */
export function isSameGrid(one: RasterInfo, first: Level, other: RasterInfo, second: Level): boolean {
  if (first.width !== second.width || first.height !== second.height) return false
  if (!first.transform || !second.transform) return first.transform === second.transform
  return one.crs?.proj4 === other.crs?.proj4 && isSameTransform(first, first.transform, second.transform)
}

function isSameTransform({ width, height }: Level, one: Affine, other: Affine): boolean {
  const side = Math.max(Math.hypot(one[1], one[4]), Math.hypot(one[2], one[5]))
  return [
    [0, 0],
    [width, 0],
    [0, height],
    [width, height],
  ].every(([x, y]) => {
    const [ax, ay] = applyAffine(one, x!, y!)
    const [bx, by] = applyAffine(other, x!, y!)
    return Math.hypot(ax - bx, ay - by) <= SAME_PX * side
  })
}

export const isSameBlocks = (first: Level, second: Level): boolean =>
  first.blockWidth === second.blockWidth && first.blockHeight === second.blockHeight
