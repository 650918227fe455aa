import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as signingKeys from '#model/identity/signing-key.ts'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world, type World } from '../../../test/support/world.ts'

const INSIDE = tileAt(151.15, -33.1, 12)

const tileOf = (w: World, template: string) =>
  template.replace(w.baseUrl, '').replace('{z}', String(INSIDE.z)).replace('{x}', String(INSIDE.x)).replace('{y}', String(INSIDE.y))

// Goal: a signed tile URL opens tiles of one layer in one style without a credential until it expires, for exactly as long as its maker
// could read them, and nothing else.
test('signed tile URLs', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const id = await rasterItem(w, org, [{ bytes: await scene() }])
  const other = await rasterItem(w, org, [{ bytes: await scene() }])
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Harbours' })
  await w.ok(org.owner.token, 'items.update', { item_id: id, collection_id })
  const sign = async (who: string, input: object = {}): Promise<string> => {
    const { tiles } = await w.ok(who, 'items.tile.tilejson', { item_id: id, signed_seconds: 3_600, ...input })
    return tileOf(w, tiles[0])
  }
  const status = async (path: string) => (await w.request('GET', path)).status
  const viewer = await w.member(org, 'viewer')

  await t.test('open items and collections without a credential, and are kept by nobody else', async () => {
    const path = await sign(viewer.token)
    const tile = await w.request('GET', path)
    assert.deepEqual(
      [tile.status, tile.headers.get('cache-control'), tile.headers.get('vary')],
      [200, 'private, max-age=3600', 'Authorization, X-API-Key'],
    )
    const { bytes } = await w.call(viewer.token, 'items.tile.render', { item_id: id, ...INSIDE, format: 'webp' })
    assert.deepEqual(tile.bytes, bytes)
    const { tiles } = await w.ok(viewer.token, 'collections.tile.tilejson', { collection_id, profile: 'ndvi', signed_seconds: 60 })
    const layer = await w.request('GET', tileOf(w, tiles[0]))
    assert.deepEqual([layer.status, layer.headers.get('cache-control')], [200, 'private, max-age=60'])
    const byRoute = await w.request('GET', `/api/v1/items/${id}/tilejson.json?signed_seconds=60`, {
      headers: { authorization: `Bearer ${viewer.token}` },
    })
    assert.equal(await status(tileOf(w, byRoute.body.tiles[0])), 200)
    assert.equal(await status(`/api/v1/items/${id}/tiles/${INSIDE.z}/${INSIDE.x}/${INSIDE.y}.webp`), 401)
  })

  await t.test('are bound to the layer, the style and the expiry', async () => {
    const path = await sign(viewer.token, { profile: 'ndvi' })
    assert.equal(await status(path), 200)
    assert.equal(await status(path.replace('.webp', '.png')), 200, 'another format of the same picture')
    const wrong = [
      path.replace(id, other),
      path.replace(`items/${id}`, `collections/${collection_id}`),
      path.replace('profile=ndvi', 'profile=rgb'),
      path.replace('profile=ndvi&', ''),
      `${path}&bands=1,2,3`,
      path.replace('signature=sig_A', 'signature=sig_B'),
      `${path.slice(0, -2)}AA`,
      path.replace(/signature=.*/, 'signature=sig_'),
    ]
    for (const each of wrong) assert.equal(await status(each), 401, each)
    assert.equal((await w.request('GET', path.replace(/\/tiles\/.*\?/, '/tilejson.json?'))).status, 401, 'only tiles')
    for (const signed_seconds of [0, 59, 86_401])
      assert.equal((await w.call(org.owner.token, 'items.tile.tilejson', { item_id: id, signed_seconds })).status, 422)
    assert.equal((await w.call(await w.serviceToken(org.id), 'items.tile.tilejson', { item_id: id, signed_seconds: 60 })).status, 403)
    w.clock.advance({ seconds: 3_601 })
    assert.equal(await status(path), 401, 'expired')
  })

  await t.test('are in WMTS capabilities too, by template and by key-value pairs, for one style', async () => {
    const { z, x, y } = INSIDE
    const { token } = await w.signIn(viewer, org.id)
    const signed = async (input: object) => {
      const { bytes } = await w.call(token, 'items.tile.wmts_capabilities', { item_id: id, base_url: w.baseUrl, ...input })
      const xml = bytes.toString()
      const template = /format="image\/webp" resourceType="tile" template="(.*?)"/.exec(xml)![1]!
      const plain = (url: string) => url.replaceAll('&amp;', '&').replace(w.baseUrl, '')
      return {
        xml,
        styles: [...xml.matchAll(/<ows:Identifier>([^<]*)<\/ows:Identifier><\/Style>/g)].map(([, style]) => style),
        matrix: /<TileMatrix><ows:Identifier>([^<]*_[^<]*)</.exec(xml)![1]!,
        tile: (style: string, at: readonly (string | number)[] = [z, x, y]) =>
          plain(template).replace('{Style}', style).replace('{TileMatrix}/{TileCol}/{TileRow}', at.join('/')),
        pairs: plain(/<ows:Operation name="GetTile">\s*<ows:DCP><ows:HTTP><ows:Get xlink:href="(.*?)"/.exec(xml)![1]!),
      }
    }
    const ndvi = await signed({ profile: 'ndvi', signed_seconds: 600 })
    assert.deepEqual(ndvi.styles, ['ndvi'])
    const tile = await w.request('GET', ndvi.tile('ndvi'))
    assert.deepEqual([tile.status, tile.headers.get('cache-control')], [200, 'private, max-age=600'])
    const direct = await w.call(token, 'items.tile.render', { item_id: id, ...INSIDE, profile: 'ndvi', format: 'webp' })
    assert.deepEqual(tile.bytes, direct.bytes)
    assert.equal(await status(ndvi.tile('ndvi', [ndvi.matrix, 0, 0])), 200, "a tile of the image's own matrix")
    const get = (style: string) => `${ndvi.pairs}request=GetTile&layer=${id}${style}&tilematrix=${z}&tilecol=${x}&tilerow=${y}`
    const pair = await w.request('GET', get('&STYLE=ndvi'))
    assert.deepEqual([pair.status, pair.headers.get('cache-control')], [200, 'private, max-age=600'])
    const wrong = [
      ndvi.tile('rgb'),
      ndvi.tile('rgb', [ndvi.matrix, 0, 0]),
      ndvi.tile('ndvi').replace(id, other),
      get('&style=rgb'),
      get(''),
      get('&style=ndvi').replaceAll(id, other),
      `${ndvi.pairs}request=GetCapabilities`,
      `${get('&style=ndvi').replace('GetTile', 'GetFeatureInfo')}&i=1&j=1`,
    ]
    for (const each of wrong) assert.equal(await status(each), 401, each)
    assert.ok(!ndvi.xml.includes('GetFeatureInfo') && !ndvi.xml.includes('<InfoFormat>'), 'it promises no more than it opens')
    const usual = await signed({ signed_seconds: 60 })
    assert.deepEqual(usual.styles, ['default'])
    assert.equal(await status(usual.tile('default')), 200)
    const bare = `${usual.pairs}request=GetTile&tilematrix=${z}&tilecol=${x}&tilerow=${y}`
    assert.equal(await status(bare), 200, 'the only style need not be named')
    const byRoute = await w.request('GET', `/wmts/${id}?signed_seconds=60`, { headers: { authorization: `Bearer ${token}` } })
    assert.match(byRoute.bytes.toString(), /signature=sig_/)
    assert.equal((await w.request('GET', `/wmts/${id}?signed_seconds=5`, { headers: { authorization: `Bearer ${token}` } })).status, 400)
    w.clock.advance({ seconds: 61 })
    assert.deepEqual(await Promise.all([bare, usual.tile('default'), ndvi.tile('ndvi')].map(status)), [401, 401, 200])
  })

  await t.test('end with the access of whoever made them', async () => {
    const again = await w.signIn(viewer, org.id)
    const path = await sign(again.token)
    const owner = await w.signIn(org.owner, org.id)
    const { key, id: key_id } = await w.key(owner.token)
    const byKey = await sign(key)
    const mine = await sign(owner.token)
    assert.deepEqual(await Promise.all([path, byKey, mine].map(status)), [200, 200, 200])
    await w.ok(owner.token, 'organizations.members.remove', { user_id: viewer.id })
    assert.equal(await status(path), 401, 'a removed member')
    await w.ok(owner.token, 'api_keys.revoke', { key_id })
    assert.equal(await status(byKey), 401, 'a revoked key')
    assert.equal(await status(mine), 200)
    await w.ok(owner.token, 'items.delete', { item_id: id })
    assert.equal(await status(mine), 404, 'a deleted item')
  })

  await t.test('survive a rotation of the signing keys, and end when a key has leaked', async (inner) => {
    const owner = await w.signIn(org.owner, org.id)
    const { tiles } = await w.ok(owner.token, 'items.tile.tilejson', { item_id: other, signed_seconds: 3_600 })
    const path = tileOf(w, tiles[0])
    await signingKeys.replace(w.db, w.clock.now(), { isLeaked: false })
    const later = await world(inner, { databaseUrl: w.databaseUrl, clock: w.clock, storage: w.storage })
    assert.equal((await later.request('GET', path)).status, 200, 'a process with the new key accepts the old one')
    await signingKeys.replace(w.db, w.clock.now(), { isLeaked: true })
    const last = await world(inner, { databaseUrl: w.databaseUrl, clock: w.clock, storage: w.storage })
    assert.equal((await last.request('GET', path)).status, 401)
  })

  await t.test('are calls of their maker: audited and limited, and never in the log', async () => {
    const { key, id: keyId } = await w.key((await w.signIn(org.owner, org.id)).token, ['read'], { rate_limit: 5 })
    const { tiles } = await w.ok(key, 'items.tile.tilejson', { item_id: other, signed_seconds: 3_600 })
    const path = tileOf(w, tiles[0])
    const answers: number[] = []
    for (let n = 0; n < 6; n++) answers.push(await status(path))
    assert.deepEqual(answers, [200, 200, 200, 200, 429, 429], "the key's own limit")
    w.clock.advance({ minutes: 2 })
    await w.flushAudit()
    const rows = await w.db.selectFrom('audit').selectAll().where('operation', '=', 'items.tile.render').execute()
    assert.ok(
      rows.some((row) => JSON.stringify(row).includes(keyId)),
      'audited as the key',
    )
    assert.ok(!w.logLines.some((line) => line.includes('sig_')))
  })
})
