/** Where the nodes of a lineage graph are drawn: from left to right, sources first, each kind in its own lane. */
import dagre from '@dagrejs/dagre'
import type { LineageEdge, LineageNode } from '../../api/contract.ts'
import { entityType, LANES } from './entity-types.ts'

export const NODE_WIDTH = 196
export const NODE_HEIGHT = 58
const MARGIN = 24
/** Between two columns: room for the label of an arrow. */
const COLUMN_GAP = 98
const ROW_GAP = 26
/** Above the first row of a lane. */
const LANE_TITLE = 46
/** From a box to where its lines turn. */
const TURN = 18
/** Between arrows that end at the same box. */
const PORT_GAP = 14

export const keyOf = (type: string, id: string) => `${type} ${id}`
export const nodeKey = ({ entity_type, entity_id }: LineageNode) => keyOf(entity_type, entity_id)

interface Point {
  x: number
  y: number
}

/** A node with the centre of its box. */
interface PlacedNode extends LineageNode, Point {
  key: string
}

interface Line {
  from: PlacedNode
  to: PlacedNode
  relation: string
  /** From the edge of one box to the edge of the other, around those between. */
  points: Point[]
}

interface Lane {
  title: string
  top: number
  height: number
}

export interface LineageLayout {
  nodes: PlacedNode[]
  lines: Line[]
  lanes: Lane[]
  width: number
  height: number
}

interface Link {
  from: string
  to: string
  relation: string
}

/** An edge says that `src` was made from `dst`: it is drawn from `dst` to `src`. Edges to nodes that are not shown are left out. */
export function layoutOf(nodes: readonly LineageNode[], edges: readonly LineageEdge[]): LineageLayout {
  const known = new Set(nodes.map(nodeKey))
  const links = edges
    .map(({ src_type, src_id, dst_type, dst_id, relation }) => ({ from: keyOf(dst_type, dst_id), to: keyOf(src_type, src_id), relation }))
    .filter(({ from, to }) => known.has(from) && known.has(to))
  const { placed, lanes, width, height } = placeNodes(nodes, links)
  const byKey = new Map(placed.map((node) => [node.key, node]))
  const columns = [...new Set(placed.map(({ x }) => x))].toSorted((a, b) => a - b)
  const ends = portsOf(links, byKey)
  const lines = links.map(({ from, to, relation }, index) => {
    const [source, result] = [byKey.get(from)!, byKey.get(to)!]
    return { from: source, to: result, relation, points: routeOf(source, { ...result, y: ends[index]! }, result.y, columns) }
  })
  return { nodes: placed, lines, lanes, width, height }
}

/** The library decides about columns, and about the order within a column with few crossings; lanes decide about rows. */
function placeNodes(nodes: readonly LineageNode[], links: readonly Link[]) {
  const graph = new dagre.graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: ROW_GAP, ranksep: COLUMN_GAP, marginx: MARGIN })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const node of nodes) graph.setNode(nodeKey(node), { width: NODE_WIDTH, height: NODE_HEIGHT })
  for (const { from, to } of links) graph.setEdge(from, to)
  dagre.layout(graph)
  const drafts = nodes.map((node) => ({ ...node, key: nodeKey(node), ...(graph.node(nodeKey(node)) as Point) }))
  const y = new Map<string, number>()
  const lanes: Lane[] = []
  let top = 0
  for (const title of LANES) {
    const inLane = drafts.filter(({ entity_type }) => entityType(entity_type).lane === title)
    if (inLane.length === 0) continue
    const rows = Map.groupBy(inLane, ({ x }) => x)
    for (const column of rows.values())
      for (const [row, { key }] of column.toSorted((a, b) => a.y - b.y).entries())
        y.set(key, top + LANE_TITLE + row * (NODE_HEIGHT + ROW_GAP) + NODE_HEIGHT / 2)
    const height = LANE_TITLE + Math.max(...[...rows.values()].map(({ length }) => length)) * (NODE_HEIGHT + ROW_GAP)
    lanes.push({ title, top, height })
    top += height
  }
  const placed: PlacedNode[] = drafts.map(({ x, ...node }) => ({ ...node, x, y: y.get(node.key)! }))
  return { placed, lanes, width: Math.max(...placed.map(({ x }) => x), 0) + NODE_WIDTH / 2 + MARGIN, height: top }
}

/** Arrows that end at the same box end beside each other, so that their labels can be read. */
function portsOf(links: readonly Link[], byKey: ReadonlyMap<string, PlacedNode>): number[] {
  const ends: number[] = []
  const numbered = links.map((link, index) => ({ ...link, index, start: byKey.get(link.from)! }))
  for (const [to, group] of Map.groupBy(numbered, (link) => link.to)) {
    const gap = Math.min(PORT_GAP, (NODE_HEIGHT - PORT_GAP) / Math.max(1, group.length - 1))
    for (const [port, { index }] of group.toSorted((a, b) => a.start.y - b.start.y || a.start.x - b.start.x).entries())
      ends[index] = byKey.get(to)!.y + (port - (group.length - 1) / 2) * gap
  }
  return ends
}

/** Lines turn between columns, and pass other boxes in the gap above the row where they end. */
function routeOf(from: Point, end: Point, row: number, columns: readonly number[]): Point[] {
  const [startX, endX] = [from.x + NODE_WIDTH / 2, end.x - NODE_WIDTH / 2]
  const isNext = !columns.some((x) => x > from.x && x < end.x)
  const [first, last] = [startX + TURN, isNext ? startX + TURN : endX - (COLUMN_GAP - TURN)]
  const gap = row - NODE_HEIGHT / 2 - ROW_GAP / 2
  return [
    { x: startX, y: from.y },
    { x: first, y: from.y },
    ...(isNext ? [] : [{ x: first, y: gap }]),
    ...(isNext ? [] : [{ x: last, y: gap }]),
    { x: last, y: end.y },
    { x: endX, y: end.y },
  ]
}

const ROUNDING = 8

/** An SVG path along the points, with round corners. */
export function pathOf(points: readonly Point[]): string {
  const towards = (from: Point, to: Point) => {
    const distance = Math.hypot(to.x - from.x, to.y - from.y)
    const share = distance === 0 ? 0 : Math.min(ROUNDING, distance / 2) / distance
    return `${from.x + (to.x - from.x) * share} ${from.y + (to.y - from.y) * share}`
  }
  const corners = points.slice(1, -1).map((corner, index) => {
    return `L${towards(corner, points[index]!)}Q${corner.x} ${corner.y} ${towards(corner, points[index + 2]!)}`
  })
  const [first, last] = [points[0]!, points.at(-1)!]
  return `M${first.x} ${first.y}${corners.join('')}L${last.x} ${last.y}`
}
