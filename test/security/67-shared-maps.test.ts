import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rasterItem } from '../support/layers.ts'
import { scene, tileAt } from '../support/scene.ts'
import { world, type Org, type World } from '../support/world.ts'

const INSIDE = tileAt(151.15, -33.1, 12)
const PASSWORD = 'coral and sand'
const EXPIRES = '2030-03-01T00:00:00.000Z'
const POINT = { type: 'Point', coordinates: [151.15, -33.1] }

interface Layer {
  id: string
  name: string
  tilejson: string | null
}
interface Opened {
  target: { id: string; grant: string; layers: Layer[]; groups: object[]; annotations: { text: string }[] } & Record<string, unknown>
}

const grantOf = (url: string): string => new URL(url).searchParams.get('grant')!

async function sharedMap(w: World, org: Org) {
  const { token } = org.owner
  const shown = await rasterItem(w, org, [{ bytes: await scene() }], { name: 'Shown' })
  const hidden = await rasterItem(w, org, [{ bytes: await scene() }], { name: 'Never shared' })
  const { id: collection } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Reefs' })
  const member = await rasterItem(w, org, [{ bytes: await scene() }], {
    name: 'Member',
    collection_id: collection,
    bbox: [151, -33.2, 151.3, -33],
  })
  const map = await w.ok(token, 'maps.create', {
    project_id: org.projectId,
    name: 'Bay',
    layers: [
      { item_id: shown, name: 'In one band', style: { bands: '1', colormap: 'viridis' } },
      { collection_id: collection },
      { features: [{ name: 'Fence', geometry: POINT }], name: 'Fences' },
    ],
    annotations: [{ geometry: POINT, text: 'Jetty' }],
  })
  return { map, shown, hidden, collection, member }
}

// Goal: whoever has the link of a map sees its layers in its styles, and reaches nothing else: no other item, style, file or
// operation; and what is deleted, removed from the map or revoked is gone at once.
test('row 67: a link to a map opens the map and nothing else', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token: owner } = org.owner
  const { map, shown, hidden, collection, member } = await sharedMap(w, org)
  const share = (more: object = {}, who = owner) =>
    w.call(who, 'share.link.create', { target_type: 'map', target_id: map.id, password: PASSWORD, expires_at: EXPIRES, ...more })
  const { body: link } = await share()
  const open = async () => (await w.call(null, 'share.link.validate', { token: link.token, password: PASSWORD })).body as Opened
  const tile = (token: string, more: object = {}) => w.call(null, 'share.tile.render', { token, ...INSIDE, ...more })
  await w.ok(owner, 'maps.comments.create', { map_id: map.id, annotation_id: map.annotations[0].id, text: 'Between us' })
  const opened = await open()
  const [bands, mosaic, shapes] = opened.target.layers
  const grant = grantOf(bands!.tilejson!)

  await t.test('it needs the password, and tells nothing of the organization', async () => {
    assert.equal((await w.call(null, 'share.link.validate', { token: link.token, password: 'coral and salt' })).status, 401)
    assert.deepEqual(
      opened.target.layers.map(({ name, tilejson }) => [name, tilejson !== null]),
      [['In one band', true], ['Reefs', true], ['Fences', false]], // prettier-ignore
    )
    assert.deepEqual(opened.target.annotations.map(({ text }) => text), ['Jetty']) // prettier-ignore
    const text = JSON.stringify(opened)
    for (const secret of [org.id, org.projectId, shown, hidden, collection, member, 'Never shared', 'viridis', 'Between us', 'comment'])
      assert.equal(text.includes(secret), false, secret)
  })

  await t.test('a layer is drawn in the style of the map, and in no other', async () => {
    const drawn = await tile(grant)
    assert.equal(drawn.status, 200)
    const same = await w.call(owner, 'items.tile.render', { item_id: shown, ...INSIDE, format: 'png', bands: '1', colormap: 'viridis' })
    assert.deepEqual(drawn.bytes, same.bytes)
    for (const profile of ['rgb', 'default', map.id]) assert.equal((await tile(grant, { profile })).status, 422, profile)
    for (const more of [{ bands: '2' }, { expression: 'b1' }, { asset_key: 'data' }, { item_id: hidden }, { layer_id: mosaic!.id }])
      assert.equal((await tile(grant, more)).status, 422, JSON.stringify(more))
    const url = bands!.tilejson!.replace(w.baseUrl, '')
    assert.equal((await w.request('GET', `${url}&profile=rgb`)).status, 422)
    const document = (await w.request('GET', url)).body
    assert.deepEqual([document.visualizations, document.legend.kind], [[], 'scale'])
    assert.equal((await tile(grantOf(mosaic!.tilejson!))).status, 200)
  })

  await t.test('the link itself has no tiles and no files', async () => {
    for (const token of [opened.target.grant]) {
      assert.equal((await tile(token)).status, 400)
      assert.equal((await w.call(null, 'share.tilejson', { token })).status, 400)
    }
    assert.equal((await share({ permission: 'download' })).status, 422)
    const assets = await w.ok(owner, 'items.list_assets', { item_id: shown })
    for (const token of [opened.target.grant, grant])
      assert.equal((await w.call(null, 'share.asset.download', { token, asset_id: assets[0].id })).status, 403)
    assert.equal((await w.call(null, 'share.link.validate', { token: grant })).status, 400, 'a layer does not open the map')
    assert.equal((await w.call(null, 'share.wmts_capabilities', { token: grant })).status, 400)
  })

  await t.test('nor does it read or write comments', async () => {
    for (const token of [null, link.token, opened.target.grant, grant])
      for (const [operation, input] of [
        ['maps.comments.list', {}],
        ['maps.comments.create', { text: 'x' }],
      ] as const)
        assert.equal((await w.call(token, operation, { map_id: map.id, ...input })).status, 401, operation)
  })

  await t.test('a grant cannot be changed into one for something else', async () => {
    const bytes = Buffer.from(grant.slice('shg_'.length), 'base64url')
    for (const kind of [0, 1, 2]) {
      const forged = Buffer.from(bytes)
      forged[0] = kind
      assert.equal((await tile(`shg_${forged.toString('base64url')}`)).status, 401)
    }
    const other = Buffer.from(bytes)
    Buffer.from(mosaic!.id.replaceAll('-', ''), 'hex').copy(other, 23)
    assert.equal((await tile(`shg_${other.toString('base64url')}`)).status, 401)
  })

  await t.test('only editors share it, and strangers find nothing', async () => {
    const viewer = await w.member(org, 'viewer')
    const stranger = await w.organization()
    assert.equal((await share({}, viewer.token)).status, 403)
    assert.equal((await share({}, stranger.owner.token)).status, 404)
    const empty = await w.ok(owner, 'maps.create', { project_id: org.projectId, name: 'Empty' })
    assert.equal((await share({ target_id: empty.id })).status, 422)
  })

  await t.test('its lineage names the link for each item', async () => {
    const { nodes } = await w.ok(owner, 'provenance.get', { entity_type: 'item', entity_id: shown, direction: 'down' })
    assert.ok(nodes.some(({ entity_id }: { entity_id: string }) => entity_id === link.id))
  })

  await t.test('items that leave the collection, are deleted or are taken out of the map are gone', async () => {
    const mosaicTile = () => tile(grantOf(mosaic!.tilejson!))
    const before = (await mosaicTile()).bytes
    const inOneBand = (await tile(grant)).bytes
    await w.ok(owner, 'items.update', { item_id: member, collection_id: null })
    w.clock.advance({ seconds: 2 })
    const after = await mosaicTile()
    assert.notDeepEqual(after.bytes, before)
    await w.ok(owner, 'collections.delete', { project_id: org.projectId, collection_id: collection })
    assert.equal((await mosaicTile()).status, 404)
    assert.deepEqual((await open()).target.layers.map(({ name }) => name), ['In one band', 'Fences']) // prettier-ignore
    const layers = [{ id: shapes!.id, features: [{ geometry: POINT }] }]
    await w.ok(owner, 'maps.update', { map_id: map.id, layers: [{ id: bands!.id, item_id: shown }, ...layers] })
    assert.notDeepEqual((await tile(grant)).bytes, inOneBand, 'in the new style of the map')
    await w.ok(owner, 'items.delete', { item_id: shown })
    assert.equal((await tile(grant)).status, 404)
    await w.ok(owner, 'maps.update', { map_id: map.id, layers })
    assert.equal((await tile(grant)).status, 404)
    assert.deepEqual((await open()).target.layers.map(({ name }) => name), ['Shapes']) // prettier-ignore
  })

  await t.test('a deleted map and a revoked link open nothing', async () => {
    assert.equal((await share()).status, 422, 'without imagery it cannot be shared again')
    await w.ok(owner, 'maps.delete', { map_id: map.id })
    w.clock.advance({ minutes: 2 })
    assert.equal((await w.call(null, 'share.link.validate', { token: link.token, password: PASSWORD })).status, 404)
    assert.equal((await tile(grant)).status, 404)
    await w.ok(owner, 'share.link.revoke', { link_id: link.id })
    assert.equal((await tile(grant)).status, 401)
  })
})

