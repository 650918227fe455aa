import type { Principal } from '#core/principal.ts'
import type { ItemType } from '#core/vocabulary.ts'
import type { Db } from '#db/tables.ts'
import * as items from './item-read.ts'
import * as lineage from '#model/platform/lineage.ts'
import * as projects from '#model/identity/project.ts'

export interface TreeNode {
  itemId: string
  name: string
  type: ItemType
  relation: string
  next: TreeNode[]
  /** Set if there is more than is shown. */
  truncated?: true
}

const MAX_TREE_DEPTH = 10
/** A job or an order can be between two items; one more item shows whether there is more. */
const MAX_STEPS = 2 * (MAX_TREE_DEPTH + 1)
/** An item can be reached on several paths; the tree repeats it on each. */
const MAX_TREE_NODES = 1_000

/** The lineage graph from one item, without other artifacts and without items the caller cannot read. */
export async function tree(db: Db, principal: Principal, root: items.Item, direction: 'up' | 'down'): Promise<TreeNode[]> {
  const { edges } = await lineage.graph(
    db,
    root.organizationId,
    { type: 'item', id: root.id },
    {
      direction,
      maxDepth: MAX_STEPS,
      readable: (projectIds) => projects.readableAmong(db, principal, projectIds),
    },
  )
  const near = direction === 'up' ? 'src' : 'dst'
  const far = direction === 'up' ? 'dst' : 'src'
  const steps = new Map<string, (lineage.Entity & { relation: string })[]>()
  for (const edge of edges) {
    const from = `${edge[near].type} ${edge[near].id}`
    steps.set(from, [...(steps.get(from) ?? []), { ...edge[far], relation: edge.relation }])
  }
  const ids = [...new Set(edges.flatMap((edge) => (edge[far].type === 'item' ? [edge[far].id] : [])))]
  const names = await items.names(db, root.organizationId, ids)
  let nodeCount = 0

  /** Items one step away, and those behind another artifact, under the relation by which that artifact was reached. */
  const itemsBehind = (at: string, relation?: string): { id: string; relation: string }[] =>
    (steps.get(at) ?? []).flatMap((step) =>
      step.type === 'item'
        ? [{ id: step.id, relation: relation ?? step.relation }]
        : step.type === 'project'
          ? []
          : itemsBehind(`${step.type} ${step.id}`, relation ?? step.relation),
    )

  const grow = (id: string, depth: number): TreeNode[] =>
    itemsBehind(`item ${id}`).flatMap((step) => {
      const name = names.get(step.id)
      if (!name || ++nodeCount > MAX_TREE_NODES) return []
      const node: TreeNode = { itemId: step.id, name: name.name, type: name.type, relation: step.relation, next: [] }
      const isCut = depth >= MAX_TREE_DEPTH || nodeCount >= MAX_TREE_NODES
      if (!isCut) node.next = grow(step.id, depth + 1)
      else if (itemsBehind(`item ${step.id}`).some((behind) => names.has(behind.id))) node.truncated = true
      return [node]
    })
  return grow(root.id, 1)
}
