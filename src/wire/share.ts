/** Lifetime of a grant for tiles: about one visit. */
export const GRANT_SECONDS = 3_600
