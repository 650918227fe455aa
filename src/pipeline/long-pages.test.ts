import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { world } from '../../test/support/world.ts'

/** A page that is longer than a part. */
const longPage = operation({
  id: 'test.page',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ entries: Type.Integer(), leaks: Type.Optional(Type.Boolean()) }),
  output: Closed({ items: Type.Array(Closed({ id: Type.Integer() })), total: Type.Integer() }),
  example: { input: { entries: 0 }, output: { items: [], total: 0 } },
}).handle({
  async execute(_context, { entries, leaks }) {
    const items = Array.from({ length: entries }, (_, id) => ({ id, ...(leaks && id === entries - 1 ? { secret: 'x' } : {}) }))
    return { items, total: entries }
  },
})

// Goal: over HTTP, a page of any length arrives complete, and a field too many in one entry is an internal error that leaks nothing.
test('long pages', async (t) => {
  const w = await world(t, { operations: [longPage] })
  const { owner } = await w.organization()
  for (const entries of [0, 100, 101, 1_000]) {
    const { body } = await w.call(owner.token, 'test.page', { entries })
    assert.deepEqual(body, { items: Array.from({ length: entries }, (_, id) => ({ id })), total: entries })
  }
  const { status, bytes } = await w.call(owner.token, 'test.page', { entries: 1_000, leaks: true })
  assert.equal(status, 500)
  assert.ok(!bytes.includes('secret'))
})
