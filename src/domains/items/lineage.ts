import Type from 'typebox'
import { Choice, Closed, Described } from '#core/shapes.ts'
import { ITEM_TYPES, type ItemType } from '#core/vocabulary.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemLineage from '#model/imagery/item-lineage.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const shared = {
  item_id: Type.String({ description: 'Item ID' }),
  name: Type.String({ description: 'Display name of the item' }),
  type: Choice(ITEM_TYPES, { description: 'Item type' }),
  relation: Type.String({ description: 'How the items are related, such as `uploaded` or `duplicated_from`' }),
  truncated: Described(Type.Optional(Type.Literal(true)), 'Present and `true` if the lineage continues beyond this item'),
}
type Shared = { item_id: string; name: string; type: ItemType; relation: string; truncated?: true }
type ParentNode = Shared & { parents: ParentNode[] }
type ChildNode = Shared & { children: ChildNode[] }
const Parent = Type.Unsafe<ParentNode>(
  Type.Cyclic(
    {
      LineageParent: Closed(
        { ...shared, parents: Type.Array(Type.Ref('LineageParent'), { description: 'Items it was made from' }) },
        { description: 'An item another was made from' },
      ),
    },
    'LineageParent',
  ),
)
const Child = Type.Unsafe<ChildNode>(
  Type.Cyclic(
    {
      LineageChild: Closed(
        { ...shared, children: Type.Array(Type.Ref('LineageChild'), { description: 'Items made from it' }) },
        { description: 'An item made from another' },
      ),
    },
    'LineageChild',
  ),
)

/** The sources of an item and the items derived from it, as trees of up to ten levels. */
export default operation({
  id: 'items.lineage',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ item_id: Described(ItemId, 'Item ID') }),
  output: Closed(
    {
      item_id: Type.String({ description: 'Item ID' }),
      parents: Type.Array(Parent, { description: 'Items it was made from' }),
      children: Type.Array(Child, { description: 'Items made from it' }),
    },
    { description: 'Sources and derived items' },
  ),
  example: {
    input: { item_id: EXAMPLE_ITEM.id },
    output: {
      item_id: EXAMPLE_ITEM.id,
      parents: [],
      children: [
        {
          item_id: '0199f2c6-3333-7abc-8def-0123456789ab',
          name: 'Before the flood',
          type: 'external_reference',
          relation: 'duplicated_from',
          children: [],
        },
      ],
    },
  },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await items.requireReader(db, principal, item_id)
  },
  async execute({ db, principal }, _input, { item }) {
    const [parents, children] = [await itemLineage.tree(db, principal, item, 'up'), await itemLineage.tree(db, principal, item, 'down')]
    const toParent = ({ itemId, next, ...node }: itemLineage.TreeNode): ParentNode => ({
      item_id: itemId,
      ...node,
      parents: next.map(toParent),
    })
    const toChild = ({ itemId, next, ...node }: itemLineage.TreeNode): ChildNode => ({
      item_id: itemId,
      ...node,
      children: next.map(toChild),
    })
    return { item_id: item.id, parents: parents.map(toParent), children: children.map(toChild) }
  },
})
