/** Parameters that several processes take, each described once. */
import Type from 'typebox'
import { Choice, Defaulted, Described, FreeForm } from '#core/shapes.ts'
import { RESAMPLING } from '#raster/warp/sample.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { ItemId } from '#wire/ids.ts'

export const Item = Described(ItemId, 'The item to work on')
export const AssetKey = Type.Optional(
  Type.String({ minLength: 1, maxLength: 255, description: 'Which file of the item; the one that it is about by default' }),
)
export const Area = Type.Optional(
  Type.Unsafe<Record<string, unknown>>({
    ...FreeForm,
    description: 'GeoJSON Polygon or MultiPolygon of at most 999 vertices, in longitude and latitude; all of the item by default',
  }),
)
export const OutputName = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'What the new item is called' }),
)
export const Expression = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'Band math over b1, b2, … or the names of bands, for example (b4-b3)/(b4+b3)',
})
export const Bands = Type.Optional(
  Type.Array(Type.Integer({ minimum: 1, maximum: 512 }), {
    minItems: 1,
    maxItems: 64,
    description: 'Numbers of bands from 1; all by default',
  }),
)
export const Method = (standard: (typeof RESAMPLING)[number]) =>
  Defaulted(Choice(RESAMPLING), standard, { description: 'How values between pixels are found' })

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

/** What every process says of its outputs: the items, each with its files. */
export const ItemsOutput = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        item_id: Type.String({ description: 'ID of the created item' }),
        name: Type.String({ description: 'Display name of the item' }),
        assets: Type.Array(
          Type.Object({
            asset_id: Type.String({ description: 'The asset' }),
            key: Type.String({ description: 'Its key' }),
            media_type: Type.String({ description: 'Its media type' }),
            size_bytes: Type.Integer({ description: 'Its size' }),
          }),
          { description: 'Its files' },
        ),
      }),
      { description: 'The items that were made' },
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Limits of the result, such as positions that are less accurate than a pixel' }),
    ),
  },
  { description: 'What a completed job says of its outputs' },
)
