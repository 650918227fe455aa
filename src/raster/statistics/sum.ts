const SUM_BLOCK = 4096

/** Sums block by block, so that small numbers are not lost beside a large running sum. */
export function sum(count: number, ofRange: (from: number, to: number) => number): number {
  let total = 0
  for (let start = 0; start < count; start += SUM_BLOCK) total += ofRange(start, Math.min(count, start + SUM_BLOCK))
  return total
}

export function rangeSum(values: Float64Array, weights: Float64Array | null, from: number, to: number): number {
  let total = 0
  if (weights) for (let i = from; i < to; i++) total += values[i]! * weights[i]!
  else for (let i = from; i < to; i++) total += values[i]!
  return total
}

export function rangeSquares(
  { values, weights, mean }: { values: Float64Array; weights: Float64Array | null; mean: number },
  from: number,
  to: number,
): number {
  let total = 0
  for (let i = from; i < to; i++) {
    const distance = values[i]! - mean
    total += weights ? distance * distance * weights[i]! : distance * distance
  }
  return total
}
