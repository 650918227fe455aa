// Goal: a lineage graph is drawn whole, without overlaps, from sources to what was made of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LineageEdge, LineageNode } from '../../packages/console/src/api/contract.ts'
import { entityType } from '../../packages/console/src/screens/lineage/entity-types.ts'
import { layoutOf, NODE_HEIGHT, NODE_WIDTH, nodeKey, pathOf } from '../../packages/console/src/screens/lineage/lineage-layout.ts'

const node = (id: number) => ({ entity_type: 'item', entity_id: String(id) }) as LineageNode
const edge = (src: number, dst: number) =>
  ({ src_type: 'item', src_id: String(src), dst_type: 'item', dst_id: String(dst), relation: 'derived_from' }) as LineageEdge

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
        assert.match(pathOf(points), /^M[\d.]+ [\d.]+(Q[\d. ]+)*L[\d.]+ [\d.]+$/)
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
