// Goal: a lineage graph is drawn whole, without overlaps, from sources to what was made of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LineageEdge, LineageNode } from '../../packages/console/src/api/contract.ts'
import { arrowText, entityType, LANES } from '../../packages/console/src/screens/lineage/entity-types.ts'
import { foldFiles } from '../../packages/console/src/screens/lineage/lineage-fold.ts'
import { layoutOf, NODE_HEIGHT, NODE_WIDTH, nodeKey, pathOf } from '../../packages/console/src/screens/lineage/lineage-layout.ts'

const KINDS = ['project', 'order', 'item', 'processing_job', 'share_link'] as const
/** Kinds take turns, so that lines lead from lane to lane. */
const kindOf = (id: number) => KINDS[id % KINDS.length]!
const node = (id: number) => ({ entity_type: kindOf(id), entity_id: String(id) }) as LineageNode
const edge = (src: number, dst: number) =>
  ({ src_type: kindOf(src), src_id: String(src), dst_type: kindOf(dst), dst_id: String(dst), relation: 'derived_from' }) as LineageEdge

/** Things are made from earlier ones. */
const graphs = fc.integer({ min: 1, max: 25 }).chain((size) =>
  fc.uniqueArray(fc.tuple(fc.nat({ max: size - 1 }), fc.nat({ max: size - 1 })), { maxLength: 40, selector: String }).map((pairs) => ({
    nodes: Array.from({ length: size }, (_, id) => node(id)),
    edges: pairs.filter(([a, b]) => a !== b).map(([a, b]) => edge(Math.max(a, b), Math.min(a, b))),
  })),
)

test('every node and line lies within the drawing, and no node over another', () => {
  fc.assert(
    fc.property(graphs, ({ nodes, edges }) => {
      const layout = layoutOf(nodes, edges)
      assert.deepEqual(
        layout.nodes.map(({ key }) => key),
        nodes.map(nodeKey),
      )
      for (const { x, y } of layout.nodes) {
        assert.ok(x - NODE_WIDTH / 2 >= 0 && x + NODE_WIDTH / 2 <= layout.width)
        assert.ok(y - NODE_HEIGHT / 2 >= 0 && y + NODE_HEIGHT / 2 <= layout.height)
      }
      for (const { x, y } of layout.lines.flatMap(({ points }) => points))
        assert.ok(x >= 0 && x <= layout.width && y >= 0 && y <= layout.height)
      layout.nodes.forEach((one, index) => {
        for (const other of layout.nodes.slice(index + 1))
          assert.ok(Math.abs(one.x - other.x) >= NODE_WIDTH || Math.abs(one.y - other.y) >= NODE_HEIGHT)
      })
    }),
    { numRuns: 50 },
  )
})

test('each kind has its lane, from projects to share links', () => {
  fc.assert(
    fc.property(graphs, ({ nodes, edges }) => {
      const { nodes: placed, lanes, height } = layoutOf(nodes, edges)
      assert.deepEqual(
        lanes.map(({ title }) => title),
        LANES.filter((lane) => nodes.some(({ entity_type }) => entityType(entity_type).lane === lane)),
      )
      for (const { entity_type, y } of placed) {
        const lane = lanes.find(({ title }) => title === entityType(entity_type).lane)!
        assert.ok(y - NODE_HEIGHT / 2 >= lane.top && y + NODE_HEIGHT / 2 <= lane.top + lane.height)
      }
      lanes.forEach(({ top, height: own }, index) => assert.equal(top + own, lanes[index + 1]?.top ?? height))
    }),
    { numRuns: 50 },
  )
})

test('no line crosses a box that it does not belong to', () => {
  fc.assert(
    fc.property(graphs, ({ nodes, edges }) => {
      const layout = layoutOf(nodes, edges)
      for (const { from, to, points } of layout.lines)
        for (const box of layout.nodes) {
          if (box.key === from.key || box.key === to.key) continue
          points.slice(1).forEach((end, index) => assert.ok(!crosses(points[index]!, end, box), 'a line is beside the box'))
        }
    }),
    { numRuns: 50 },
  )
})