// Goal: tiles of a public map can be kept by caches, under a version that changes with the imagery and with the style of the layer.
test('row 67: a public link to a map', async (t) => {
  const w = await world(t, { cdnSeconds: 1_800 })
  const org = await w.organization()
  const { token: owner } = org.owner
  const { map, shown } = await sharedMap(w, org)
  const input = { target_type: 'map', target_id: map.id, is_public: true, expires_at: EXPIRES }
  assert.equal((await w.call(owner, 'share.link.create', input)).status, 403)
  await w.ok(owner, 'organizations.set_public_links', { allowed: true })
  const { token } = await w.ok(owner, 'share.link.create', input)
  const { target } = (await w.call(null, 'share.link.validate', { token })).body as Opened
  const document = async () => (await w.request('GET', target.layers[0]!.tilejson!.replace(w.baseUrl, ''))).body.tiles[0] as string
  const at = (template: string) =>
    template.replace(w.baseUrl, '').replace('{z}', String(INSIDE.z)).replace('{x}', String(INSIDE.x)).replace('{y}', String(INSIDE.y))
  const first = await document()
  const tile = await w.request('GET', at(first))
  assert.deepEqual([tile.status, tile.headers.get('cache-control')], [200, 'public, max-age=1800, s-maxage=1800, immutable'])
  assert.equal((await w.request('GET', at(first).replace('/default/', '/rgb/'))).status, 422)
  const layers = [{ id: target.layers[0]!.id, item_id: shown, style: { bands: '2' } }]
  await w.ok(owner, 'maps.update', { map_id: map.id, layers })
  const second = await document()
  assert.notEqual(second, first, 'another style is another version')
  assert.equal((await w.request('GET', at(first))).headers.get('cache-control'), 'public, max-age=0, s-maxage=60')
  const wmts = await w.request('GET', `/api/v1/public/${grantOf(target.layers[0]!.tilejson!)}/WMTSCapabilities.xml`)
  assert.equal(wmts.status, 200)
  const styles = [...String(wmts.bytes).matchAll(/<Style[^>]*>.*?<ows:Identifier>([^<]+)/gs)].map(([, id]) => id)
  assert.deepEqual(styles, ['default'])
})
