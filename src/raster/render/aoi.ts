import { cutInTurns } from '#raster/geometry/cut.ts'
import { mapPolygons, readPolygons } from '#raster/geometry/polygon.ts'
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import { applyAffine, invertAffine } from '#raster/warp/affine.ts'
import { fromMercator, tileTransform, toMercator, type TileAddress, type TileSize } from '#raster/warp/mercator.ts'

/** In degrees: between such points an edge deviates less than a pixel in Mercator, at any zoom that shows both. */
const MAX_EDGE_DEGREES = 0.5

/** The pixels of a tile inside an area, given as GeoJSON in longitude and latitude. */
export function aoiMask(aoi: unknown, tile: TileAddress, size: TileSize): Uint8Array {
  const polygons = readPolygons(aoi)
  const transform = tileTransform(tile, size)
  const [left, pixelM] = transform
  const inverse = invertAffine(transform)
  const [west] = fromMercator(left, 0)
  const [east] = fromMercator(left + size * pixelM, 0)
  // An area beyond 180° also appears on the other side of the antimeridian.
  const everywhere = cutInTurns(polygons, { minX: west, maxX: east, minY: -90, maxY: 90 })
  const inTile = mapPolygons(
    everywhere,
    ([longitude, latitude]) => applyAffine(inverse, ...toMercator(longitude, latitude)),
    MAX_EDGE_DEGREES,
  )
  return rasterizeMask(inTile, { width: size, height: size })
}
