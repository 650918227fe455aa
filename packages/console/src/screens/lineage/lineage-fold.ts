/** Files clutter a graph: they are folded into the object they belong to, which shows how many it has. */
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { keyOf, nodeKey } from './lineage-layout.ts'

const FILE = 'asset'

interface FoldedLineage {
  nodes: LineageNode[]
  edges: LineageEdge[]
  /** Number of files that are folded into a node, by its key. */
  files: ReadonlyMap<string, number>
}

/** What was made from a file is shown as made from the owner of the file. */
export function foldFiles(nodes: readonly LineageNode[], edges: readonly LineageEdge[]): FoldedLineage {
  const sourceOf = new Map(
    edges.filter(({ src_type }) => src_type === FILE).map((edge) => [edge.src_id, { type: edge.dst_type, id: edge.dst_id }]),
  )
  const ownerOf = (file: string) => {
    const seen = new Set<string>()
    let at: { type: string; id: string } | undefined = { type: FILE, id: file }
    while (at?.type === FILE && !seen.has(at.id)) {
      seen.add(at.id)
      at = sourceOf.get(at.id)
    }
    return at?.type === FILE ? undefined : at
  }
  const files = new Map<string, number>()
  for (const { entity_type, entity_id } of nodes) {
    const owner = entity_type === FILE ? ownerOf(entity_id) : undefined
    if (owner) files.set(keyOf(owner.type, owner.id), (files.get(keyOf(owner.type, owner.id)) ?? 0) + 1)
  }
  const kept = new Map<string, LineageEdge>()
  for (const edge of edges) {
    if (edge.src_type === FILE) continue
    const owner = edge.dst_type === FILE ? ownerOf(edge.dst_id) : { type: edge.dst_type, id: edge.dst_id }
    if (!owner || (owner.type === edge.src_type && owner.id === edge.src_id)) continue
    const folded = { ...edge, dst_type: owner.type, dst_id: owner.id }
    const key = `${edge.src_type} ${edge.src_id} ${edge.relation} ${owner.type} ${owner.id}`
    if (!kept.has(key)) kept.set(key, folded)
  }
  const shown = nodes.filter(({ entity_type }) => entity_type !== FILE)
  const known = new Set(shown.map(nodeKey))
  return { nodes: shown, edges: [...kept.values()], files: new Map([...files].filter(([key]) => known.has(key))) }
}
