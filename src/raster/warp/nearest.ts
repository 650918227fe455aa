import type { Block } from '#raster/types.ts'

import type { BlockSet } from './blocks.ts'
import { fillRow } from './grid.ts'
import type { WarpWindow } from './plan.ts'

/**
 * Receives a run of target pixels from one block. `offsets` has the index of each source pixel in the block (row times the
 * block's width plus column); the first belongs to target pixel `out`.
 */
export type PixelSink = (block: Block, offsets: Int32Array, run: { count: number; out: number }) => void

/** Coordinates slightly below a pixel's edge belong to the next pixel; GDAL does the same. */
const EDGE_EPSILON = 1e-10

/** Finds the source pixel under every target pixel's centre and passes them on in runs. Pixels outside are skipped. */
export function walkNearest(window: WarpWindow, blocks: BlockSet, targetWidth: number, sink: PixelSink): void {
  const { grid } = window
  const { level } = blocks
  const x = new Float64Array(grid.width)
  const y = new Float64Array(grid.width)
  const offsets = new Int32Array(grid.width)
  const run = { count: 0, out: 0 }
  for (let row = 0; row < grid.height; row++) {
    fillRow(grid, row, x, y)
    let i = 0
    while (i < grid.width) {
      const px = x[i]! + EDGE_EPSILON
      const py = y[i]! + EDGE_EPSILON
      // Written so that NaN counts as outside.
      if (!(px >= 0 && py >= 0 && px < level.width && py < level.height)) {
        i += 1
        continue
      }
      const blockX = Math.floor(px / level.blockWidth)
      const blockY = Math.floor(py / level.blockHeight)
      const block = blocks.blocks[(blockY - blocks.firstY) * blocks.countX + blockX - blocks.firstX]
      const left = blockX * level.blockWidth
      const top = blockY * level.blockHeight
      const edges = {
        left,
        top,
        right: Math.min(level.width, left + level.blockWidth),
        bottom: Math.min(level.height, top + level.blockHeight),
      }
      run.out = (window.y + row) * targetWidth + window.x + i
      run.count = fillRun({ x, y, start: i, end: grid.width }, edges, block?.width ?? 1, offsets)
      if (block) sink(block, offsets, run)
      i += run.count
    }
  }
}

interface RowPart {
  x: Float64Array
  y: Float64Array
  start: number
  end: number
}

interface Edges {
  left: number
  top: number
  right: number
  bottom: number
}

/** Writes the offsets of the pixels from `start` that are inside the block; there is at least one. */
function fillRun({ x, y, start, end }: RowPart, edges: Edges, blockWidth: number, offsets: Int32Array): number {
  const { left, top, right, bottom } = edges
  let i = start
  for (; i < end; i++) {
    const px = x[i]! + EDGE_EPSILON
    const py = y[i]! + EDGE_EPSILON
    if (!(px >= left && px < right && py >= top && py < bottom)) break
    offsets[i - start] = ((py | 0) - top) * blockWidth + (px | 0) - left
  }
  return i - start
}
