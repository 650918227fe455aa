/** What of WMTS both its documents and its addresses must agree on. */

/** The well-known set of tiles, which clients bring along, and its last zoom. */
export const WELL_KNOWN_SET = { id: 'GoogleMapsCompatible', maxZoom: 18 } as const
/** The same tiles up to the image's own resolution and no further, so that whoever reads a layer whole reads no more than that. */
export const IMAGE_SET = { id: 'ImageResolution', maxZoom: 24 } as const
export const WMTS_FORMATS = ['webp', 'png'] as const
/** What a click on the map can be answered in. */
export const WMTS_INFO_FORMATS = ['application/json', 'text/plain'] as const
