import Type from 'typebox'
import { Choice, Closed } from '#core/shapes.ts'
import { ITEM_TYPES, type ItemType } from '#core/vocabulary.ts'
import * as item from '#model/imagery/item-read.ts'
import * as itemLineage from '#model/imagery/item-lineage.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const shared = {
  item_id: Type.String(),
  name: Type.String(),
  type: Choice(ITEM_TYPES),
  relation: Type.String(),
  truncated: Type.Optional(Type.Literal(true)),
}
type Shared = { item_id: string; name: string; type: ItemType; relation: string; truncated?: true }
type ParentNode = Shared & { parents: ParentNode[] }
type ChildNode = Shared & { children: ChildNode[] }
const Parent = Type.Unsafe<ParentNode>(
  Type.Cyclic({ LineageParent: Closed({ ...shared, parents: Type.Array(Type.Ref('LineageParent')) }) }, 'LineageParent'),
)
const Child = Type.Unsafe<ChildNode>(
  Type.Cyclic({ LineageChild: Closed({ ...shared, children: Type.Array(Type.Ref('LineageChild')) }) }, 'LineageChild'),
)

/** What an item was made of and what was made of it, as trees of items ten levels deep. */
export default operation({
  id: 'items.lineage',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ item_id: ItemId }),
  output: Closed({ item_id: Type.String(), parents: Type.Array(Parent), children: Type.Array(Child) }),
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
    return await item.requireReader(db, principal, item_id)
  },
  async execute({ db, principal }, _input, found) {
    const [parents, children] = [
      await itemLineage.tree(db, principal, found.item, 'up'),
      await itemLineage.tree(db, principal, found.item, 'down'),
    ]
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
    return { item_id: found.item.id, parents: parents.map(toParent), children: children.map(toChild) }
  },
})
