export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
/** How long a browser can cache the response to a preflight request. */
export const PREFLIGHT_SECONDS = 86_400
