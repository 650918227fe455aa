import { mapPolygons, readPolygons, type Polygon } from '#raster/geometry/polygon.ts'
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import { invertAffine } from '#raster/warp/affine.ts'
import { tileTransform, toMercator, WORLD_M, type TileAddress, type TileSize } from '#raster/warp/mercator.ts'

/** Degrees: along an edge of constant slope Mercator bends less than a pixel between such points at any zoom that shows both. */
const MAX_EDGE_DEGREES = 0.5

/** Which pixels of a tile lie inside an area, given as GeoJSON in longitude and latitude. */
export function aoiMask(aoi: unknown, tile: TileAddress, size: TileSize): Uint8Array {
  const polygons = readPolygons(aoi)
  const inverse = invertAffine(tileTransform(tile, size))
  // An area beyond 180° is also found on the other side.
  const everywhere: Polygon[] = [-1, 0, 1].flatMap((turns) =>
    mapPolygons(
      polygons,
      ([longitude, latitude]) => {
        const [x, y] = toMercator(longitude, latitude)
        return [inverse[0] + (x + turns * WORLD_M) * inverse[1], inverse[3] + y * inverse[5]]
      },
      MAX_EDGE_DEGREES,
    ),
  )
  return rasterizeMask(everywhere, { width: size, height: size })
}
