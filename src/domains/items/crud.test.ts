import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Compile } from 'typebox/compile'
import { eventType } from '#core/event-types.ts'
import { world, type World } from '../../../test/support/world.ts'

const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [10, 50],
      [11, 50],
      [11, 51],
      [10, 51],
      [10, 50],
    ],
  ],
}
const HREF = 'https://data.example/a.tif'

/** Counters and cells must equal a recount at any time. */
async function recount(w: World): Promise<void> {
  const projects = await w.db.selectFrom('project').select(['id', 'item_count', 'storage_bytes', 'deleted_at']).execute()
  const items = await w.db.selectFrom('item').selectAll().execute()
  const assets = await w.db.selectFrom('asset').selectAll().execute()
  const cells = await w.db.selectFrom('item_cell').selectAll().execute()
  for (const project of projects) {
    const live = items.filter((item) => item.project_id === project.id && item.deleted_at === null)
    const seqs = new Set(live.map(({ seq }) => seq))
    assert.equal(project.item_count, live.length)
    assert.equal(
      project.storage_bytes,
      assets
        .filter((asset) => seqs.has(asset.item_seq) && asset.object_key !== null)
        .reduce((sum, asset) => sum + asset.file_size_bytes!, 0) +
        live.reduce((sum, item) => sum + Math.max(0, item.metadata_bytes - 4096), 0),
    )
  }
  for (const account of await w.db.selectFrom('storage_account').selectAll().execute()) {
    const own = await w.db
      .selectFrom('project')
      .select((e) => e.fn.sum<number>('storage_bytes').as('bytes'))
      .where('org_id', '=', account.org_id)
      .executeTakeFirstOrThrow()
    assert.deepEqual([account.used_bytes, account.reserved_bytes], [Number(own.bytes), 0])
  }
  const expected = items
    .filter((item) => item.deleted_at === null)
    .flatMap((item) => item.cells.map((cell) => `${item.seq} ${cell}`))
    .toSorted()
  assert.deepEqual(cells.map(({ seq, cell }) => `${seq} ${cell}`).toSorted(), expected)
}

/** Adds an asset with a stored file to an item directly, without an upload. */
async function storeFile(w: World, itemId: string, key: string, size: number): Promise<string> {
  const { seq, org_id, project_id } = await w.db
    .selectFrom('item')
    .select(['seq', 'org_id', 'project_id'])
    .where('id', '=', itemId)
    .executeTakeFirstOrThrow()
  const id = globalThis.crypto.randomUUID()
  await w.db
    .insertInto('asset')
    .values({
      id,
      org_id,
      item_seq: seq,
      key,
      bucket: 'b',
      object_key: `o/${id}`,
      file_size_bytes: size,
      created_at: w.clock.now(),
      updated_at: w.clock.now(),
    })
    .execute()
  await w.db
    .updateTable('project')
    .set((e) => ({ storage_bytes: e('storage_bytes', '+', size) }))
    .where('id', '=', project_id)
    .execute()
  await w.db
    .updateTable('storage_account')
    .set((e) => ({ used_bytes: e('used_bytes', '+', size) }))
    .where('org_id', '=', org_id)
    .execute()
  return id
}

const eventsOf = async (w: World, id: string) => {
  const rows = await w.db.selectFrom('event').select(['type', 'data']).where('entity_id', '=', id).orderBy('seq').execute()
  for (const { type, data } of rows) assert.ok(Compile(eventType(type as never).data_schema).Check(data), `${type} keeps its schema`)
  return rows
}

