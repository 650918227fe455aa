import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { resultsAt } from '#services/rendering/point.ts'
import { styleFields } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const Value = Nullable(Type.Number())

/** The values of an item's bands at a point, and of an expression or its profile's; null where there is no data. */
export default operation({
  id: 'items.point',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Longitude in degrees, -180 to 180' }),
    latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Latitude in degrees, -90 to 90' }),
    asset_key: styleFields.asset_key,
    expression: Described(styleFields.expression, 'Band math expression, for example `(b4-b3)/(b4+b3)`'),
    profile: styleFields.profile,
  }),
  output: Closed(
    {
      item_id: Type.String({ description: 'Item ID' }),
      asset_key: Type.String({ description: 'Asset key; for an item with one file per band, the keys of all files, separated by commas' }),
      longitude: Type.Number({ description: 'Longitude in degrees, -180 to 180' }),
      latitude: Type.Number({ description: 'Latitude in degrees, -90 to 90' }),
      inside: Type.Boolean({ description: 'Whether the point is inside the raster' }),
      bands: Type.Array(
        Closed({
          band: Type.Integer({ description: '1-based band number' }),
          name: Described(Nullable(Type.String()), 'Band name; null if it has none'),
          value: Described(Value, 'Pixel value; null where there is no data'),
        }),
        { description: 'Value of each band at the point' },
      ),
      results: Type.Array(
        Closed({
          expression: Type.String({ description: 'Band math expression, for example `(b4-b3)/(b4+b3)`' }),
          value: Described(Value, 'Value of the expression; null where there is no data'),
        }),
        { description: 'Value of each expression at the point' },
      ),
    },
    { description: 'Values at the point' },
  ),
  example: {
    input: { item_id: EXAMPLE_ITEM.id, longitude: 151.2, latitude: -33.85, expression: '(b4-b3)/(b4+b3)' },
    output: {
      item_id: EXAMPLE_ITEM.id,
      asset_key: 'data',
      longitude: 151.2,
      latitude: -33.85,
      inside: true,
      bands: [
        { band: 3, name: 'red', value: 410 },
        { band: 4, name: 'nir', value: 2_870 },
      ],
      results: [{ expression: '(b4-b3)/(b4+b3)', value: 0.75 }],
    },
  },
}).handle({
  async check(context, input) {
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return await styleLayer(context, layer, input)
  },
  async execute({ raster, usage, signal }, { longitude, latitude }, resolved) {
    const { layer, source, info, names } = resolved
    const values = await raster.point(source, { longitude, latitude }, signal)
    usage.touch(layer.item.seq)
    const nameOf = (band: number) => Object.keys(names).find((name) => names[name] === band) ?? null
    return {
      item_id: layer.item.id,
      asset_key: layer.asset.key,
      longitude,
      latitude,
      inside: values !== null,
      bands: info.bands.map((_, index) => ({ band: index + 1, name: nameOf(index + 1), value: values?.[index] ?? null })),
      results: resultsAt(resolved, values),
    }
  },
})
