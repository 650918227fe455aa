import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

const [X, Y] = [2.3, 48.2]
const HOST = 'sandbox-landsat'

// Goal: an open scene becomes one item of a project, whoever saves it and however often; it renders from its host and keeps its licence,
// attribution and origin. What is for sale or cannot be read is refused, and leaves nothing.
test('catalog.scene.save', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { token } = org.owner
  const sceneOf = async (host_name: string, more: object = {}) =>
    (await w.ok(token, 'catalog.search', { host_name, bbox: [X, Y, X, Y], datetime: '2025-06-01/2025-07-30', limit: 1, ...more }))
      .features[0]
  const scene = await sceneOf(HOST, { query: { cloudCoverage: { LTE: 3 } } })
  const input = { host_name: HOST, id: scene.id, project_id: org.projectId }
  const save = (more: object = {}, as = token) => w.call(as, 'catalog.scene.save', { ...input, ...more })
  const itemCount = async () => (await w.ok(token, 'projects.get', { project_id: org.projectId })).item_count

  await t.test('it is an item with the licence, attribution and origin of the scene', async () => {
    const { status, body } = await save()
    assert.equal(status, 200, JSON.stringify(body))
    const { item, created } = body
    assert.deepEqual([created, item.stac_id, item.type, item.datetime], [true, scene.id, 'external_reference', scene.properties.datetime])
    assert.notEqual(item.id, scene.id)
    const { license, attribution, providers, simulated } = item.properties
    assert.deepEqual([license, attribution, simulated], ['CC0-1.0', 'Groundtrack sandbox: simulated imagery', true])
    assert.deepEqual(providers, [{ name: 'Groundtrack sandbox', roles: ['producer', 'host'] }])
    const stac = await w.ok(token, 'items.get_stac', { item_id: item.id })
    const origin = stac.links.find(({ rel }: { rel: string }) => rel === 'derived_from')
    assert.match(origin.href, new RegExp(`/items/${scene.id}$`))
    assert.equal(stac.assets.data.href, scene.assets.data.href)
    assert.equal(item.properties['svc:scene_host'], HOST)
  })

  await t.test('tiles are rendered from the host, and TileJSON and share pages name the source', async () => {
    const { item } = (await save()).body
    const tilejson = await w.ok(token, 'items.tile.tilejson', { item_id: item.id })
    assert.equal(tilejson.attribution, 'Groundtrack sandbox: simulated imagery · CC0-1.0')
    const [longitude, latitude] = tilejson.center
    assert.ok((await w.ok(token, 'items.point', { item_id: item.id, longitude, latitude })).bands.length > 0)
    const link = await w.ok(token, 'share.link.create', {
      target_type: 'item',
      target_id: item.id,
      password: 'a long password',
      expires_at: '2030-01-02T00:00:00Z',
    })
    const shared = await w.call(null, 'share.tilejson', { token: link.token, password: 'a long password' })
    assert.equal(shared.body.attribution, tilejson.attribution)
    const { id: collection_id } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Scenes' })
    await w.ok(token, 'items.update', { item_id: item.id, collection_id })
    assert.equal((await w.ok(token, 'collections.tile.tilejson', { collection_id })).attribution, tilejson.attribution)
  })

  await t.test('an attribution cannot inject markup into a map', async () => {
    const { item } = (await save()).body
    const properties = { ...item.properties, attribution: '<img src=x>' }
    await w.ok(token, 'items.update', { item_id: item.id, properties })
    assert.equal((await w.ok(token, 'items.tile.tilejson', { item_id: item.id })).attribution, '&lt;img src=x&gt; · CC0-1.0')
  })

  await t.test('saved again, even concurrently, it is the same item; other projects have their own', async () => {
    const before = await itemCount()
    const answers = await Promise.all(Array.from({ length: 8 }, () => save()))
    assert.equal(new Set(answers.map(({ body }) => body.item.id)).size, 1)
    assert.ok(answers.every(({ body }) => body.created === false))
    assert.equal(await itemCount(), before)
    const { id: other } = await w.ok(token, 'projects.create', { name: 'Other' })
    const concurrent = await Promise.all(Array.from({ length: 8 }, () => save({ project_id: other })))
    assert.equal(new Set(concurrent.map(({ body }) => body.item.id)).size, 1)
    assert.equal(concurrent.filter(({ body }) => body.created).length, 1)
    assert.notEqual(concurrent[0]!.body.item.id, answers[0]!.body.item.id)
  })

  await t.test('a deleted item can be saved again', async () => {
    const { item } = (await save()).body
    await w.ok(token, 'items.delete', { item_id: item.id })
    const again = (await save()).body
    assert.equal(again.created, true)
    assert.notEqual(again.item.id, item.id)
  })

  await t.test('what cannot be saved is refused with a reason, and nothing is created', async () => {
    const before = await itemCount()
    const sold = await sceneOf('sandbox-vhr')
    const points = await sceneOf('sandbox-altimetry', { bbox: [2, 44, 3, 46] })
    const viewer = await w.member(org, 'viewer')
    const stranger = await w.organization()
    const refusals: [number, object, RegExp, string?][] = [
      [400, { host_name: 'sandbox-vhr', id: sold.id }, /orders\.archive\.place/],
      [422, { host_name: 'sandbox-altimetry', id: points.id }, /no file that can be read/],
      [404, { id: 'nothing' }, /scene/],
      [404, { host_name: 'nobody' }, /Known hosts: .*sandbox-landsat/],
      [422, { assets: ['thumbnail'] }, /available: data/],
      [404, { collection_id: org.id }, /collection/],
      [403, {}, /denied/, viewer.token],
      [404, {}, /project/, stranger.owner.token],
    ]
    for (const [status, more, pattern, as] of refusals) {
      const answer = await save(more, as)
      assert.equal(answer.status, status, `${JSON.stringify(more)}: ${answer.bytes}`)
      assert.match(answer.body.detail, pattern)
    }
    assert.equal(await itemCount(), before)
  })
})
