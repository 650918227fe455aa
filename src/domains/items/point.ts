import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { choiceOf, resolveLook } from '#services/drawing/look.ts'
import { resultsAt } from '#services/drawing/point.ts'
import { lookFields } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const Value = Nullable(Type.Number())

/** What an item's bands hold under a place, and what its expression or that of its profile gives there; null where there is no data. */
export default operation({
  id: 'items.point',
  scope: 'items:read',
  tier: 'read',
  input: Closed({
    item_id: ItemId,
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    asset_key: lookFields.asset_key,
    expression: lookFields.expression,
    profile: lookFields.profile,
  }),
  output: Closed({
    item_id: Type.String(),
    asset_key: Type.String(),
    longitude: Type.Number(),
    latitude: Type.Number(),
    inside: Type.Boolean({ description: 'False where the place lies outside the raster' }),
    bands: Type.Array(Closed({ band: Type.Integer(), name: Nullable(Type.String()), value: Value })),
    results: Type.Array(Closed({ expression: Type.String(), value: Value })),
  }),
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
    return await resolveLook(context, layer, input)
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
