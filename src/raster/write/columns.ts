/** For each coarse column: its first fine column and the weights of up to three fine columns, in units of 1/(fine·coarse) of the width. */
export interface ColumnWeights {
  readonly first: Uint32Array
  readonly count: Uint8Array
  readonly weights: Float64Array
}

export const MOST_COLUMNS = 3

export function columnWeights(fine: number, coarse: number): ColumnWeights {
  const first = new Uint32Array(coarse)
  const count = new Uint8Array(coarse)
  const weights = new Float64Array(coarse * MOST_COLUMNS)
  for (let x = 0; x < coarse; x++) {
    const start = x * fine
    const end = start + fine
    const from = Math.floor(start / coarse)
    first[x] = from
    let n = 0
    for (let column = from; column * coarse < end && n < MOST_COLUMNS; column++, n++) {
      weights[x * MOST_COLUMNS + n] = Math.min(end, (column + 1) * coarse) - Math.max(start, column * coarse)
    }
    count[x] = n
  }
  return { first, count, weights }
}
