import type { ExactSampleArray } from '#raster/types.ts'
import type { LevelShape } from './spec.ts'

/** One row of interleaved pixels inside a larger buffer. */
export interface RowView {
  readonly samples: ExactSampleArray
  readonly sampleAt: number
  readonly mask: Uint8Array | null
  readonly maskAt: number
}

/**
 * Computes the rows of a coarser level from those of the finer one as they arrive. If a side is odd,
 * coarse pixels cover slightly less than two fine ones, so that both levels cover the same area.
 */
export interface RowReducer {
  /** Adds the next fine row; returns whether a coarse row was written to `out`. */
  push(row: RowView, out: RowView): boolean
  /** Begins in the middle of the raster, at a coarse row; returns the fine row that must be pushed first. */
  startAt(coarseRow: number): number
}

export interface ReduceShape {
  readonly fine: LevelShape
  readonly coarse: LevelShape
  readonly bandCount: number
  readonly nodata: number | null
  /** Bands whose samples count only where the pixel is visible; the alpha band itself always counts. */
  readonly alphaBand: number | null
  readonly isFloat: boolean
}

/** The fine row in which a coarse row begins. */
export const firstFineRow = ({ fine, coarse }: ReduceShape, coarseRow: number): number =>
  Math.floor((coarseRow * fine.height) / coarse.height)
