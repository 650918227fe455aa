import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: each member's backdrop is remembered for themselves alone, only what they can read can be one, and it ends with its imagery.
test('visualization.backdrop', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const stranger = await w.organization()
  const viewer = await w.member(org, 'viewer')
  const get = async (token: string) => (await w.ok(token, 'visualization.backdrop.get', {})).backdrop
  const set = (token: string, backdrop: object | null) => w.call(token, 'visualization.backdrop.set', { backdrop })
  const { id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Coast' })

  await t.test('the built-in map at first, then what each member chose', async () => {
    assert.equal(await get(org.owner.token), null)
    assert.equal((await set(org.owner.token, { kind: 'collection', id })).status, 200)
    assert.deepEqual(await get(org.owner.token), { kind: 'collection', id, name: 'Coast' })
    assert.equal(await get(viewer.token), null)
    assert.equal((await set(viewer.token, { kind: 'map', id: 'satellite' })).status, 200)
    assert.deepEqual(await get(viewer.token), { kind: 'map', id: 'satellite', name: null })
    assert.deepEqual(await get(org.owner.token), { kind: 'collection', id, name: 'Coast' })
  })

  await t.test('imagery of another organization cannot be one', async () => {
    assert.equal((await set(stranger.owner.token, { kind: 'collection', id })).status, 404)
    assert.equal((await set(stranger.owner.token, { kind: 'item', id })).status, 404)
    assert.equal((await set(stranger.owner.token, { kind: 'picture', id })).status, 422)
    assert.equal(await get(stranger.owner.token), null)
  })

  await t.test('it is replaced, ends with its imagery, and can be removed', async () => {
    await w.ok(org.owner.token, 'visualization.backdrop.set', { backdrop: { kind: 'collection', id } })
    await w.ok(org.owner.token, 'collections.delete', { project_id: org.projectId, collection_id: id })
    assert.equal(await get(org.owner.token), null)
    await w.ok(viewer.token, 'visualization.backdrop.set', { backdrop: null })
    assert.equal(await get(viewer.token), null)
  })

  await t.test('a membership that ends takes it along', async () => {
    await w.ok(viewer.token, 'visualization.backdrop.set', { backdrop: { kind: 'map', id: 'streets' } })
    await w.ok(org.owner.token, 'organizations.members.remove', { user_id: viewer.id })
    assert.deepEqual(await w.db.selectFrom('map_backdrop').selectAll().where('user_id', '=', viewer.id).execute(), [])
  })
})
