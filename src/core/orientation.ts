/**
 * On which side of a line a point lies, without rounding errors: the fast result if it is certain, otherwise the exact one. The fast
 * computation is ours because validity.ts limits how often it may be insufficient.
 */
import { orient2d } from 'robust-predicates'
import type { Position } from './position.ts'

/** Three roundings of the fast determinant, with a margin (Shewchuk, 1997). */
export const FAST_ERROR = 3.330_669_073_875_471_6e-16

/** Counts the cases that need the exact computation. */
export interface CloseCalls {
  count: number
}

/** Positive if p is to the left of the line from a to b, zero if on it. Only the sign is meaningful. */
export function side(a: Position, b: Position, p: Position, calls?: CloseCalls): number {
  const left = (a[0] - p[0]) * (b[1] - p[1])
  const right = (a[1] - p[1]) * (b[0] - p[0])
  const fast = left - right
  if (Math.abs(fast) > FAST_ERROR * (Math.abs(left) + Math.abs(right)) || (left === 0 && right === 0)) return fast
  if (calls) calls.count++
  return -orient2d(a[0], a[1], b[0], b[1], p[0], p[1]) // Its y axis points down.
}
