/** Where the nodes of a lineage graph are drawn: from left to right, sources first. */
import dagre from '@dagrejs/dagre'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'

export const NODE_WIDTH = 180
export const NODE_HEIGHT = 58
const MARGIN = 24

export const keyOf = (type: string, id: string) => `${type} ${id}`
export const nodeKey = ({ entity_type, entity_id }: LineageNode) => keyOf(entity_type, entity_id)

/** A node with the centre of its box. */
interface PlacedNode extends LineageNode {
  key: string
  x: number
  y: number
}

interface Point {
  x: number
  y: number
}

interface Line {
  from: PlacedNode
  to: PlacedNode
  relation: string
  /** From the edge of one box to the edge of the other, around those between. */
  points: Point[]
}

export interface LineageLayout {
  nodes: PlacedNode[]
  lines: Line[]
  width: number
  height: number
}

/** An edge says that `src` was made from `dst`: it is drawn from `dst` to `src`. Edges to nodes that are not shown are left out. */
export function layoutOf(nodes: readonly LineageNode[], edges: readonly LineageEdge[]): LineageLayout {
  const graph = new dagre.graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 100, marginx: MARGIN, marginy: MARGIN })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const node of nodes) graph.setNode(nodeKey(node), { width: NODE_WIDTH, height: NODE_HEIGHT })
  const shown = edges
    .map(({ src_type, src_id, dst_type, dst_id, relation }) => ({ from: keyOf(dst_type, dst_id), to: keyOf(src_type, src_id), relation }))
    .filter(({ from, to }) => graph.hasNode(from) && graph.hasNode(to))
  for (const { from, to } of shown) graph.setEdge(from, to)
  dagre.layout(graph)
  const bends = shown.map(({ from, to }) => (graph.edge(from, to) as { points: Point[] }).points)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  // The library measures boxes only: a line around the outermost of them can leave the drawing.
  const ys = bends.flat().map(({ y }) => y)
  const above = Math.max(0, MARGIN / 2 - Math.min(...ys, MARGIN))
  const below = Math.max(0, Math.max(...ys, 0) + MARGIN / 2 - height)
  const moved = <T extends Point>(point: T): T => ({ ...point, y: point.y + above })
  const placed = nodes.map((node): PlacedNode => {
    const { x, y } = moved(graph.node(nodeKey(node)) as Point)
    return { ...node, key: nodeKey(node), x, y }
  })
  const byKey = new Map(placed.map((node) => [node.key, node]))
  const lines = shown.map(({ from, to, relation }, index) => {
    return { from: byKey.get(from)!, to: byKey.get(to)!, relation, points: bends[index]!.map(moved) }
  })
  return { nodes: placed, lines, width, height: height + above + below }
}

/** A smooth SVG path along the points. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points
  const bends = rest.slice(0, -1).map(({ x, y }, index) => {
    const next = rest[index + 1]!
    return `Q${x} ${y} ${(x + next.x) / 2} ${(y + next.y) / 2}`
  })
  const last = rest.at(-1) ?? first!
  return `M${first!.x} ${first!.y}${bends.join('')}L${last.x} ${last.y}`
}
