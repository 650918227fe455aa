/**
 * An expression comes from a URL, so its length and its nesting are bounded. 1,000 characters are what the contract
 * promises (G141). Every term and every operator takes at least one, so there are never more than 1,000 of them.
 */
export const MAX_CHARACTERS = 1_000
/** Nested parentheses, calls, signs and powers. A chain such as `b1 + b2 + b3` is folded in a loop and does not nest. */
export const MAX_DEPTH = 32
/** Bands of one file, and so the largest `bN`. */
export const MAX_BAND = 64
