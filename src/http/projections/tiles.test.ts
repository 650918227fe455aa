import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

const { z, x, y } = tileAt(151.15, -33.1, 12)

// Goal: map clients that can only use URLs get the same tiles as the operation, with the same checks, limits and audit.
test('tiles by URL', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { key, id: keyId } = await w.key(org.owner.token, ['read'])
  const id = 'harbour/2026 #1' // As an imported one may be called.
  await w.db
    .updateTable('item')
    .set({ id })
    .where('id', '=', await rasterItem(w, org, [{ bytes: await scene() }]))
    .execute()
  const path = `/api/v1/items/${encodeURIComponent(id)}`
  const bearer = { headers: { authorization: `Bearer ${org.owner.token}` } }
  const get = (address: string, headers: Record<string, string> = {}) => w.request('GET', address, { headers })

  await t.test('every format; the same bytes as the operation; 304 if unchanged', async () => {
    for (const [format, type] of [
      ['webp', 'image/webp'],
      ['png', 'image/png'],
      ['jpg', 'image/jpeg'],
      ['jpeg', 'image/jpeg'],
    ]) {
      const tile = await get(`${path}/tiles/${z}/${x}/${y}.${format}?profile=ndvi&key=${key}`)
      assert.deepEqual(
        [tile.status, tile.headers.get('content-type'), tile.headers.get('cache-control'), tile.headers.get('vary')],
        [200, type, 'private, max-age=86400', 'Authorization, X-API-Key'],
      )
      assert.deepEqual(
        tile.bytes,
        (await w.call(org.owner.token, 'items.tile.render', { item_id: id, z, x, y, format, profile: 'ndvi' })).bytes,
      )
      assert.equal(
        (await get(`${path}/tiles/${z}/${x}/${y}.${format}?profile=ndvi&key=${key}`, { 'if-none-match': tile.headers.get('etag')! }))
          .status,
        304,
      )
    }
    for (const address of [`${path}/tiles/${z}/${x}/${y}@2x.png`, `${path}/tiles/${z}/${x}/${y}.png?tile_size=512`])
      assert.equal((await sharp((await w.request('GET', address, bearer)).bytes).metadata()).width, 512)
    assert.deepEqual(
      (await w.request('GET', `${path}/tiles/${z}/${x}/${y}.png?bands=4,3,2&quality=50&_=1`, bearer)).bytes,
      (await w.call(org.owner.token, 'items.tile.render', { item_id: id, z, x, y, format: 'png', bands: '4,3,2', quality: 50 })).bytes,
    )
    assert.equal((await w.request('HEAD', `${path}/tiles/${z}/${x}/${y}.png`, bearer)).status, 200)
  })

  await t.test('an unknown parameter is 400, with a suggestion', async () => {
    for (const [given, said] of [
      ['colormap_name=viridis', "did you mean 'colormap'?"],
      ['expresion=b1', "did you mean 'expression'?"],
      ['anything=1', '; use profile, asset_key'],
    ] as const) {
      const { status, body } = await w.request('GET', `${path}/tiles/${z}/${x}/${y}.png?${given}`, bearer)
      assert.equal(status, 400, given)
      assert.ok(body.detail.includes(said), body.detail)
    }
    assert.equal((await w.request('GET', `${path}/tilejson.json?profil=ndvi`, bearer)).status, 400)
    assert.equal((await get(`${path}/tiles/${z}/${x}/${y}.png?colormap_name=viridis`)).status, 401)
  })

  await t.test('the same problems as the operation', async () => {
    const tile = `${path}/tiles/${z}/${x}/${y}.png`
    assert.equal((await get(tile)).status, 401)
    assert.equal((await get(`${tile}?key=${org.owner.token}`)).status, 401, 'a session is taken from the header alone')
    assert.equal((await get(`${tile}?key=${key}x`)).status, 401)
    assert.equal((await get(`/api/v1/items/none/tiles/${z}/${x}/${y}.png?key=${key}`)).status, 404)
    for (const address of [
      `${path}/tiles/${z}/${x}/4096.png`,
      `${path}/tiles/a/${x}/${y}.png`,
      `${path}/tiles/25/${x}/${y}.png`,
      `${tile}?bands=9`,
      `${tile}?tile_size=300`,
      `${tile}?profile=a&profile=b`,
    ])
      assert.equal((await w.request('GET', address, bearer)).status, 422, address)
    for (const last of [`${y}.gif`, `${y}`, `${y}@3x.png`, `-1.png`, '..%2f.png'])
      assert.equal((await w.request('GET', `${path}/tiles/${z}/${x}/${last}`, bearer)).status, 404, last)
    const { key: poor } = await w.key(org.owner.token, ['read'], { rate_limit: 1 })
    assert.deepEqual([(await get(`${tile}?key=${poor}`)).status, (await get(`${tile}?key=${poor}`)).status], [200, 429])
  })

  await t.test('audited, counted as tiles and as calls of the key; the key is never logged', async () => {
    await w.flushAudit()
    const audited = await w.db
      .selectFrom('audit')
      .select(['operation', 'status', 'calls', 'subject'])
      .where('api_key_id', '=', keyId)
      .execute()
    const tiles = audited.filter(({ operation, status }) => operation === 'items.tile.render' && status === 200)
    assert.deepEqual(
      tiles.map(({ subject }) => subject),
      [id],
      'one entry for all tiles of the minute',
    )
    assert.ok(tiles[0]!.calls >= 4)
    await w.flushUsage()
    const { amount } = await w.db
      .selectFrom('usage_day')
      .select('amount')
      .where('org_id', '=', org.id)
      .where('meter', '=', 'tiles')
      .executeTakeFirstOrThrow()
    const sent = await w.db
      .selectFrom('audit')
      .select((e) => e.fn.sum<number>('calls').as('count'))
      .where('operation', '=', 'items.tile.render')
      .where('status', '=', 200)
      .executeTakeFirstOrThrow()
    assert.equal(amount, Number(sent.count), 'each tile sent is counted once, a 304 is not')
    assert.ok(!w.logLines.join('').includes(key))
  })

  await t.test('TileJSON: tile URLs include the key only if it was sent as a parameter, and they work', async () => {
    const byHeader = await w.request('GET', `${path}/tilejson.json?profile=ndvi`, { headers: { 'x-api-key': key } })
    assert.deepEqual(byHeader.body.tiles, [`${w.baseUrl}/api/v1/items/harbour%2F2026%20%231/tiles/{z}/{x}/{y}.webp?profile=ndvi`])
    const byQuery = (await get(`${path}/tilejson.json?key=${key}&format=png&tile_size=512`)).body
    assert.deepEqual(byQuery.tiles, [`${w.baseUrl}/api/v1/items/harbour%2F2026%20%231/tiles/{z}/{x}/{y}@2x.png?key=${key}`])
    const filled = byQuery.tiles[0].replace('{z}', z).replace('{x}', x).replace('{y}', y)
    assert.equal((await get(filled.slice(w.baseUrl.length))).status, 200)
    assert.deepEqual(
      (await w.request('GET', `${path}/tilejson.json`, bearer)).body,
      await w.ok(org.owner.token, 'items.tile.tilejson', { item_id: id }),
    )
  })

  await t.test('any origin can request tiles, including preflight requests', async () => {
    const tile = await w.request('GET', `${path}/tiles/${z}/${x}/${y}.png`, bearer)
    assert.deepEqual(
      [tile.headers.get('access-control-allow-origin'), tile.headers.get('cross-origin-resource-policy')],
      ['*', 'cross-origin'],
    )
    assert.equal((await w.request('OPTIONS', `${path}/tiles/${z}/${x}/${y}.png`)).status, 204)
  })
})
