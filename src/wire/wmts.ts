/** WMTS definitions that its documents and its URLs share. */
import Type, { type Static } from 'typebox'
import { Closed } from '#core/shapes.ts'

/** Half the width of the square world in Web Mercator, in metres. */
const HALF_WORLD_M = 20_037_508.342789244
export const TILE_PX = 256

/** The well-known tile matrix set, which clients have built in, and its last zoom level. */
export const WELL_KNOWN_SET = { id: 'GoogleMapsCompatible', maxZoom: 18 } as const
/** A tile matrix set that ends at the image's resolution, so that clients that read a whole layer read no more than that. */
export const IMAGE_SET = { id: 'ImageResolution' } as const
/** The style that is meant if a client sends none. */
export const DEFAULT_STYLE = 'default'
export const WMTS_FORMATS = ['webp', 'png'] as const
/** Media types of GetFeatureInfo. */
export const WMTS_INFO_FORMATS = ['application/json', 'text/plain'] as const

/** A grid of square Web Mercator pixels, in metres. */
export const Grid = Closed(
  {
    left: Type.Number({ minimum: -2 * HALF_WORLD_M, maximum: 2 * HALF_WORLD_M, description: 'Left edge of the grid in metres' }),
    top: Type.Number({ minimum: -2 * HALF_WORLD_M, maximum: 2 * HALF_WORLD_M, description: 'Top edge of the grid in metres' }),
    pixel_m: Type.Number({ minimum: 0.0001, maximum: 400_000, description: 'Pixel size in metres' }),
  },
  { description: 'Tile grid of `z`, `x` and `y`; defaults to Web Mercator' },
)
type Grid = Static<typeof Grid>

/** The name of a matrix contains its grid, so that rendering a tile need not read the image first. */
export const gridName = ({ left, top, pixel_m }: Grid): string => [left, top, pixel_m].join('_')

/** Null for any other name; the schema validates the numbers. */
export function gridOfName(name: string): Grid | null {
  if (!/^-?\d+(\.\d+)?_-?\d+(\.\d+)?_\d+(\.\d+)?$/.test(name)) return null
  const [left, top, pixel_m] = name.split('_').map(Number) as [number, number, number]
  return { left, top, pixel_m }
}

interface Pixel {
  z: number
  x: number
  y: number
  grid?: Grid
  /** Column and row in the tile. */
  i: number
  j: number
}

/** The centre of a pixel of a tile, in degrees. Grids can cross the antimeridian. */
export function pixelCentre({ z, x, y, grid, i, j }: Pixel): { longitude: number; latitude: number } {
  const { left, top, pixel_m } = grid ?? { left: -HALF_WORLD_M, top: HALF_WORLD_M, pixel_m: (2 * HALF_WORLD_M) / TILE_PX / 2 ** z }
  const east = ((left + (x * TILE_PX + i + 0.5) * pixel_m) / HALF_WORLD_M) * 180
  const north = (top - (y * TILE_PX + j + 0.5) * pixel_m) / HALF_WORLD_M
  return {
    longitude: east > 180 ? east - 360 : east < -180 ? east + 360 : east,
    latitude: (Math.atan(Math.sinh(north * Math.PI)) * 180) / Math.PI,
  }
}
