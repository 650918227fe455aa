import { rasterizeSpans, type RowSpans } from '#raster/geometry/rasterize.ts'
import { giveBack } from '#raster/buffers.ts'
import { LIMITS } from '#raster/limits.ts'
import { RasterError, throwIfAborted, type Block, type Level, type PixelWindow, type Raster } from '#raster/types.ts'

import { movedInto, type Area } from './area.ts'
import type { Runs } from './kernels.ts'

export interface ScanRequest {
  raster: Raster
  area: Area
  /** Zero-based. */
  bands: readonly number[]
  signal: AbortSignal | undefined
}

/** The pixels of an area, found before anything is read. */
export interface AreaPixels {
  window: PixelWindow
  spans: RowSpans
  count: number
}

export function pixelsOf({ window, polygons }: Area): AreaPixels {
  if (window.width === 0 || window.height === 0) throw new RasterError('invalid_argument', 'The geometry does not intersect the raster')
  const spans = polygons ? rasterizeSpans(movedInto(polygons, window), window) : wholeRows(window)
  let count = 0
  for (let i = 0; i < spans.edges.length; i += 2) count += spans.edges[i + 1]! - spans.edges[i]!
  return { window, spans, count }
}

function wholeRows({ width, height }: PixelWindow): RowSpans {
  return {
    starts: Uint32Array.from({ length: height + 1 }, (_, row) => row),
    edges: Int32Array.from({ length: 2 * height }, (_, i) => (i % 2) * width),
  }
}

/**
 * Passes an area block by block, with the runs of its pixels in each: nothing is copied that is only read
 * once. Blocks without such a pixel are not read, others only down to the last row with one.
 */
export async function scanArea(
  { raster, area, bands, signal }: ScanRequest,
  pixels: AreaPixels,
  take: (block: Block, runs: Runs) => void,
): Promise<void> {
  const level = raster.info.levels[area.level] as Level
  const places = placesOf(level, pixels)
  const together = Math.max(1, Math.floor(LIMITS.blockBytesInFlight / (level.blockWidth * level.blockHeight * raster.info.bandCount * 8)))
  for (let i = 0; i < places.length; i += together) {
    throwIfAborted(signal)
    const batch = places.slice(i, i + together)
    const reading = batch.map(({ bx, by, rows }) => raster.readBlock(area.level, bx, by, { bands, rows, signal }))
    // The first failure is reported; later ones are dropped.
    for (const each of reading) each.catch(() => undefined)
    // Each block is processed as soon as it and its predecessors are decoded: it is still in the cache, and its memory is reused next.
    for (const [k, each] of reading.entries()) {
      const block = await each
      take(block, runsIn(batch[k] as Place, block.width, level, pixels))
      for (const samples of block.data) giveBack(samples)
    }
  }
}

interface Place {
  bx: number
  by: number
  /** Rows of the block, up to the last one with a pixel of the area (exclusive end). */
  rows: number
}

function placesOf(level: Level, pixels: AreaPixels): Place[] {
  const { window } = pixels
  const places: Place[] = []
  for (let by = Math.floor(window.y / level.blockHeight); by * level.blockHeight < window.y + window.height; by++) {
    const lastRows = new Map<number, number>()
    forEachSpan(level, pixels, by, (row, from, to) => {
      for (let bx = Math.floor(from / level.blockWidth); bx * level.blockWidth < to; bx++) lastRows.set(bx, row + 1)
    })
    for (const [bx, rows] of [...lastRows].sort(([a], [b]) => a - b)) places.push({ bx, by, rows })
  }
  return places
}

/** The spans in one row of blocks: row from the blocks' top, first and last column of the level. */
function forEachSpan(
  level: Level,
  { window, spans }: AreaPixels,
  by: number,
  visit: (row: number, from: number, to: number) => void,
): void {
  const top = by * level.blockHeight
  const firstRow = Math.max(window.y, top)
  const endRow = Math.min(window.y + window.height, top + level.blockHeight)
  for (let y = firstRow; y < endRow; y++) {
    for (let k = spans.starts[y - window.y]!; k < spans.starts[y - window.y + 1]!; k++)
      visit(y - top, window.x + spans.edges[2 * k]!, window.x + spans.edges[2 * k + 1]!)
  }
}

function runsIn({ bx, by }: Place, width: number, level: Level, pixels: AreaPixels): Runs {
  const left = bx * level.blockWidth
  const edges: number[] = []
  forEachSpan(level, pixels, by, (row, from, to) => {
    const first = Math.max(from, left)
    const end = Math.min(to, left + level.blockWidth)
    if (first < end) edges.push(row * width + first - left, row * width + end - left)
  })
  return Int32Array.from(edges)
}
