/** Parameters and responses that all tile operations share. */
import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Defaulted, Described, Nullable } from '#core/shapes.ts'
import type { RawReply } from '#operation.ts'

export const Zoom = Type.Integer({ minimum: 0, maximum: 24 })
export const TileIndex = Type.Integer({ minimum: 0, maximum: 2 ** 24 - 1 })
export const Format = Choice(['png', 'webp', 'jpg', 'jpeg'])
export const TileSize = Type.Optional(Nullable(Type.Unsafe<256 | 512>({ enum: [256, 512] })))
export const Quality = (standard: number) => Defaulted(Type.Integer({ minimum: 1, maximum: 100 }), standard)
export const Text = Type.Optional(Nullable(Type.String({ maxLength: 2_048 })))

/** Long enough for a full-precision range for each band of any file. */
export const Rescale = Type.Optional(
  Nullable(
    Type.String({
      maxLength: 4_096,
      description:
        'Values that map to the first and last colour, as `min,max`: one range for all bands, or one per band shown or per band of the ' +
        'file, separated by `;`',
    }),
  ),
)

/** The style of an item: a profile, or bands, expression, range and colormap. */
export const styleFields = {
  profile: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "Visualization profile ID, or a derived visualization such as `rgb` or `ndvi`; defaults to the item's default profile",
      }),
    ),
  ),
  asset_key: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Asset key, for items with several rasters; defaults to all files of an item with one file per band',
      }),
    ),
  ),
  bands: Described(Text, '1-based band numbers or band names, separated by commas'),
  expression: Described(Text, 'Band math expression with band numbers or names, for example `(b4-b3)/(b4+b3)` or `(nir-red)/(nir+red)`'),
  rescale: Rescale,
  colormap: Described(Text, 'Colormap name from `cog.colormaps`'),
}

/** Included in tile URLs for clients that cannot send headers. The caller's own credential is never added automatically. */
export const TemplateKey = Type.Optional(
  Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'API key to include in tile URLs' })),
)

/** Shorter than a replaced signing key is accepted. */
const MAX_SIGNED_SECONDS = 86_400

/** Tile URLs that can be passed on to a map or a CDN without a key. */
export const SignedSeconds = Type.Optional(
  Nullable(
    Type.Integer({
      minimum: 60,
      maximum: MAX_SIGNED_SECONDS,
      description: 'Signs the tile URLs, so that they are valid for this long without a credential, while the caller has access',
    }),
  ),
)

export const FormatOrWebp = Defaulted(Format, 'webp')

/** Of operations that also return the samples behind the colours. */
export const FormatOrData = Defaulted(Choice(['png', 'webp', 'jpg', 'jpeg', 'bin']), 'webp')

/** Media types of tiles and thumbnails. */
export const IMAGE_TYPES = ['image/webp', 'image/png', 'image/jpeg'] as const

export const imageFormat = (format: 'png' | 'webp' | 'jpg' | 'jpeg') => (format === 'jpg' ? 'jpeg' : format)

/** Checked here, where the field is known; the raster library would reject it later, without the field name. */
export function requireTile({ z, x, y }: { z: number; x: number; y: number }): void {
  const count = 2 ** z
  if (x >= count) throw invalidField('x', `must be below ${count} at zoom ${z}`)
  if (y >= count) throw invalidField('y', `must be below ${count} at zoom ${z}`)
}

export interface ImageResponse {
  etag: string
  contentType: string
  /** Null if the caller already has it. */
  body: Buffer | null
}

export function imageReply({ etag, contentType, body }: ImageResponse, cacheControl: string): RawReply {
  const headers = { ETag: etag, 'Cache-Control': cacheControl }
  return body ? { contentType, headers, body } : { status: 304, contentType, headers, body: Buffer.alloc(0) }
}

/** Private and for one day only, because access to an item and its default profile can change. */
export const FOR_A_DAY = 'private, max-age=86400'
