import Type from 'typebox'
import { requireArea } from '#core/geometry.ts'
import { Closed, FreeForm, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { choiceOf, resolveLook } from '#services/drawing/look.ts'
import { rangesOf } from '#services/drawing/ranges.ts'
import { lookFields } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MaybeNumber = Nullable(Type.Number())
const Range = { p2: MaybeNumber, p98: MaybeNumber, min: MaybeNumber, max: MaybeNumber }
const MAX_BINS = 256
const Histogram = Closed(
  {
    counts: Type.Array(Type.Number(), { description: 'Pixels in each bin' }),
    edges: Type.Array(Type.Number(), { description: 'Where bins begin, and where the last one ends' }),
  },
  { description: 'How often values occur, where `bins` were asked for' },
)

/**
 * Statistics of an expression, of bands or of a profile over the whole item, from its smallest sufficient overview: the
 * range that tiles are stretched to.
 */
export default operation({
  id: 'items.tile.statistics',
  scope: 'items:read',
  tier: 'read',
  input: Closed({
    item_id: ItemId,
    expression: lookFields.expression,
    bands: lookFields.bands,
    asset_key: lookFields.asset_key,
    profile: lookFields.profile,
    bins: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 2,
          maximum: MAX_BINS,
          description: 'With a histogram of so many bins, from the lowest to the highest value',
        }),
      ),
    ),
    geometry: Type.Optional(
      Nullable(
        Type.With(FreeForm, {
          description: 'A GeoJSON Polygon or MultiPolygon: only of what lies in it, in full resolution where that is not too much',
        }),
      ),
    ),
  }),
  output: Closed({
    ...Range,
    rescale: Nullable(Type.String()),
    results: Type.Array(Closed({ name: Type.String(), ...Range, histogram: Type.Optional(Histogram) }, { $id: 'ItemRange' })),
  }),
  example: {
    input: { item_id: EXAMPLE_ITEM.id, expression: '(b4-b3)/(b4+b3)' },
    output: {
      p2: -0.1,
      p98: 0.8,
      min: -0.3,
      max: 0.9,
      rescale: '-0.1,0.8',
      results: [{ name: '(b4-b3)/(b4+b3)', p2: -0.1, p98: 0.8, min: -0.3, max: 0.9 }],
    },
  },
}).handle({
  async check(context, input) {
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    const area = input.geometry == null ? null : requireArea(input.geometry, 'geometry')
    return { resolved: await resolveLook(context, layer, input), area }
  },
  async execute(context, { bins }, { resolved, area }) {
    return await rangesOf(context, resolved, { bins: bins ?? null, area })
  },
})