// Goal: from create to delete, the position, assets, counters, lineage and events of an item are correct.
test('items', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { owner, projectId: project_id } = org
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const stranger = (await w.organization('Other')).owner
  const create = (input: object = {}, token = editor.token) =>
    w.call(token, 'items.create', { project_id, type: 'user_raster', name: 'Scene', geometry: SQUARE, ...input })
  const createOk = async (input: object = {}) => {
    const { status, body } = await create(input)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  await t.test('create returns the whole record', async () => {
    const body = await createOk({
      stac_id: 'S2_X',
      datetime: '2026-02-01T10:00:00+10:00',
      properties: { platform: 's2', 'eo:cloud_cover': 7 },
      assets: [{ key: 'data', href: HREF, media_type: 'image/tiff', roles: ['data'] }],
    })
    const { id, ...rest } = body
    assert.deepEqual(rest, {
      project_id,
      collection_id: null,
      stac_id: 'S2_X',
      type: 'user_raster',
      geometry: SQUARE,
      bbox: [10, 50, 11, 51],
      datetime: '2026-02-01T00:00:00.000Z',
      start_datetime: null,
      end_datetime: null,
      cloud_cover: 7,
      gsd: null,
      name: 'Scene',
      description: null,
      properties: { platform: 's2', 'eo:cloud_cover': 7 },
      stac_extensions: [],
      lifecycle_state: 'active',
      expires_at: '2030-01-24T00:00:00.000Z',
      archived_at: null,
      previous_version_id: null,
      duplicated_from_id: null,
      order_id: null,
      upload_id: null,
      job_id: null,
      deleted_at: null,
      created_by: editor.id,
      created_at: '2030-01-01T00:00:00.000Z',
      updated_at: '2030-01-01T00:00:00.000Z',
    })
    assert.deepEqual((await w.ok(viewer.token, 'items.get', { item_id: id })).item, body)
    const assets = await w.ok(viewer.token, 'items.list_assets', { item_id: id })
    assert.deepEqual(
      assets.map((asset: { key: string; href: string; file_size_bytes: null }) => [asset.key, asset.href, asset.file_size_bytes]),
      [['data', HREF, null]],
    )
    assert.deepEqual(
      (await eventsOf(w, id)).map(({ type, data }) => [type, data['bbox']]),
      [['item.created', [10, 50, 11, 51]]],
    )
    const graph = await w.ok(owner.token, 'provenance.get', { entity_type: 'item', entity_id: id })
    assert.deepEqual(
      graph.edges.map((edge: { relation: string; dst_id: string }) => [edge.relation, edge.dst_id]),
      [['created_in', project_id]],
    )
    assert.equal((await w.ok(viewer.token, 'projects.get', { project_id })).item_count, 1)
  })

  await t.test('invalid input is rejected with the field and stores nothing', async () => {
    const before = await w.db.selectFrom('item').select('seq').execute()
    const cases: [object, string][] = [
      [{ type: 'spaceship' }, 'type'],
      [{ name: '' }, 'name'],
      [{ bbox: [1, 2, 3] }, 'bbox'],
      [{ bbox: [0, 0, 5, 5] }, 'bbox'],
      [
        {
          geometry: {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [1, 1],
                [1, 0],
                [0, 1],
                [0, 0],
              ],
            ],
          },
        },
        'geometry',
      ],
      [{ geometry: { type: 'GeometryCollection', geometries: [] } }, 'geometry'],
      [{ geometry: null, bbox: [0, 10, 1, 5] }, 'bbox'],
      [{ cloud_cover: 101 }, 'cloud_cover'],
      [{ gsd: 0 }, 'gsd'],
      [{ datetime: '2026-02-31T00:00:00Z' }, 'datetime'],
      [{ start_datetime: '2026-02-02T00:00:00Z', end_datetime: '2026-02-01T00:00:00Z' }, 'start_datetime'],
      [{ assets: [{ key: 'data', href: 'http://data.example/a.tif' }] }, 'assets.0.href'],
      [{ assets: [{ key: 'data', href: 'https://u:p@data.example/a.tif' }] }, 'assets.0.href'],
      [
        {
          assets: [
            { key: 'data', href: HREF },
            { key: 'data', href: HREF },
          ],
        },
        'assets',
      ],
      [{ properties: { a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } } }, 'properties'],
      [{ lifecycle_state: 'expired' }, 'lifecycle_state'],
    ]
    for (const [input, field] of cases) {
      const { status, body } = await create(input)
      assert.equal(status, 422, JSON.stringify(input))
      assert.equal(body.errors[0].field, field)
    }
    assert.equal((await create({ properties: JSON.parse('{"__proto__": {"polluted": 1}}') })).status, 400)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
    assert.equal((await create({ collection_id: globalThis.crypto.randomUUID() })).status, 404)
    assert.deepEqual(await w.db.selectFrom('item').select('seq').execute(), before)
  })

  await t.test('positions: points, lines, a split multipolygon, a bbox alone, an unsplit ring with a crossing bbox', async () => {
    assert.deepEqual((await createOk({ geometry: { type: 'Point', coordinates: [5, 6, 100] } })).bbox, [5, 6, 5, 6])
    assert.deepEqual(
      (
        await createOk({
          geometry: {
            type: 'LineString',
            coordinates: [
              [5, 6],
              [7, 8],
            ],
          },
        })
      ).bbox,
      [5, 6, 7, 8],
    )
    const fiji = {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [179, -18],
            [180, -18],
            [180, -17],
            [179, -17],
            [179, -18],
          ],
        ],
        [
          [
            [-180, -18],
            [-179, -18],
            [-179, -17],
            [-180, -17],
            [-180, -18],
          ],
        ],
      ],
    }
    assert.deepEqual((await createOk({ geometry: fiji })).bbox, [179, -18, -179, -17])
    assert.deepEqual((await createOk({ geometry: null, bbox: [170, 0, -170, 5] })).bbox, [170, 0, -170, 5])
    assert.deepEqual(
      (
        await createOk({
          geometry: {
            type: 'Polygon',
            coordinates: [
              [
                [179, 0],
                [-179, 0],
                [-179, 1],
                [179, 1],
                [179, 0],
              ],
            ],
          },
          bbox: [179, 0, -179, 1],
        })
      ).bbox,
      [179, 0, -179, 1],
    )
    assert.equal((await createOk({ geometry: null })).bbox, null)
    await recount(w)
  })

  await t.test('roles: viewers read, editors write, strangers get 404, private projects 403', async () => {
    const { id: item_id } = await createOk()
    assert.equal((await create({}, viewer.token)).status, 403)
    assert.equal((await w.call(viewer.token, 'items.update', { item_id, name: 'x' })).status, 403)
    assert.equal((await w.call(viewer.token, 'items.delete', { item_id })).status, 403)
    const missing = await w.call(owner.token, 'items.get', { item_id: 'nothing' })
    for (const id of ['items.get', 'items.update', 'items.delete', 'items.list_assets', 'items.lineage', 'items.duplicate']) {
      const { status, body } = await w.call(stranger.token, id, { item_id })
      assert.equal(status, 404, id)
      assert.deepEqual({ ...body, instance: '' }, { ...missing.body, instance: '' })
    }
    const secret = await w.ok(owner.token, 'projects.create', { name: 'Secret', visibility: 'private' })
    const hidden = await w.ok(owner.token, 'items.create', { project_id: secret.id, type: 'clip', name: 'h' })
    assert.equal((await w.call(editor.token, 'items.get', { item_id: hidden.id })).status, 403)
    await w.guest(secret.id, 'viewer', stranger)
    assert.equal((await w.call(stranger.token, 'items.get', { item_id: hidden.id })).status, 200, 'a guest can read')
    const { key } = await w.key(stranger.token, ['read', 'write'])
    assert.equal((await w.call(key, 'items.get', { item_id: hidden.id })).status, 404, 'a key stays in its organization')
  })

  await t.test('update: omitted fields are unchanged, null clears, the bbox follows the geometry', async () => {
    const before = await createOk({ description: 'd', datetime: '2026-01-01T00:00:00Z', cloud_cover: 5, gsd: 10, properties: { a: 1 } })
    const update = (input: object) => w.call(editor.token, 'items.update', { item_id: before.id, ...input })
    w.clock.advance({ minutes: 1 })
    const moved = {
      type: 'Polygon',
      coordinates: [
        [
          [20, 0],
          [22, 0],
          [22, 2],
          [20, 0],
        ],
      ],
    }
    assert.deepEqual((await update({ geometry: moved })).body.bbox, [20, 0, 22, 2])
    assert.equal((await update({ bbox: [0, 0, 1, 1] })).status, 422)
    const cleared = (await update({ description: null, cloud_cover: null, gsd: null, datetime: null, properties: null, name: null })).body
    assert.deepEqual(
      [cleared.description, cleared.cloud_cover, cleared.gsd, cleared.datetime, cleared.properties, cleared.name, cleared.geometry],
      [null, null, null, null, {}, 'Scene', moved],
    )
    await recount(w)
    const unplaced = (await update({ geometry: null })).body
    assert.deepEqual([unplaced.geometry, unplaced.bbox], [null, null])
    const events = await eventsOf(w, before.id)
    assert.deepEqual(
      events.slice(1).map(({ data }) => data['changed_fields']),
      [
        ['geometry', 'bbox'],
        ['description', 'datetime', 'cloud_cover', 'gsd', 'properties'],
        ['geometry', 'bbox'],
      ],
    )
    assert.equal((await update({ name: 'Scene' })).status, 200)
    assert.equal((await eventsOf(w, before.id)).length, events.length, 'no change, no event')
    assert.equal((await update({ type: 'clip' })).status, 422)
    assert.equal((await update({ project_id })).status, 422)
    await recount(w)
  })

  await t.test('update: moves between collections and states', async () => {
    const [a, b] = [
      await w.ok(editor.token, 'collections.create', { project_id, name: 'a' }),
      await w.ok(editor.token, 'collections.create', { project_id, name: 'b' }),
    ]
    const other = await w.ok(owner.token, 'projects.create', { name: 'Elsewhere' })
    const foreign = await w.ok(owner.token, 'collections.create', { project_id: other.id, name: 'f' })
    const { id: item_id } = await createOk({ collection_id: a.id })
    const update = (input: object) => w.call(editor.token, 'items.update', { item_id, ...input })
    assert.equal((await update({ collection_id: b.id })).body.collection_id, b.id)
    assert.equal((await update({ collection_id: null })).body.collection_id, null)
    assert.equal((await update({ collection_id: foreign.id })).status, 404)
    assert.equal((await update({ lifecycle_state: 'deleted' })).status, 400)
    assert.equal((await update({ lifecycle_state: 'archived' })).body.archived_at, w.clock.now().toISOString())
    const active = (await update({ lifecycle_state: 'active' })).body
    assert.deepEqual([active.lifecycle_state, active.archived_at], ['active', null])
    const last = (await eventsOf(w, item_id)).at(-1)!
    assert.deepEqual(
      [last.type, last.data['lifecycle_state'], last.data['previous_lifecycle_state']],
      ['item.updated', 'active', 'archived'],
    )
  })

  await t.test('delete: 404 for every operation, its storage is freed, a second delete is 404', async () => {
    const { id: item_id } = await createOk()
    await storeFile(w, item_id, 'data', 1_000)
    await storeFile(w, item_id, 'thumbnail', 50)
    const before = await w.ok(viewer.token, 'projects.get', { project_id })
    assert.deepEqual(await w.ok(editor.token, 'items.delete', { item_id }), { ok: true, id: item_id })
    const after = await w.ok(viewer.token, 'projects.get', { project_id })
    assert.deepEqual([before.storage_bytes - after.storage_bytes, before.item_count - after.item_count], [1_050, 1])
    for (const id of ['items.get', 'items.delete', 'items.list_assets', 'items.update', 'items.duplicate', 'items.lineage'])
      assert.equal((await w.call(editor.token, id, { item_id })).status, 404, id)
    const last = (await eventsOf(w, item_id)).at(-1)!
    assert.deepEqual(
      [last.type, last.data['deleted_at'], last.data['lifecycle_state']],
      ['item.deleted', w.clock.now().toISOString(), 'deleted'],
    )
    await recount(w)
  })

  await t.test('two concurrent deletes: one succeeds, the storage is freed once', async () => {
    const { id: item_id } = await createOk()
    await storeFile(w, item_id, 'data', 10)
    const responses = await Promise.all(Array.from({ length: 8 }, () => w.call(editor.token, 'items.delete', { item_id })))
    assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 404, 404, 404, 404, 404, 404, 404])
    await recount(w)
  })

  await t.test('everything concurrently: the counters stay correct, and deleted collections are empty', async () => {
    const { id: busy } = await w.ok(owner.token, 'projects.create', { name: 'Busy' })
    const collection = await w.ok(owner.token, 'collections.create', { project_id: busy, name: 'c' })
    const add = (input: object = {}) =>
      w.call(owner.token, 'items.create', { project_id: busy, type: 'clip', name: 'n', geometry: SQUARE, ...input })
    const ids = (await Promise.all(Array.from({ length: 12 }, () => add()))).map(({ body }) => body.id as string)
    const mixed = await Promise.all([
      ...ids.slice(0, 6).map((item_id) => w.call(owner.token, 'items.delete', { item_id })),
      ...ids
        .slice(3, 9)
        .map((item_id) =>
          w.call(owner.token, 'items.update', { item_id, geometry: { type: 'Point', coordinates: [1, 1] }, collection_id: collection.id }),
        ),
      ...ids.slice(9).map((item_id) => w.call(owner.token, 'items.duplicate', { item_id })),
      ...Array.from({ length: 6 }, () => add({ collection_id: collection.id })),
      w.call(owner.token, 'collections.delete', { project_id: busy, collection_id: collection.id }),
    ])
    assert.ok(
      mixed.every(({ status }) => status < 500),
      JSON.stringify(mixed.map(({ status }) => status)),
    )
    const stranded = await w.db
      .selectFrom('item')
      .select('seq')
      .where('collection_id', '=', collection.id)
      .where('deleted_at', 'is', null)
      .execute()
    assert.deepEqual(stranded, [])
    await recount(w)
    const responses = await Promise.all([
      ...Array.from({ length: 8 }, () => add()),
      ...ids.slice(6).map((item_id) => w.call(owner.token, 'items.delete', { item_id })),
      w.call(owner.token, 'projects.delete', { project_id: busy }),
    ])
    assert.equal(responses.at(-1)!.status, 200)
    assert.ok(
      responses.every(({ status }) => [200, 400, 404].includes(status)),
      JSON.stringify(responses.map(({ status }) => status)),
    )
    assert.deepEqual(
      await w.db.selectFrom('item').select('seq').where('project_id', '=', busy).where('deleted_at', 'is', null).execute(),
      [],
    )
    await recount(w)
  })

  await t.test('duplicate: the same files, counted again, with lineage', async () => {
    const source = await createOk({ name: 'Original', properties: { a: 1 }, assets: [{ key: 'data', href: HREF, roles: ['data'] }] })
    const fileId = await storeFile(w, source.id, 'file', 500)
    const other = await w.ok(owner.token, 'projects.create', { name: 'Target' })
    const collection = await w.ok(owner.token, 'collections.create', { project_id: other.id, name: 't' })
    assert.equal((await w.call(editor.token, 'items.duplicate', { item_id: source.id, target_project_id: other.id })).status, 403)
    assert.equal((await w.call(owner.token, 'items.duplicate', { item_id: source.id, target_collection_id: collection.id })).status, 404)
    const copy = await w.ok(owner.token, 'items.duplicate', {
      item_id: source.id,
      target_project_id: other.id,
      target_collection_id: collection.id,
    })
    assert.deepEqual(
      [copy.name, copy.duplicated_from_id, copy.project_id, copy.collection_id, copy.geometry, copy.properties],
      ['Original (copy)', source.id, other.id, collection.id, SQUARE, { a: 1 }],
    )
    const assets = await w.ok(owner.token, 'items.list_assets', { item_id: copy.id })
    assert.deepEqual(
      assets.map((asset: { key: string }) => asset.key),
      ['data', 'file'],
    )
    const rows = await w.db.selectFrom('asset').select(['id', 'object_key']).where('object_key', '=', `o/${fileId}`).execute()
    assert.equal(rows.length, 2)
    assert.equal((await w.ok(owner.token, 'projects.get', { project_id: other.id })).storage_bytes, 500)
    const again = await w.ok(owner.token, 'items.duplicate', { item_id: copy.id, new_name: 'Third' })
    const tree = await w.ok(owner.token, 'items.lineage', { item_id: copy.id })
    assert.deepEqual(tree, {
      item_id: copy.id,
      parents: [{ item_id: source.id, name: 'Original', type: 'user_raster', relation: 'duplicated_from', parents: [] }],
      children: [{ item_id: again.id, name: 'Third', type: 'user_raster', relation: 'duplicated_from', children: [] }],
    })
    await w.db
      .updateTable('storage_account')
      .set({ reserved_bytes: 10 * 1024 ** 3 - 1_600 })
      .execute()
    const refused = await w.call(owner.token, 'items.duplicate', { item_id: copy.id })
    assert.deepEqual([refused.status, refused.body.title, refused.body.limit], [402, 'Storage Quota Exceeded', 10 * 1024 ** 3])
    await w.db.updateTable('storage_account').set({ reserved_bytes: 0 }).execute()
    await recount(w)
  })

  await t.test('lineage is truncated after ten levels, and marked', async () => {
    const first = await createOk({ name: 'n0' })
    let last = first
    for (let i = 1; i <= 12; i++) last = await w.ok(editor.token, 'items.duplicate', { item_id: last.id, new_name: `n${i}` })
    let node = (await w.ok(viewer.token, 'items.lineage', { item_id: first.id })).children[0]
    let depth = 1
    for (; node.children.length > 0; depth++) {
      assert.equal(node.truncated, undefined)
      node = node.children[0]
    }
    assert.deepEqual([depth, node.name, node.truncated], [10, 'n10', true])
    const other = await w.ok(owner.token, 'projects.create', { name: 'Veiled', visibility: 'private' })
    const { id: item_id } = await createOk()
    await w.ok(owner.token, 'items.duplicate', { item_id, target_project_id: other.id })
    assert.deepEqual((await w.ok(viewer.token, 'items.lineage', { item_id })).children, [])
    assert.equal((await w.ok(owner.token, 'items.lineage', { item_id })).children.length, 1)
  })

  await t.test('assets.delete: not of another item, not the last primary asset', async () => {
    const { id: item_id } = await createOk({
      assets: [
        { key: 'data', href: HREF },
        { key: 'extra', href: HREF, roles: ['data'] },
      ],
    })
    const { id: other_id } = await createOk({ assets: [{ key: 'visual', href: HREF, roles: ['data'] }] })
    const [data, extra] = await w.ok(viewer.token, 'items.list_assets', { item_id })
    const [visual] = await w.ok(viewer.token, 'items.list_assets', { item_id: other_id })
    const remove = (input: object, token = editor.token) => w.call(token, 'assets.delete', input)
    assert.equal((await remove({ item_id, asset_id: visual.id })).status, 403)
    assert.equal((await remove({ item_id, asset_id: 'x' })).status, 403)
    assert.equal((await remove({ item_id, asset_id: data.id }, stranger.token)).status, 404)
    assert.equal((await remove({ item_id, asset_id: data.id }, viewer.token)).status, 403)
    assert.equal((await remove({ item_id: other_id, asset_id: visual.id })).status, 400)
    assert.equal((await remove({ item_id, asset_id: data.id })).status, 200, 'the other one has the role')
    assert.equal((await remove({ item_id, asset_id: extra.id })).status, 400)
    const thumbnail = await storeFile(w, item_id, 'thumbnail', 77)
    const before = (await w.ok(viewer.token, 'projects.get', { project_id })).storage_bytes
    assert.deepEqual((await remove({ item_id, asset_id: thumbnail })).body, { ok: true, id: thumbnail })
    assert.equal(before - (await w.ok(viewer.token, 'projects.get', { project_id })).storage_bytes, 77)
    assert.deepEqual(
      (await eventsOf(w, thumbnail)).map(({ type, data }) => [type, data['file_size_bytes']]),
      [['asset.deleted', 77]],
    )
    await recount(w)
  })

  await t.test('an archived project cannot be changed; deleting a project deletes its items, with an event each', async () => {
    const closed = await w.ok(owner.token, 'projects.create', { name: 'Closed' })
    const collection = await w.ok(owner.token, 'collections.create', { project_id: closed.id, name: 'c' })
    const items: string[] = []
    for (let i = 0; i < 3; i++)
      items.push(
        (
          await w.ok(owner.token, 'items.create', {
            project_id: closed.id,
            type: 'clip',
            name: `i${i}`,
            geometry: SQUARE,
            collection_id: collection.id,
            datetime: '2026-01-01T00:00:00Z',
          })
        ).id,
      )
    await storeFile(w, items[0]!, 'data', 9)
    await w.ok(owner.token, 'projects.archive', { project_id: closed.id })
    for (const [id, input] of [
      ['items.create', { project_id: closed.id, type: 'clip', name: 'x' }],
      ['items.update', { item_id: items[0], name: 'x' }],
      ['items.delete', { item_id: items[0] }],
      ['items.duplicate', { item_id: items[0] }],
    ] as const)
      assert.equal((await w.call(owner.token, id, input)).status, 400, id)
    assert.equal((await w.call(owner.token, 'items.get', { item_id: items[0] })).status, 200)
    const open = await w.ok(owner.token, 'projects.create', { name: 'Archived just now' })
    const { id: raced } = await w.ok(owner.token, 'items.create', { project_id: open.id, type: 'clip', name: 'before' })
    const waiting = await w.db.transaction().execute(async (tx) => {
      await tx.updateTable('project').set({ archived_at: w.clock.now() }).where('id', '=', open.id).execute()
      // It has passed its check and waits for the row.
      const update = w.call(owner.token, 'items.update', { item_id: raced, name: 'after' })
      for (;;) {
        const { rows } = await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'
            and datname = current_database() and query like '%from project p join o on%'`.execute(w.db)
        if (rows.length > 0) return { update }
      }
    })
    assert.equal((await waiting.update).status, 400)
    assert.equal((await w.ok(owner.token, 'items.get', { item_id: raced })).item.name, 'before')
    const { storage_freed_bytes } = await w.ok(owner.token, 'projects.delete', { project_id: closed.id })
    assert.equal(storage_freed_bytes, 9)
    for (const id of items) {
      assert.equal((await w.call(owner.token, 'items.get', { item_id: id })).status, 404)
      const last = (await eventsOf(w, id)).at(-1)!
      assert.deepEqual(
        [last.type, last.data['previous_lifecycle_state'], last.data['datetime'], last.data['bbox']],
        ['item.deleted', 'active', '2026-01-01T00:00:00.000Z', [10, 50, 11, 51]],
      )
    }
    const row = await w.db.selectFrom('collection').select('deleted_at').where('id', '=', collection.id).executeTakeFirstOrThrow()
    assert.notEqual(row.deleted_at, null)
    await recount(w)
  })
})
