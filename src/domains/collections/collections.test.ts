import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: collections group a project's items without owning them, for exactly those who can read or change the project.
test('collections', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { owner, projectId: project_id } = org
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const stranger = (await w.organization('Other')).owner
  const create = (input: object = {}, token = editor.token) =>
    w.call(token, 'collections.create', { project_id, name: 'Dry season', ...input })
  const events = async (id: string) =>
    await w.db.selectFrom('event').select(['type', 'data']).where('entity_id', '=', id).orderBy('seq').execute()

  await t.test('create returns the record, with lineage and an event', async () => {
    const { status, body } = await create({ color: '#fff', layer_order: 3 })
    assert.equal(status, 200)
    const { id, ...rest } = body
    assert.deepEqual(rest, {
      project_id,
      name: 'Dry season',
      description: null,
      color: '#fff',
      show_on_map: true,
      layer_order: 3,
      auto_created: false,
      source_type: null,
      source_id: null,
      item_count: 0,
      deleted_at: null,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
    })
    assert.deepEqual(
      (await events(id)).map(({ type }) => type),
      ['collection.created'],
    )
    const graph = await w.ok(owner.token, 'provenance.get', { entity_type: 'collection', entity_id: id })
    assert.deepEqual(
      graph.edges.map((edge: { relation: string; dst_id: string }) => [edge.relation, edge.dst_id]),
      [['created_in', project_id]],
    )
  })

  await t.test('roles: viewers read, editors change, admins delete; strangers see nothing', async () => {
    assert.equal((await create({}, viewer.token)).status, 403)
    const { body: collection } = await create()
    const by = { project_id, collection_id: collection.id }
    assert.equal((await w.call(viewer.token, 'collections.get', by)).status, 200)
    assert.equal((await w.call(viewer.token, 'collections.update', { ...by, name: 'x' })).status, 403)
    assert.equal((await w.call(editor.token, 'collections.delete', by)).status, 403)
    for (const [id, more] of [
      ['collections.get', {}],
      ['collections.update', { name: 'x' }],
      ['collections.delete', {}],
    ] as const)
      assert.equal((await w.call(stranger.token, id, { ...by, ...more })).status, 404)
    assert.equal((await w.call(stranger.token, 'collections.list', { project_id })).status, 404)
    assert.equal((await create({}, stranger.token)).status, 404)
  })

  await t.test('a collection of another project does not exist here', async () => {
    const other = await w.ok(owner.token, 'projects.create', { name: 'Other project' })
    const { body: collection } = await create()
    const { status, body } = await w.call(owner.token, 'collections.get', { project_id: other.id, collection_id: collection.id })
    assert.equal(status, 404)
    assert.equal(body.detail, 'No such collection')
    assert.equal((await w.call(owner.token, 'collections.get', { project_id, collection_id: "' or 1=1 --" })).status, 404)
  })

  await t.test('update: omitted fields are unchanged, null clears optional ones', async () => {
    const { body: collection } = await create({ description: 'old', color: 'red', layer_order: 7, show_on_map: false })
    w.clock.advance({ minutes: 1 })
    const { status, body } = await w.call(editor.token, 'collections.update', {
      project_id,
      collection_id: collection.id,
      description: null,
      name: null,
      layer_order: null,
    })
    assert.equal(status, 200)
    assert.deepEqual({ ...body, updated_at: collection.updated_at }, { ...collection, description: null })
    assert.notEqual(body.updated_at, collection.updated_at)
    assert.deepEqual(
      (await events(collection.id)).map(({ type }) => type),
      ['collection.created', 'collection.updated'],
    )
    assert.equal((await w.call(editor.token, 'collections.update', { project_id, collection_id: collection.id, name: '' })).status, 422)
  })

  await t.test('list counts items; delete keeps them and a second delete is 404', async () => {
    const { body: collection } = await create({ name: 'Counted' })
    const item = await w.ok(editor.token, 'items.create', { project_id, collection_id: collection.id, type: 'user_raster', name: 'A' })
    await w.ok(editor.token, 'items.create', { project_id, collection_id: collection.id, type: 'user_raster', name: 'B' })
    const listed = await w.ok(viewer.token, 'collections.list', { project_id })
    assert.equal(listed.find((row: { id: string }) => row.id === collection.id).item_count, 2)
    assert.deepEqual(
      listed.map((row: { layer_order: number }) => row.layer_order),
      listed.map((row: { layer_order: number }) => row.layer_order).toSorted((a: number, b: number) => a - b),
    )
    assert.deepEqual(await w.ok(owner.token, 'collections.delete', { project_id, collection_id: collection.id }), {
      ok: true,
      id: collection.id,
    })
    assert.equal((await w.ok(editor.token, 'items.get', { item_id: item.id })).item.collection_id, null)
    const last = (await events(collection.id)).at(-1)!
    assert.equal(last.type, 'collection.updated')
    assert.equal(last.data['deleted_at'], w.clock.now().toISOString())
    assert.equal((await events(item.id)).length, 1, 'no event per member item')
    assert.equal((await w.call(owner.token, 'collections.delete', { project_id, collection_id: collection.id })).status, 404)
    assert.equal((await w.call(editor.token, 'items.list_by_collection', { collection_id: collection.id })).status, 404)
  })

  await t.test('an archived project cannot be changed', async () => {
    const closed = await w.ok(owner.token, 'projects.create', { name: 'Closed' })
    const collection = await w.ok(owner.token, 'collections.create', { project_id: closed.id, name: 'c' })
    await w.ok(owner.token, 'projects.archive', { project_id: closed.id })
    assert.equal((await w.call(owner.token, 'collections.create', { project_id: closed.id, name: 'x' })).status, 400)
    assert.equal(
      (await w.call(owner.token, 'collections.update', { project_id: closed.id, collection_id: collection.id, name: 'x' })).status,
      400,
    )
    assert.equal((await w.call(owner.token, 'collections.delete', { project_id: closed.id, collection_id: collection.id })).status, 400)
    assert.equal((await w.call(owner.token, 'collections.get', { project_id: closed.id, collection_id: collection.id })).status, 200)
  })
})
