import { problem } from '#core/problem.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { Context } from '#operation.ts'
import type { RasterSource } from '#ports/raster.ts'
import { readPolygons } from '#raster/geometry/polygon.ts'
import { chooseArea } from '#raster/statistics/area.ts'

/** 400 before anything is paid for where an area lies beside what is to be clipped to it. */
export async function requireTouching(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  sources: readonly { key: string; source: RasterSource }[],
  geometry: AreaGeometry,
): Promise<void> {
  for (const { key, source } of sources) {
    const info = await raster.describe(source, signal)
    const { window } = chooseArea(info, { polygons: readPolygons(geometry), maxPixels: Infinity })
    if (window.width === 0 || window.height === 0)
      throw problem('bad-request', `The area does not touch '${key}', so there is nothing to clip`)
  }
}
