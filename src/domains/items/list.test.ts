// Goal: a project's items are listed newest first, by page, collection, name and type, only to those who can read them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

const ITEMS = 7

test('items.list', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { owner, projectId: project_id } = org
  const viewer = await w.member(org, 'viewer')
  const stranger = (await w.organization('Other')).owner
  const collection = await w.ok(owner.token, 'collections.create', { project_id, name: 'c' })
  const ids: string[] = []
  for (let i = 0; i < ITEMS; i++) {
    const within = i % 3 === 0 ? { collection_id: collection.id } : {}
    ids.push((await w.ok(owner.token, 'items.create', { project_id, type: 'clip', name: `i${i}`, ...within })).id)
  }
  /** The total, followed by the indexes of the items. */
  const list = async (input: object) => {
    const { items, total } = await w.ok(viewer.token, 'items.list', { project_id, ...input })
    return [total, ...items.map((item: { id: string }) => ids.indexOf(item.id))]
  }

  await t.test('newest first, windows, collections, totals', async () => {
    assert.deepEqual(await list({}), [ITEMS, 6, 5, 4, 3, 2, 1, 0])
    assert.deepEqual(await list({ limit: 2, offset: 3 }), [ITEMS, 3, 2])
    assert.deepEqual(await list({ collection_id: collection.id }), [3, 6, 3, 0])
    assert.deepEqual(await list({ uncollected: true, limit: 2 }), [4, 5, 4])
    const { items, total } = await w.ok(viewer.token, 'items.list_by_collection', { collection_id: collection.id, limit: 1, offset: 1 })
    assert.deepEqual([total, items[0].id], [3, ids[3]])
  })

  await t.test('paging returns every item, whatever is added or deleted meanwhile', async () => {
    const { status, body } = await w.call(viewer.token, 'items.list', { project_id, offset: 5_000_000 })
    assert.deepEqual([status, body], [200, { items: [], total: ITEMS, next: null }])
    const read = async (filter: object) => {
      const seen: number[] = []
      for (let next: string | null | undefined; next !== null;) {
        const page = await w.ok(viewer.token, 'items.list', { project_id, limit: 2, ...filter, ...(next ? { next } : {}) })
        seen.push(...page.items.map((item: { id: string }) => ids.indexOf(item.id)))
        next = page.next
      }
      return seen
    }
    assert.deepEqual(await read({}), [6, 5, 4, 3, 2, 1, 0])
    assert.deepEqual(await read({ limit: ITEMS }), [6, 5, 4, 3, 2, 1, 0], 'a full last page has no next page')
    assert.deepEqual(await read({ uncollected: true }), [5, 4, 2, 1])
    assert.deepEqual(await read({ q: 'i', offset: 1 }), [5, 4, 3, 2, 1, 0])
    const first = await w.ok(viewer.token, 'items.list', { project_id, limit: 2 })
    const added = await w.ok(owner.token, 'items.create', { project_id, type: 'clip', name: 'new' })
    await w.ok(owner.token, 'items.delete', { item_id: added.id })
    const deleted = await w.ok(owner.token, 'items.create', { project_id, type: 'clip', name: 'gone' })
    const from = await w.ok(viewer.token, 'items.list', { project_id, limit: 1 })
    await w.ok(owner.token, 'items.delete', { item_id: deleted.id })
    assert.deepEqual(
      (await w.ok(viewer.token, 'items.list', { project_id, limit: 2, next: first.next })).items.map(({ id }: { id: string }) =>
        ids.indexOf(id),
      ),
      [4, 3],
    )
    assert.equal(
      (await w.ok(viewer.token, 'items.list', { project_id, limit: 1, next: from.next })).items[0].id,
      ids[6],
      'after a deleted item',
    )
  })

  await t.test('by a part of the name or the id, and by type', async () => {
    await w.ok(owner.token, 'items.update', { item_id: ids[2], name: 'Delta_100%' })
    await w.ok(owner.token, 'items.update', { item_id: ids[3], name: 'River delta 100' })
    assert.deepEqual(await list({ q: 'delta' }), [2, 3, 2], 'case-insensitive, anywhere in the name')
    assert.deepEqual(await list({ q: '_100%' }), [1, 2], 'there are no wildcards')
    assert.deepEqual(await list({ q: ids[5]!.toUpperCase() }), [1, 5], 'an id')
    assert.deepEqual(await list({ q: 'delta', limit: 1, offset: 1 }), [2, 2])
    assert.deepEqual(await list({ q: 'delta', collection_id: collection.id }), [1, 3])
    assert.deepEqual(await list({ type: 'mosaic' }), [0])
    assert.equal((await list({ type: 'clip' }))[0], ITEMS)
  })

  await t.test('invalid input and missing access', async () => {
    const refusal = async (token: string, id: string, input: object) => (await w.call(token, id, input)).status
    const { id: another } = await w.ok(owner.token, 'projects.create', { name: 'Another' })
    assert.equal(await refusal(viewer.token, 'items.list', { project_id, collection_id: collection.id, uncollected: true }), 400)
    assert.equal(await refusal(viewer.token, 'items.list', { project_id: another, collection_id: collection.id }), 404)
    assert.equal(await refusal(stranger.token, 'items.list', { project_id, q: 'delta' }), 404)
    assert.equal(await refusal(stranger.token, 'items.list_by_collection', { collection_id: collection.id }), 404)
    assert.equal(await refusal(viewer.token, 'items.list', { project_id, offset: -1 }), 422)
    const { items: elsewhere } = await w.ok(stranger.token, 'items.list', {
      project_id: (await w.ok(stranger.token, 'projects.create', { name: 'x' })).id,
    })
    assert.deepEqual(elsewhere, [])
    for (const next of ['nothing', another]) assert.equal(await refusal(viewer.token, 'items.list', { project_id, next }), 422)
    assert.equal(await refusal(viewer.token, 'items.list', { project_id, q: '' }), 422)
  })
})
