/** A common grid for several rasters, and the samples of each in a cell of it. */
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { boxOf, mapPolygons, readPolygons, type Box, type Polygon } from '#raster/geometry/polygon.ts'
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import { applyAffine, invertAffine } from '#raster/warp/affine.ts'
import { createBlockCache, type BlockCache } from '#raster/warp/blocks.ts'
import { placementOf, planTarget, type TargetGrid } from '#raster/warp/plan.ts'
import { projectorBetween, projectorFromLonLat, type Point, type Projector } from '#raster/warp/projector.ts'
import type { TakeRow } from '#raster/warp/resample.ts'
import { samplePlanes, sampleRows, type Resampling, type SampledPlanes } from '#raster/warp/sample.ts'
import { finest, projectedBox, rasterOutline } from '#raster/write/warp.ts'

export interface GridOptions {
  /** GeoJSON in longitude and latitude; pixels whose centre is outside are no-data. */
  readonly geometry?: unknown
  /** Default: that of the first raster. */
  readonly epsg?: number
  /** Pixel size in units of the CRS; default: that of the first raster. */
  readonly resolution?: number
}

/** A rectangle of the common grid. */
export interface Cell {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Sampling {
  /** Zero-based. */
  readonly bands: readonly number[]
  readonly resampling: Resampling
  readonly rule?: 'all' | 'any'
  readonly signal: AbortSignal | undefined
  /** Whether means of small integers are rounded. */
  readonly isRounded?: boolean | undefined
  /** The result of an earlier call, whose memory can be reused. */
  readonly into?: SampledPlanes | undefined
}

const BLOCK_CACHE_BYTES = 96 * 1024 * 1024
/** Polygon edges are straight in longitude and latitude; steps this short are straight in any projection too. */
const MAX_EDGE_DEGREES = 0.05
/** Rounding must not add a row of uncovered pixels. */
const SLACK_PX = 1e-6

/** The grid that covers all rasters, or the part inside a polygon, aligned to the pixels of the first one. */
export class CommonGrid {
  readonly grid: TargetGrid
  readonly #rasters: readonly ExactRaster[]
  readonly #boxes: readonly Box[]
  readonly #outline: readonly Polygon[] | null
  readonly #blocks: BlockCache

  constructor(rasters: readonly ExactRaster[], options: GridOptions) {
    this.#rasters = rasters
    this.#blocks = createBlockCache(BLOCK_CACHE_BYTES)
    const plan = planCommonGrid(
      rasters.map(({ info }) => info),
      options,
    )
    this.grid = plan.grid
    this.#boxes = plan.boxes
    this.#outline = plan.outline
  }

  /** The indices of the rasters that a cell touches. */
  touching(cell: Cell): number[] {
    const [left, top] = applyAffine(this.grid.transform, cell.x, cell.y)
    const [right, bottom] = applyAffine(this.grid.transform, cell.x + cell.width, cell.y + cell.height)
    return this.#boxes.flatMap(({ minX, minY, maxX, maxY }, index) =>
      minX < right && maxX > left && minY < top && maxY > bottom ? [index] : [],
    )
  }

