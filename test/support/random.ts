/** Chance that can be had again: one seed, printed by whoever uses it, drives everything (mulberry32). */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number
  integer(minimum: number, maximum: number): number
  pick<T>(values: readonly T[]): T
}

export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (minimum: number, maximum: number) => minimum + Math.floor(next() * (maximum - minimum + 1))
  return { next, integer, pick: (values) => values[integer(0, values.length - 1)]! }
}
