import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  changeLayer,
  dropLayer,
  emptyLayer,
  groupLayer,
  removeLayer,
  stepLayer,
  toInput,
  type Draft,
} from '../../packages/console/src/screens/maps/draft.ts'

const layer = (id: string, group_id: string | null = null) => emptyLayer({ id, item_id: id, source_name: id, group_id })
const group = (id: string) => ({ id, name: id, visible: true })
const textOf = ({ layers }: Draft) => layers.map(({ id, group_id }) => (group_id ? `${group_id}.${id}` : id)).join(' ')
const START: Draft = { layers: ['a', 'b', 'c', 'd'].map((id) => layer(id)), groups: [], annotations: [] }

// Goal: keys move a layer one step at a time through the list, into and out of groups; dragging moves it to where another one is.
test('layers of a map move', () => {
  const grouped = changeLayer(groupLayer(START, 'b', group('g')), 'c', { group_id: 'g' })
  assert.equal(textOf(grouped), 'a g.b g.c d')
  assert.equal(textOf(stepLayer(START, 'a', 1)), 'b a c d')
  assert.equal(textOf(stepLayer(START, 'a', -1)), 'a b c d', 'the first stays')
  assert.equal(textOf(stepLayer(grouped, 'a', 1)), 'g.a g.b g.c d', 'into the group')
  assert.equal(textOf(stepLayer(grouped, 'd', -1)), 'a g.b g.c g.d')
  assert.equal(textOf(stepLayer(grouped, 'b', -1)), 'a b g.c d', 'out of it')
  assert.equal(textOf(stepLayer(grouped, 'c', 1)), 'a g.b c d')
  assert.equal(textOf(stepLayer(grouped, 'c', -1)), 'a g.c g.b d')
  assert.equal(textOf(dropLayer(grouped, 'd', 'b')), 'a g.d g.b g.c')
  assert.equal(textOf(dropLayer(grouped, 'b', 'a')), 'b a g.c d')
  assert.equal(textOf(dropLayer(START, 'a', 'd')), 'b c d a')
  assert.deepEqual(removeLayer(groupLayer(START, 'b', group('g')), 'b').groups, [], 'an empty group is gone')
  assert.equal('source_name' in toInput(START).layers[0]!, false)
})

// Goal: whatever is done in whatever order, no layer is lost or doubled, groups stay together, and each layer's group exists.
test('the order of layers stays whole', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  const id = fc.constantFrom(...ids)
  const action = fc.oneof(
    fc.record({ kind: fc.constant('step' as const), id, step: fc.constantFrom<-1 | 1>(-1, 1) }),
    fc.record({ kind: fc.constant('drop' as const), id, onto: id }),
    fc.record({ kind: fc.constant('group' as const), id, name: fc.constantFrom('g', 'h') }),
    fc.record({ kind: fc.constant('leave' as const), id }),
  )
  const start: Draft = { layers: ids.map((each) => layer(each)), groups: [], annotations: [] }
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      let draft = start
      for (const each of actions) {
        if (each.kind === 'step') draft = stepLayer(draft, each.id, each.step)
        else if (each.kind === 'drop') draft = dropLayer(draft, each.id, each.onto)
        else if (each.kind === 'leave') draft = changeLayer(draft, each.id, { group_id: null })
        else if (draft.groups.some((known) => known.id === each.name)) draft = changeLayer(draft, each.id, { group_id: each.name })
        else draft = groupLayer(draft, each.id, group(each.name))
        assert.deepEqual(draft.layers.map((known) => known.id).toSorted(), ids)
        const runs = draft.layers.map(({ group_id }) => group_id).filter((known, index, all) => known !== null && all[index - 1] !== known)
        assert.equal(new Set(runs).size, runs.length, `groups are in pieces: ${textOf(draft)}`)
        assert.deepEqual(draft.groups.map((known) => known.id).toSorted(), [...new Set(runs)].toSorted())
      }
    }),
  )
})
