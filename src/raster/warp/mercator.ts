import { RasterError, type Affine } from '#raster/types.ts'

/** Half the width of the Web Mercator world, in metres. */
export const HALF_WORLD_M = 20_037_508.342789244
export const WORLD_M = 2 * HALF_WORLD_M
export const WEB_MERCATOR = '+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +no_defs'
export const WGS84 = '+proj=longlat +datum=WGS84 +no_defs'
export const WEB_MERCATOR_EPSG = 3857
export const MAX_ZOOM = 24
/** The maximum latitude of Web Mercator. */
export const MAX_LATITUDE = 85.0511287798066

/** The side of a tile in pixels of its grid; tiles can be rendered with more. */
const GRID_TILE_PX = 256
const TILE_SIZES = [256, 512] as const
export type TileSize = (typeof TILE_SIZES)[number]

/** Tiles of a custom grid in Web Mercator: its origin and pixel size, in metres. */
interface TileGrid {
  left: number
  top: number
  pixelM: number
}

export interface TileAddress {
  z: number
  x: number
  y: number
  /** The standard grid of that zoom, unless a custom one is given, which has a single zoom. */
  grid?: TileGrid
}

/** Rejects addresses outside the scheme. */
export function checkTile({ z, x, y, grid }: TileAddress): void {
  const count = 2 ** (grid ? MAX_ZOOM : z)
  const isIndex = (n: number): boolean => Number.isInteger(n) && n >= 0 && n < count
  if (!Number.isInteger(z) || z < 0 || z > MAX_ZOOM) throw new RasterError('invalid_argument', `z must be between 0 and ${MAX_ZOOM}`)
  if (!isIndex(x) || !isIndex(y)) throw new RasterError('invalid_argument', `x and y must be between 0 and ${count - 1} at zoom ${z}`)
}

/** Pixel of a tile to Web Mercator. */
export function tileTransform({ z, x, y, grid }: TileAddress, size: TileSize): Affine {
  if (grid) {
    const tileM = grid.pixelM * GRID_TILE_PX
    return [grid.left + x * tileM, tileM / size, 0, grid.top - y * tileM, 0, -tileM / size]
  }
  const tileM = WORLD_M / 2 ** z
  const pixelM = tileM / size
  return [-HALF_WORLD_M + x * tileM, pixelM, 0, HALF_WORLD_M - y * tileM, 0, -pixelM]
}

/** Longitude and latitude in degrees to metres; latitudes beyond the square world are clamped. */
export function toMercator(longitude: number, latitude: number): [number, number] {
  const bounded = Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitude))
  const y = Math.log(Math.tan(Math.PI / 4 + (bounded * Math.PI) / 360)) * (HALF_WORLD_M / Math.PI)
  return [(longitude / 180) * HALF_WORLD_M, y]
}

export function fromMercator(x: number, y: number): [number, number] {
  return [(x / HALF_WORLD_M) * 180, (Math.atan(Math.sinh((y / HALF_WORLD_M) * Math.PI)) * 180) / Math.PI]
}
