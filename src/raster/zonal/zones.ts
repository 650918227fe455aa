/** Zones on the pixels of a raster, and the blocks that each of them touches. */
import { boxOf, readPolygons, type Polygon } from '#raster/geometry/polygon.ts'
import { sliverOf, toPixels } from '#raster/statistics/area.ts'
import { RasterError, type Level, type RasterInfo } from '#raster/types.ts'

/** A zone in full-resolution pixels, with the pixels that it may touch; none if it is outside the raster. */
interface PlacedZone {
  index: number
  polygons: Polygon[]
  minX: number
  minY: number
  /** Exclusive. */
  maxX: number
  maxY: number
}

const MAX_ZONES = 100_000

/** What to read of a raster for zones given as GeoJSON in longitude and latitude. */
export function planZones(info: RasterInfo, geometries: readonly unknown[]): ZonePlan {
  return { ...planBlocks(info.levels[0] as Level, placeZones(info, geometries)), sliver: sliverOf(info) }
}

/** Converts GeoJSON to zones in pixels, without those outside the raster. */
function placeZones(info: RasterInfo, geometries: readonly unknown[]): PlacedZone[] {
  if (geometries.length > MAX_ZONES) throw new RasterError('limit_exceeded', `The maximum is ${MAX_ZONES} zones`)
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

/** The part of a zone in one block, in pixels of the block. */
export interface ZonePart {
  zone: PlacedZone
  left: number
  top: number
  width: number
  height: number
  /** The zone has no part in a later block. */
  isLast: boolean
  /** Differences of its coverage (`addCoverage`), if they are kept for further rasters. */
  sums: Float64Array | null
}

/** A block to read, with the parts of zones in it and their bounding box. */
export interface BlockWork {
  bx: number
  by: number
  parts: ZonePart[]
  left: number
  top: number
  right: number
  /** Exclusive: rows further down are not read. */
  bottom: number
}

/** Everything to read for some zones of one grid. */
export interface ZonePlan {
  work: BlockWork[]
  /** Pixels of the blocks. */
  pixels: number
  /** Cells that the coverage of the largest part takes, and of all parts together. */
  mostCells: number
  allCells: number
  /** A smaller fraction of a pixel is ignored. */
  sliver: number
}

/** Two cells more than a row: an edge in the last pixel writes to the cell after it. */
export const strideOf = ({ width }: Pick<ZonePart, 'width'>): number => width + 2

/** The blocks that zones touch, from top to bottom and left to right: a zone is done when its last row of blocks is. */
function planBlocks(level: Level, zones: readonly PlacedZone[]): Omit<ZonePlan, 'sliver'> {
  const works = new Map<number, BlockWork>()
  for (const zone of zones) {
    for (let by = Math.floor(zone.minY / level.blockHeight); by * level.blockHeight < zone.maxY; by++) {
      for (let bx = Math.floor(zone.minX / level.blockWidth); bx * level.blockWidth < zone.maxX; bx++) {
        const index = by * level.blocksX + bx
        const part = partOf(zone, level, bx, by)
        const work = works.get(index)
        if (work) widen(work, part)
        else works.set(index, { bx, by, parts: [part], ...boxAround(part) })
      }
    }
  }
  const work = [...works.entries()].sort(([a], [b]) => a - b).map(([, block]) => block)
  const plan = { work, pixels: 0, mostCells: 0, allCells: 0 }
  for (const { bottom, parts } of work) {
    plan.pixels += bottom * level.blockWidth
    for (const part of parts) {
      const cells = strideOf(part) * part.height
      plan.mostCells = Math.max(plan.mostCells, cells)
      plan.allCells += cells
    }
  }
  return plan
}

function partOf(zone: PlacedZone, { blockWidth, blockHeight }: Level, bx: number, by: number): ZonePart {
  const [x, y] = [bx * blockWidth, by * blockHeight]
  const [left, top] = [Math.max(0, zone.minX - x), Math.max(0, zone.minY - y)]
  return {
    zone,
    left,
    top,
    width: Math.min(blockWidth, zone.maxX - x) - left,
    height: Math.min(blockHeight, zone.maxY - y) - top,
    isLast: zone.maxX <= x + blockWidth && zone.maxY <= y + blockHeight,
    sums: null,
  }
}

const boxAround = ({ left, top, width, height }: ZonePart) => ({ left, top, right: left + width, bottom: top + height })

function widen(work: BlockWork, part: ZonePart): void {
  work.parts.push(part)
  const box = boxAround(part)
  work.left = Math.min(work.left, box.left)
  work.top = Math.min(work.top, box.top)
  work.right = Math.max(work.right, box.right)
  work.bottom = Math.max(work.bottom, box.bottom)
}
