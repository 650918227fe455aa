/** Parameters that several processes share. */
import Type from 'typebox'
import { Choice, Defaulted, Described, FreeForm } from '#core/shapes.ts'
import { RESAMPLING } from '#raster/warp/sample.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { ItemId } from '#wire/ids.ts'

export const Item = Described(ItemId, 'Item ID')
export const AssetKey = Type.Optional(
  Type.String({ minLength: 1, maxLength: 255, description: 'Asset key; defaults to the main raster of the item' }),
)
export const Area = Type.Optional(
  Type.Unsafe<Record<string, unknown>>({
    ...FreeForm,
    description: 'GeoJSON Polygon or MultiPolygon of at most 999 vertices, in longitude and latitude; defaults to the whole item',
  }),
)
export const OutputName = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'Display name of the new item' }),
)
export const Expression = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'Band math expression over b1, b2, … or band names, for example (b4-b3)/(b4+b3)',
})
export const Bands = Type.Optional(
  Type.Array(Type.Integer({ minimum: 1, maximum: 512 }), {
    minItems: 1,
    maxItems: 64,
    description: '1-based band numbers; defaults to all bands',
  }),
)
export const Method = (defaultMethod: (typeof RESAMPLING)[number]) =>
  Defaulted(Choice(RESAMPLING), defaultMethod, { description: 'Resampling method' })

export const EXAMPLE_ITEM_ID = EXAMPLE_IDS.item
export const EXAMPLE_AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [146.4, -18.6],
      [146.6, -18.6],
      [146.6, -18.4],
      [146.4, -18.4],
      [146.4, -18.6],
    ],
  ],
}

/** The outputs of every process: the created items with their files. */
export const ItemsOutput = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        item_id: Type.String({ description: 'ID of the created item' }),
        name: Type.String({ description: 'Display name of the item' }),
        assets: Type.Array(
          Type.Object({
            asset_id: Type.String({ description: 'Asset ID' }),
            key: Type.String({ description: 'Asset key' }),
            media_type: Type.String({ description: 'Media type of the file' }),
            size_bytes: Type.Integer({ description: 'File size in bytes' }),
          }),
          { description: 'Files of the item' },
        ),
      }),
      { description: 'Created items' },
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Limitations of the result, such as positions that are less accurate than a pixel' }),
    ),
  },
  { description: 'Outputs of a completed job' },
)
