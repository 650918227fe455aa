import { problem } from '#core/problem.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { Context } from '#operation.ts'
import type { RasterSource } from '#ports/raster.ts'
import { readPolygons } from '#raster/geometry/polygon.ts'
import { chooseArea } from '#raster/statistics/area.ts'

/** 400 if an area does not intersect a raster to be clipped, before anything is charged. */
export async function requireIntersection(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  sources: readonly { key: string; source: RasterSource }[],
  geometry: AreaGeometry,
): Promise<void> {
  for (const { key, source } of sources) {
    const info = await raster.describe(source, signal)
    const { window } = chooseArea(info, { polygons: readPolygons(geometry), maxPixels: Infinity })
    if (window.width === 0 || window.height === 0)
      throw problem('bad-request', `The area does not intersect '${key}', so there is nothing to clip`)
  }
}
