/**
 * On which side of a line a point lies, without rounding errors: the fast result if it is certain, otherwise the exact one. An exact
 * determinant is the sum of six products of two coordinates, each of which is two floating-point numbers.
 */
import type { Position } from './position.ts'

/** Three roundings of the fast determinant, with a margin (Shewchuk, 1997). */
export const FAST_ERROR = 3.330_669_073_875_471_6e-16
const SPLITTER = 2 ** 27 + 1

/** Counts the cases that need the exact computation, which is about fifty times slower. */
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
  return exactSide(a, b, p)
}

function exactSide(a: Position, b: Position, p: Position): number {
  const sum: number[] = []
  addProduct(sum, a[0], b[1])
  addProduct(sum, -a[1], b[0])
  addProduct(sum, b[0], p[1])
  addProduct(sum, -b[1], p[0])
  addProduct(sum, p[0], a[1])
  addProduct(sum, -p[1], a[0])
  return sum.at(-1) ?? 0
}

/** Adds a product to a sum that is stored as non-overlapping numbers, smallest first. */
function addProduct(sum: number[], x: number, y: number): void {
  const product = x * y
  const [xHigh, yHigh] = [upperHalf(x), upperHalf(y)]
  const [xLow, yLow] = [x - xHigh, y - yHigh]
  const rest = xLow * yLow - (product - xHigh * yHigh - xLow * yHigh - xHigh * yLow)
  addTo(sum, rest)
  addTo(sum, product)
}

function upperHalf(value: number): number {
  const scaled = SPLITTER * value
  return scaled - (scaled - value)
}

function addTo(sum: number[], value: number): void {
  let carried = value
  let count = 0
  for (const part of sum) {
    const total = carried + part
    const gained = total - carried
    const lost = carried - (total - gained) + (part - gained)
    if (lost !== 0) sum[count++] = lost
    carried = total
  }
  sum.length = count
  if (carried !== 0) sum.push(carried)
}
