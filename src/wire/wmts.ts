/** What of WMTS both its documents and its addresses must agree on. */

/** The sets of tiles and the last zoom of each. The well-known one ends at 18; finer images are offered in the longer one too. */
export const WMTS_MATRIX_SETS = { GoogleMapsCompatible: 18, WebMercatorQuad: 24 } as const
export const WMTS_FORMATS = ['webp', 'png'] as const
/** What a click on the map can be answered in. */
export const WMTS_INFO_FORMATS = ['application/json', 'text/plain'] as const
