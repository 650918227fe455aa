/** What every tile has in common on the wire, whatever it shows. */
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

/** Long enough for a pair of numbers of full precision for each band of any file. */
export const Rescale = Type.Optional(
  Nullable(
    Type.String({
      maxLength: 4_096,
      description:
        'The values that become the first and the last colour: `min,max`, one such pair for each band shown, or one for each band of ' +
        'the file, separated by `;`',
    }),
  ),
)

/** Of items the profile id or derived id, the asset, or bands and colours by hand. */
export const lookFields = {
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
    Nullable(Type.String({ minLength: 1, maxLength: 255, description: 'Asset key, for items with several rasters' })),
  ),
  bands: Described(Text, '1-based band numbers, separated by commas'),
  expression: Described(Text, 'Band math expression, for example `(b4-b3)/(b4+b3)`'),
  rescale: Rescale,
  colormap: Described(Text, 'Colormap name from `cog.colormaps`'),
}

/** Put into addresses for clients that can send nothing else; never the caller's own credential unasked. */
export const TemplateKey = Type.Optional(
  Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'API key to include in tile URLs' })),
)

export const FormatOrWebp = Defaulted(Format, 'webp')

/** What a tile or a thumbnail may be, as its format says. */
export const IMAGE_TYPES = ['image/webp', 'image/png', 'image/jpeg'] as const

export const imageFormat = (format: 'png' | 'webp' | 'jpg' | 'jpeg') => (format === 'jpg' ? 'jpeg' : format)

/** Checked here, where the field is known; the raster library would refuse it later and with less to say. */
export function requireTile({ z, x, y }: { z: number; x: number; y: number }): void {
  const count = 2 ** z
  if (x >= count) throw invalidField('x', `must be below ${count} at zoom ${z}`)
  if (y >= count) throw invalidField('y', `must be below ${count} at zoom ${z}`)
}

export interface Picture {
  etag: string
  contentType: string
  /** Null when the caller has it already. */
  body: Buffer | null
}

export function pictureReply({ etag, contentType, body }: Picture, cacheControl: string): RawReply {
  const headers = { ETag: etag, 'Cache-Control': cacheControl }
  return body ? { contentType, headers, body } : { status: 304, contentType, headers, body: Buffer.alloc(0) }
}

/** For whoever asked, and for a day: who may see an item changes, and so does its default profile. */
export const FOR_A_DAY = 'private, max-age=86400'