  /** Bands of one raster on the pixels of a cell. `rule` says how many bands must have data for a pixel to be data. */
  async sample(index: number, cell: Cell, sampling: Sampling): Promise<SampledPlanes> {
    return await samplePlanes(this.#request(index, cell, sampling))
  }

  /** The same row by row, interleaved and rounded. Returns false, and passes nothing, if that is not possible; see `sampleRows`. */
  async sampleRows(index: number, cell: Cell, sampling: Sampling, take: TakeRow): Promise<boolean> {
    return await sampleRows(this.#request(index, cell, sampling), take)
  }

  #request(index: number, { x, y, width, height }: Cell, { rule = 'all', ...sampling }: Sampling) {
    const raster = this.#rasters[index]!
    const [left, top] = applyAffine(this.grid.transform, x, y)
    const [, a, b, , d, e] = this.grid.transform
    const target = { crs: this.grid.crs, transform: [left, a, b, top, d, e] as const, width, height }
    return { raster, blocks: this.#blocks, windows: planTarget(raster, target), width, height, rule, ...sampling }
  }

  /** 1 for the selected pixels of a cell; null if all are. */
  inside(cell: Cell): Uint8Array | null {
    if (!this.#outline) return null
    const moved = this.#outline.map((polygon) => polygon.map((ring) => ring.map(([x, y]) => [x - cell.x, y - cell.y] as [number, number])))
    return rasterizeMask(moved, cell)
  }

  /** The cells of some rows, from left to right. */
  cells(y: number, height: number, width: number): Cell[] {
    const cells: Cell[] = []
    for (let x = 0; x < this.grid.width; x += width) cells.push({ x, y, width: Math.min(width, this.grid.width - x), height })
    return cells
  }
}

interface CommonPlan {
  readonly grid: TargetGrid
  /** Of each raster, in the coordinates of the grid. */
  readonly boxes: readonly Box[]
  /** In pixels of the grid; null if nothing is clipped. */
  readonly outline: readonly Polygon[] | null
}

/** Position and size of the common grid. */
export function planCommonGrid(infos: readonly RasterInfo[], options: GridOptions): CommonPlan {
  const [first] = infos
  if (!first) throw new RasterError('invalid_argument', 'At least one raster is required')
  const crs = options.epsg === undefined ? placementOf(first).crs : crsFromEpsg(options.epsg)
  const boxes = infos.map((info) => {
    const { crs: from, transform } = placementOf(info)
    return projectedBox(rasterOutline(info, transform), projectorBetween(from, crs))
  })
  const union = boxes.reduce(around)
  const polygons =
    options.geometry === undefined ? null : mapPolygons(readPolygons(options.geometry), mapper(projectorFromLonLat(crs)), MAX_EDGE_DEGREES)
  const target = polygons ? overlap(union, boxOf(polygons)) : union
  const { crs: own, transform } = placementOf(first)
  const isOwn = options.epsg === undefined && transform[2] === 0 && transform[4] === 0
  const size = options.resolution ?? (isOwn ? Math.abs(transform[1]) : finest(target, projectorBetween(crs, own), invertAffine(transform)))
  const box = isOwn ? snapped(target, [transform[0], transform[3]], size) : target
  const width = Math.max(1, Math.ceil((box.maxX - box.minX) / size - SLACK_PX))
  const height = Math.max(1, Math.ceil((box.maxY - box.minY) / size - SLACK_PX))
  const outline =
    polygons &&
    polygons.map((polygon) =>
      polygon.map((ring) => ring.map(([x, y]) => [(x - box.minX) / size, (box.maxY - y) / size] as [number, number])),
    )
  return { grid: { crs, transform: [box.minX, size, 0, box.maxY, 0, -size], width, height }, boxes, outline }
}

/** Copies the pixels of a cell into rows over the full width. */
export function place<A extends { set(from: ArrayLike<number>, at: number): void }>(
  rows: A,
  rowWidth: number,
  cell: Cell,
  values: { subarray(from: number, to: number): ArrayLike<number> },
): void {
  for (let row = 0; row < cell.height; row++) rows.set(values.subarray(row * cell.width, (row + 1) * cell.width), row * rowWidth + cell.x)
}

const mapper =
  (project: Projector) =>
  ([x, y]: Point): Point => {
    const out: Point = [0, 0]
    project(x, y, out)
    return out
  }

const around = (a: Box, b: Box): Box => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
})

function overlap(a: Box, b: Box): Box {
  const box = {
    minX: Math.max(a.minX, b.minX),
    minY: Math.max(a.minY, b.minY),
    maxX: Math.min(a.maxX, b.maxX),
    maxY: Math.min(a.maxY, b.maxY),
  }
  if (!(box.minX < box.maxX && box.minY < box.maxY))
    throw new RasterError('invalid_argument', 'The geometry does not intersect the rasters')
  return box
}

/** Snaps outwards to whole pixels from an origin. */
function snapped({ minX, minY, maxX, maxY }: Box, [originX, originY]: readonly [number, number], size: number): Box {
  const down = (value: number, origin: number) => origin + Math.floor((value - origin) / size + SLACK_PX) * size
  const up = (value: number, origin: number) => origin + Math.ceil((value - origin) / size - SLACK_PX) * size
  return { minX: down(minX, originX), minY: down(minY, originY), maxX: up(maxX, originX), maxY: up(maxY, originY) }
}
