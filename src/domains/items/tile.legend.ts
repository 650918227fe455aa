import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { Legend, legendOf, shownBy } from '#services/rendering/legend.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { styleFields } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** What the colours of an item's tiles mean, for the same style parameters as its tiles. */
export default operation({
  id: 'items.tile.legend',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ item_id: Described(ItemId, 'Item ID'), ...styleFields }),
  output: Closed(
    {
      names: Type.Array(Type.String(), { description: 'Band names or expressions that the colours show' }),
      legend: Nullable(Described(Legend, 'Colours and their values; null for classes, whose colours are in the file')),
    },
    { description: 'Legend of the item' },
  ),
  example: {
    input: { item_id: EXAMPLE_ITEM.id, profile: 'ndvi' },
    output: {
      names: ['(b4-b3)/(b4+b3)'],
      legend: { kind: 'scale', low: -0.2, high: 1, unit: null, colors: ['#a50026', '#ffffbf', '#006837'], channels: [] },
    },
  },
}).handle({
  async check(context, input) {
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return await styleLayer(context, layer, input)
  },
  auditSubject: ({ item_id }) => item_id,
  async execute(context, _input, styled) {
    return { names: shownBy(styled), legend: await legendOf(context, styled) }
  },
})
