/**
 * An expression comes from a URL, so its length, its size and its nesting are all bounded. 1,000 characters are
 * what the contract promises (G141).
 */
export const MAX_CHARACTERS = 1_000
export const MAX_NODES = 128
/** Nested parentheses, calls, signs and powers. A chain such as `b1 + b2 + b3` is folded in a loop and does not nest. */
export const MAX_DEPTH = 32
/** Bands of one file, and so the largest `bN`. */
export const MAX_BAND = 64
