/** Separate from the encoders, so that naming a format does not load the image library. */
const IMAGE_FORMATS = ['png', 'webp', 'jpeg'] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]
export const DATA_TILE_TYPE = 'application/vnd.groundtrack.data-tile'
export const MEDIA_TYPES: Readonly<Record<ImageFormat, string>> = { png: 'image/png', webp: 'image/webp', jpeg: 'image/jpeg' }
