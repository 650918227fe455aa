/** How long a grant for tiles lives: a visit. */
export const GRANT_SECONDS = 3_600
