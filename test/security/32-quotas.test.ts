import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world, type Org } from '../support/world.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

// Goal: storage counts from the first byte, whatever size was declared, and no page exceeds the maximum response size.
test('row 32: understated sizes', async (t) => {
  const w = await world(t)
  const account = (org: Org) =>
    w.db.selectFrom('storage_account').select(['used_bytes', 'reserved_bytes']).where('org_id', '=', org.id).executeTakeFirstOrThrow()
  const setUsed = (org: Org, bytes: number) =>
    w.db.updateTable('storage_account').set({ used_bytes: bytes }).where('org_id', '=', org.id).execute()
  const session = async (org: Org, total_bytes = 0) =>
    (await w.ok(org.owner.token, 'uploads.initiate', { project_id: org.projectId, total_bytes })).id
  const address = async (org: Org, upload_id: string, file_name: string) =>
    (await w.ok(org.owner.token, 'uploads.signed_url', { upload_id, file_name })).upload_url

  await t.test('an upload without a declared size counts as its bytes arrive, file by file', async () => {
    const org = await w.organization()
    const id = await session(org)
    const [first, second] = [await address(org, id, 'a.tif'), await address(org, id, 'b.tif')]
    assert.equal(await w.put(first, Buffer.alloc(MIB)), 200)
    assert.deepEqual(await account(org), { used_bytes: 0, reserved_bytes: MIB })
    assert.equal(await w.put(second, Buffer.alloc(2 * MIB)), 200)
    assert.equal(await w.put(first, Buffer.alloc(MIB)), 200, 'the same file again')
    assert.deepEqual(await account(org), { used_bytes: 0, reserved_bytes: 3 * MIB })
    await w.ok(org.owner.token, 'uploads.fail', { upload_id: id, error_message: 'enough' })
    assert.deepEqual(await account(org), { used_bytes: 0, reserved_bytes: 0 })
    assert.equal(await w.put(first, Buffer.alloc(MIB)), 400, 'a session that has ended takes nothing')
  })

  await t.test('URLs signed while storage was free share that storage', async () => {
    const org = await w.organization()
    await setUsed(org, 10 * GIB - 3 * MIB)
    const id = await session(org)
    const addresses = await Promise.all(Array.from({ length: 8 }, (_, index) => address(org, id, `${index}.tif`)))
    const statuses = await Promise.all(addresses.map((url) => w.put(url, Buffer.alloc(MIB))))
    assert.deepEqual(statuses.toSorted(), [200, 200, 200, 402, 402, 402, 402, 402])
    assert.equal((await account(org)).reserved_bytes, 3 * MIB)
  })

  await t.test('the declared size is not counted twice', async () => {
    const org = await w.organization()
    const id = await session(org, 2 * MIB)
    assert.equal((await account(org)).reserved_bytes, 2 * MIB)
    for (const name of ['a', 'b']) assert.equal(await w.put(await address(org, id, name), Buffer.alloc(MIB)), 200)
    assert.equal((await account(org)).reserved_bytes, 2 * MIB)
    assert.equal(await w.put(await address(org, id, 'c'), Buffer.alloc(MIB)), 200)
    assert.equal((await account(org)).reserved_bytes, 3 * MIB)
  })

  const item = (org: Org, properties: object) =>
    w.call(org.owner.token, 'items.create', { project_id: org.projectId, type: 'clip', name: 'n', properties })
  const large = { text: 'x'.repeat(200 * 1024) }

  await t.test('metadata counts, with at most 256 KiB of properties per item, and is released', async () => {
    const org = await w.organization()
    const refused = await item(org, { text: 'x'.repeat(256 * 1024) })
    assert.deepEqual([refused.status, refused.body.errors[0].field], [422, 'properties'])
    const { body: created } = await item(org, large)
    const { used_bytes } = await account(org)
    assert.ok(used_bytes > 190 * 1024 && used_bytes < 210 * 1024, String(used_bytes))
    await w.ok(org.owner.token, 'items.update', { item_id: created.id, properties: {} })
    assert.equal((await account(org)).used_bytes, 0)
    await w.ok(org.owner.token, 'items.update', { item_id: created.id, properties: large })
    assert.equal((await account(org)).used_bytes, used_bytes)
    await w.ok(org.owner.token, 'items.delete', { item_id: created.id })
    assert.equal((await account(org)).used_bytes, 0)
    await setUsed(org, 10 * GIB - 1024)
    assert.equal((await item(org, large)).status, 402)
    assert.equal((await item(org, {})).status, 200, 'the usual item is free')
  })

  await t.test('a page over 16 MiB is 400 and names a limit that works', async () => {
    const org = await w.organization()
    const feature = (id: number) => ({ type: 'Feature', id: `heavy-${id}`, geometry: null, properties: large, assets: {} })
    for (let batch = 0; batch < 5; batch++)
      await w.ok(org.owner.token, 'items.import_stac', {
        project_id: org.projectId,
        features: { type: 'FeatureCollection', features: Array.from({ length: 20 }, (_, index) => feature(batch * 20 + index)) },
      })
    for (const [operation, input] of [
      ['items.list', { project_id: org.projectId }],
      ['items.search', { project_id: org.projectId }],
      ['items.search_org', {}],
    ] as const) {
      const { status, body } = await w.call(org.owner.token, operation, { ...input, limit: 1000 })
      assert.equal(status, 400, operation)
      const limit = Number(/limit (\d+)/.exec(body.detail)?.[1])
      assert.ok(limit >= 20, body.detail)
      const page = await w.ok(org.owner.token, operation, { ...input, limit })
      assert.equal((page.items ?? page.features).length, limit, 'never shortened')
    }
  })

  await t.test('a user can own three free organizations, however many they create concurrently', async () => {
    const { token } = await w.person()
    const responses = await Promise.all(Array.from({ length: 12 }, (_, n) => w.call(token, 'organizations.create', { name: `O${n}` })))
    assert.equal(responses.filter(({ status }) => status === 200).length, 3)
    const refused = responses.find(({ status }) => status !== 200)!
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /billing\.plan\.change/)
  })
})
