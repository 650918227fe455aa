/** Zones on the pixels of a raster, and the blocks that each of them touches. */
import { boxOf, readPolygons, type Polygon } from '#raster/geometry/polygon.ts'
import { toPixels } from '#raster/statistics/area.ts'
import { RasterError, type Level, type RasterInfo } from '#raster/types.ts'

/** A zone in pixels of the full size, with the pixels that it may touch; none where it misses the raster. */
export interface PlacedZone {
  index: number
  polygons: Polygon[]
  minX: number
  minY: number
  /** Exclusive. */
  maxX: number
  maxY: number
}

export const MAX_ZONES = 100_000

/** GeoJSON in longitude and latitude becomes zones in pixels. Those that miss the raster are left out. */
export function placeZones(info: RasterInfo, geometries: readonly unknown[]): PlacedZone[] {
  if (geometries.length > MAX_ZONES) throw new RasterError('limit_exceeded', `There are more than ${MAX_ZONES} zones`)
  return geometries.flatMap((geometry, index) => {
    const polygons = toPixels(info, readPolygons(geometry))
    const box = boxOf(polygons)
    const zone = {
      index,
      polygons,
      minX: Math.max(0, Math.floor(box.minX)),
      minY: Math.max(0, Math.floor(box.minY)),
      maxX: Math.min(info.width, Math.ceil(box.maxX)),
      maxY: Math.min(info.height, Math.ceil(box.maxY)),
    }
    return zone.minX < zone.maxX && zone.minY < zone.maxY ? [zone] : []
  })
}

/** One block to read, with the zones in it. */
export interface BlockWork {
  bx: number
  by: number
  /** Rows of the block down to the last one that a zone touches. */
  rows: number
  zones: PlacedZone[]
}

/** The blocks that zones touch, from top to bottom and left to right: a zone is done when its last row of blocks is. */
export function planBlocks(level: Level, zones: readonly PlacedZone[]): BlockWork[] {
  const work = new Map<number, BlockWork>()
  for (const zone of zones) {
    for (let by = Math.floor(zone.minY / level.blockHeight); by * level.blockHeight < zone.maxY; by++) {
      const rows = Math.min(level.blockHeight, zone.maxY - by * level.blockHeight)
      for (let bx = Math.floor(zone.minX / level.blockWidth); bx * level.blockWidth < zone.maxX; bx++) {
        const found = work.get(by * level.blocksX + bx)
        if (!found) work.set(by * level.blocksX + bx, { bx, by, rows, zones: [zone] })
        else {
          found.rows = Math.max(found.rows, rows)
          found.zones.push(zone)
        }
      }
    }
  }
  return [...work.entries()].sort(([a], [b]) => a - b).map(([, block]) => block)
}