interface Point {
  x: number
  y: number
}

/** Lines are level or upright between their corners. */
function crosses(start: Point, end: Point, box: Point): boolean {
  const [left, right] = [Math.min(start.x, end.x), Math.max(start.x, end.x)]
  const [top, bottom] = [Math.min(start.y, end.y), Math.max(start.y, end.y)]
  return (
    right > box.x - NODE_WIDTH / 2 && left < box.x + NODE_WIDTH / 2 && bottom > box.y - NODE_HEIGHT / 2 && top < box.y + NODE_HEIGHT / 2
  )
}

test('files are folded into what they belong to, and steps through them stay', () => {
  const link = (src: string, relation: string, dst: string) => {
    const [[src_type, src_id], [dst_type, dst_id]] = [src.split(' '), dst.split(' ')]
    return { src_type, src_id, dst_type, dst_id, relation } as LineageEdge
  }
  const nodes = ['item 1', 'item 2', 'asset a', 'asset b', 'asset c', 'report r'].map((key) => {
    const [entity_type, entity_id] = key.split(' ')
    return { entity_type, entity_id, depth: 0 } as LineageNode
  })
  const folded = foldFiles(nodes, [
    link('asset a', 'uploaded', 'item 1'),
    link('asset b', 'uploaded', 'item 1'),
    link('asset c', 'duplicated_from', 'asset a'),
    link('item 2', 'duplicated_from', 'item 1'),
    link('report r', 'derived_from', 'asset b'),
  ])
  assert.deepEqual(folded.nodes.map(nodeKey), ['item 1', 'item 2', 'report r'])
  assert.deepEqual([...folded.files], [['item 1', 3]])
  assert.deepEqual(
    folded.edges.map(({ src_id, relation, dst_id }) => [src_id, relation, dst_id]),
    [
      ['2', 'duplicated_from', '1'],
      ['r', 'derived_from', '1'],
    ],
  )
})

test('labels read in the direction of their arrow', () => {
  assert.equal(arrowText('produced_by'), 'produced')
  assert.equal(arrowText('used'), 'used by')
  assert.equal(arrowText('made_of'), 'made of')
})

/** On the border of a box, as far as numbers are exact. */
const isOnBox = (at: { x: number; y: number }, box: { x: number; y: number }) =>
  Math.abs(at.x - box.x) <= NODE_WIDTH / 2 + 0.01 && Math.abs(at.y - box.y) <= NODE_HEIGHT / 2 + 0.01

test('a source lies left of what was made of it', () => {
  fc.assert(
    fc.property(graphs, ({ nodes, edges }) => {
      const { lines } = layoutOf(nodes, edges)
      assert.equal(lines.length, edges.length)
      for (const { from, to, points } of lines) {
        assert.ok(from.x < to.x)
        const [start, end] = [points[0]!, points.at(-1)!]
        assert.ok(isOnBox(start, from) && isOnBox(end, to), 'it leads from one box to the other')
        assert.match(pathOf(points), /^M[\d.]+ [\d.]+(L[\d. ]+Q[\d. ]+)*L[\d.]+ [\d.]+$/)
      }
    }),
    { numRuns: 50 },
  )
})

test('an edge to a node that is not shown is left out', () => {
  const { nodes, lines } = layoutOf([node(1), node(2)], [edge(2, 1), edge(3, 2)])
  assert.equal(nodes.length, 2)
  assert.deepEqual(
    lines.map(({ from, to }) => [from.entity_id, to.entity_id]),
    [['1', '2']],
  )
})

test('types have names; unknown ones are named as the contract does', () => {
  assert.equal(entityType('processing_job').name, 'Job')
  assert.equal(entityType('new_thing').name, 'New thing')
  assert.equal(entityType('toString').name, 'ToString')
})
