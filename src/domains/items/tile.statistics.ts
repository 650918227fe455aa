import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { requireArea } from '#core/geometry.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { rangesOf } from '#services/rendering/ranges.ts'
import { styleFields } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const MaybeNumber = Nullable(Type.Number())
const Range = {
  p2: Described(MaybeNumber, '2nd percentile; null without valid pixels'),
  p98: Described(MaybeNumber, '98th percentile; null without valid pixels'),
  min: Described(MaybeNumber, 'Minimum value; null without valid pixels'),
  max: Described(MaybeNumber, 'Maximum value; null without valid pixels'),
}
const MAX_BINS = 256
const Histogram = Closed(
  {
    counts: Type.Array(Type.Number(), { description: 'Number of pixels in each bin' }),
    edges: Type.Array(Type.Number(), { description: 'Bin edges, one more than bins' }),
  },
  { description: 'Histogram, if `bins` was requested' },
)

/**
 * Statistics of an expression, of bands or of a profile over the whole item, from its smallest sufficient overview; they give the
 * default value range of its tiles.
 */
export default operation({
  id: 'items.tile.statistics',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    expression: Described(styleFields.expression, 'Band math expression, for example `(b4-b3)/(b4+b3)`'),
    bands: Described(styleFields.bands, '1-based band numbers, separated by commas'),
    asset_key: styleFields.asset_key,
    profile: styleFields.profile,
    bins: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 2,
          maximum: MAX_BINS,
          description: 'Number of histogram bins between the minimum and maximum; no histogram if omitted',
        }),
      ),
    ),
    geometry: Type.Optional(
      Nullable(
        Described(GeoJsonArea, 'Area to compute statistics for: GeoJSON Polygon or MultiPolygon, read at full resolution if small enough'),
      ),
    ),
  }),
  output: Closed(
    {
      ...Range,
      rescale: Described(Nullable(Type.String()), 'Suggested value range of the colours as `min,max`; null without valid pixels'),
      results: Type.Array(
        Closed(
          { name: Type.String({ description: 'Band name or expression' }), ...Range, histogram: Type.Optional(Histogram) },
          { $id: 'ItemRange', description: 'Value range and histogram of one band or expression' },
        ),
        { description: 'Value range of each band or expression' },
      ),
    },
    { description: 'Statistics of the item' },
  ),
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
    return { resolved: await styleLayer(context, layer, input), area }
  },
  async execute(context, { bins }, { resolved, area }) {
    return await rangesOf(context, resolved, { bins: bins ?? null, area })
  },
})
