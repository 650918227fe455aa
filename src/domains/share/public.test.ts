import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rasterItem } from '../../../test/support/layers.ts'
import { scene, tileAt } from '../../../test/support/scene.ts'
import { storeFile } from '../../../test/support/stored-file.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const INSIDE = tileAt(151.15, -33.1, 12)
const EXPIRES = '2030-03-01T00:00:00.000Z'
const PASSWORD = 'coral and sand'

const allow = (w: World, org: Org, allowed = true) => w.ok(org.owner.token, 'organizations.set_public_links', { allowed })
const publicLink = async (w: World, org: Org, target_id: string, more: object = {}): Promise<{ id: string; token: string }> =>
  await w.ok(org.owner.token, 'share.link.create', { target_type: 'item', target_id, is_public: true, expires_at: EXPIRES, ...more })

/** A URL of a TileJSON with a place in it, as a path of the service. */
const tileOf = (w: World, template: string, { z, x, y } = INSIDE) =>
  template.replace(w.baseUrl, '').replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y))

// Goal: a link without a password exists only where an owner or admin has allowed it, opens for whoever has it, and stops when it is
// revoked, when it expires and when it is no longer allowed. Links with a password are as before.
test('public links', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const id = await rasterItem(w, org, [{ bytes: await scene() }])
  const editor = await w.member(org, 'editor')
  const create = (input: object, who = editor.token) =>
    w.call(who, 'share.link.create', { target_type: 'item', target_id: id, expires_at: EXPIRES, ...input })

  await t.test('are refused until an owner or admin allows them', async () => {
    assert.equal((await w.ok(editor.token, 'organizations.get')).allows_public_links, false)
    const refused = await create({ is_public: true })
    assert.equal(refused.status, 403)
    assert.match(refused.body.detail, /does not allow links without a password/)
    assert.equal((await w.call(editor.token, 'organizations.set_public_links', { allowed: true })).status, 403)
    const { key } = await w.key(org.owner.token, ['write'])
    assert.equal((await w.call(key, 'organizations.set_public_links', { allowed: true })).status, 403, 'a key cannot allow them')
    assert.equal((await allow(w, org)).allows_public_links, true)
    const made = await create({ is_public: true })
    assert.deepEqual([made.status, made.body.is_public], [200, true])
    const { share_links } = await w.ok(editor.token, 'share.links.list', { target_id: id })
    assert.deepEqual(
      share_links.map((link: { is_public: boolean }) => link.is_public),
      [true],
    )
  })

  await t.test('are an explicit choice: neither a missing password nor both', async () => {
    assert.match((await create({})).body.detail, /password/)
    assert.match((await create({ is_public: true, password: PASSWORD })).body.detail, /cannot be combined/)
    assert.equal((await create({ password: PASSWORD })).body.is_public, false)
  })

  await t.test('open without a password, also for a crowd', async () => {
    const { token } = await publicLink(w, org, id)
    for (let visitor = 0; visitor < 15; visitor++) {
      const opened = await w.call(null, 'share.link.validate', { token })
      assert.equal(opened.status, 200, 'more than ten visitors a minute')
    }
    const { body: asked } = await w.request('GET', `/s/${token}/public`)
    const { body: opened } = await w.call(null, 'share.link.validate', { token: asked.grant })
    assert.equal(opened.target.id, id)
  })

  await t.test('the page learns nothing of links with a password', async () => {
    const { body } = await create({ password: PASSWORD })
    for (const token of [body.token, 'shr_unknown']) {
      const asked = await w.request('GET', `/s/${token}/public`)
      assert.deepEqual([asked.status, asked.body], [200, { grant: null }])
    }
    for (let attempt = 0; attempt < 12; attempt++) await w.request('GET', `/s/${body.token}/public`)
    assert.equal((await w.call(null, 'share.link.validate', { token: body.token, password: PASSWORD })).status, 200, 'not an attempt')
    assert.equal((await w.call(null, 'share.link.validate', { token: body.token })).status, 401)
  })

  await t.test('stop when they are revoked, forbidden or expired', async () => {
    const { id: linkId, token } = await publicLink(w, org, id)
    const { body: opened } = await w.call(null, 'share.link.validate', { token })
    const { body: document } = await w.call(null, 'share.tilejson', { token })
    const statuses = async () => [
      (await w.call(null, 'share.link.validate', { token })).status,
      (await w.call(null, 'share.link.validate', { token: opened.target.grant })).status,
      (await w.request('GET', tileOf(w, document.tiles[0]))).status,
    ]
    assert.deepEqual(await statuses(), [200, 200, 200])
    await allow(w, org, false)
    assert.deepEqual(await statuses(), [401, 401, 401], 'forbidden')
    await allow(w, org)
    assert.deepEqual(await statuses(), [200, 200, 200], 'allowed again')
    await w.ok(org.owner.token, 'share.link.revoke', { link_id: linkId })
    assert.deepEqual(await statuses(), [401, 401, 401], 'revoked')
    assert.deepEqual((await w.request('GET', `/s/${token}/public`)).body, { grant: null })
    const other = await publicLink(w, org, id)
    w.clock.advance({ days: 60 })
    assert.equal((await w.call(null, 'share.link.validate', { token: other.token })).status, 401, 'expired')
  })
})

// Goal: tiles of a public link have the same URL for everyone, with a version that changes with what they show; only the current version
// can be kept for long, and nothing else by anyone but its caller.
test('tiles of public links, for caches', async (t) => {
  const w = await world(t, { cdnSeconds: 1_800 })
  const founded = await w.organization()
  await allow(w, founded)
  // A key outlives the hours that pass here; a session token does not.
  const { key } = await w.key(founded.owner.token, ['write'])
  const org = { ...founded, owner: { ...founded.owner, token: key } }
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Harbours' })
  const id = await rasterItem(w, org, [{ bytes: await scene() }])
  await w.ok(org.owner.token, 'items.update', { item_id: id, collection_id })
  const { token } = await publicLink(w, org, id)
  const document = async (input: object = {}) => (await w.call(null, 'share.tilejson', { token, ...input })).body
  const control = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await w.request('GET', path, { headers })
    return [answer.status, answer.headers.get('cache-control'), answer.headers.get('vary')]
  }
  const LONG = 'public, max-age=1800, s-maxage=1800, immutable'
  const SHORT = 'public, max-age=0, s-maxage=60'

  await t.test('every visitor has the same URL, and an hour later too', async () => {
    const first = (await document()).tiles[0]
    w.clock.advance({ hours: 2 })
    assert.equal((await document()).tiles[0], first)
    assert.match(first, /\/api\/v1\/public\/shg_[\w-]+\/[\w-]{16}\/default\/\{z\}\/\{x\}\/\{y\}\.webp$/)
    const tile = await w.request('GET', tileOf(w, first))
    assert.deepEqual([tile.status, tile.headers.get('cache-control'), tile.headers.get('vary')], [200, LONG, null])
    assert.equal(tile.headers.get('ratelimit'), null, "a caller's rate limit is nobody else's business")
    assert.deepEqual(await control(tileOf(w, first), { 'if-none-match': tile.headers.get('etag')! }), [304, LONG, null])
    const { bytes } = await w.call(null, 'share.tile.render', { token, ...INSIDE, format: 'webp' })
    assert.deepEqual(tile.bytes, bytes, 'the same pixels as with the token')
  })

  await t.test('an old version, an invented one and the latest are kept for a minute at most', async () => {
    const before = (await document()).tiles[0]
    await w.ok(org.owner.token, 'visualization.profile.create', {
      item_id: id,
      name: 'False colour',
      type: 'rgb',
      config: { bands: [4, 3, 2] },
      is_default: true,
    })
    const after = (await document()).tiles[0]
    assert.notEqual(after, before, 'a new default style is a new version')
    assert.deepEqual(await control(tileOf(w, before)), [200, SHORT, null])
    assert.deepEqual(await control(tileOf(w, after)), [200, LONG, null])
    for (const version of ['latest', 'x', 'ÿ'])
      assert.deepEqual(await control(tileOf(w, after.replace(/[\w-]{16}(?=\/default)/, encodeURIComponent(version)))), [200, SHORT, null])
    w.clock.advance({ seconds: 10 })
    await w.ok(org.owner.token, 'items.update', { item_id: id, name: 'Harbour, edited' })
    assert.notEqual((await document()).tiles[0], after)
    const seen = (await document()).tiles[0]
    await w.request('GET', tileOf(w, seen))
    await w.flushUsage()
    assert.equal((await document()).tiles[0], seen, 'being looked at changes nothing')
  })

  await t.test('a style is part of the path', async () => {
    const { tiles } = await document({ profile: 'ndvi' })
    assert.match(tiles[0], /\/ndvi\/\{z\}/)
    const [ndvi, plain] = await Promise.all([tiles[0], (await document()).tiles[0]].map((each) => w.request('GET', tileOf(w, each))))
    assert.notDeepEqual(ndvi!.bytes, plain!.bytes)
    assert.equal((await control(tileOf(w, tiles[0].replace('/ndvi/', '/nothing/'))))[1], 'no-store')
  })

  await t.test('a collection is one layer; a new item is a new version', async () => {
    const shared = await publicLink(w, org, collection_id, { target_type: 'collection' })
    const { body: opened } = await w.call(null, 'share.link.validate', { token: shared.token })
    const ask = async () => (await w.request('GET', opened.target.tilejson.replace(w.baseUrl, ''))).body
    const first = await ask()
    assert.deepEqual(await control(tileOf(w, first.tiles[0])), [200, LONG, null])
    assert.equal((await w.request('GET', opened.target.items[0].tilejson.replace(w.baseUrl, ''))).status, 200, 'each item, too')
    const added = await rasterItem(w, org, [{ bytes: await scene() }])
    await w.ok(org.owner.token, 'items.update', { item_id: added, collection_id })
    const second = await ask()
    assert.notEqual(second.tiles[0], first.tiles[0])
    assert.deepEqual(await control(tileOf(w, first.tiles[0])), [200, SHORT, null])
    await storeFile(w, added, { key: 'more', bytes: await scene() })
    w.clock.advance({ seconds: 2 })
    assert.notEqual((await ask()).tiles[0], second.tiles[0], 'a new file is a new version, also from another process')
    const refused = await w.call(null, 'share.tilejson', { token: shared.token, profile: '0199f2c9-4400-7c31-9d10-2f6a8b3c7e55' })
    assert.equal(refused.status, 422)
  })

  await t.test('WMTS clients read the same tiles', async () => {
    const { body } = await w.call(null, 'share.link.validate', { token })
    const capabilities = await w.request('GET', `/api/v1/public/${body.target.grant}/WMTSCapabilities.xml`)
    assert.deepEqual([capabilities.status, capabilities.headers.get('cache-control')], [200, 'private, no-store'])
    const template = /ResourceURL format="image\/webp"[^>]* template="([^"]+)"/.exec(capabilities.bytes.toString())![1]!
    const path = template
      .replace(w.baseUrl, '')
      .replace('{Style}', 'default')
      .replace('{TileMatrix}', String(INSIDE.z))
      .replace('{TileCol}', String(INSIDE.x))
      .replace('{TileRow}', String(INSIDE.y))
    assert.equal(path, tileOf(w, (await document()).tiles[0]))
    assert.equal((await control(path))[1], LONG)
    assert.ok(!capabilities.bytes.toString().includes('GetFeatureInfo'))
    assert.deepEqual((await w.call(null, 'share.wmts_capabilities', { token })).bytes, capabilities.bytes, 'the same by its token')
  })

  await t.test('nothing is kept after the link expires, and nothing of links with a password', async () => {
    const soon = await w.ok(org.owner.token, 'share.link.create', {
      target_type: 'item',
      target_id: id,
      is_public: true,
      expires_at: new Date(w.clock.now().getTime() + 90_000).toISOString(),
    })
    const { tiles } = (await w.call(null, 'share.tilejson', { token: soon.token })).body
    assert.equal((await control(tileOf(w, tiles[0])))[1], 'public, max-age=90, s-maxage=90, immutable')
    w.clock.advance({ seconds: 91 })
    assert.deepEqual((await control(tileOf(w, tiles[0]))).slice(0, 2), [401, 'no-store'])

    const locked = await w.ok(org.owner.token, 'share.link.create', {
      target_type: 'item',
      target_id: id,
      password: PASSWORD,
      expires_at: EXPIRES,
    })
    const { body } = await w.call(null, 'share.link.validate', { token: locked.token, password: PASSWORD })
    const version = /\/([\w-]{16})\/default/.exec((await document()).tiles[0])![1]!
    for (const named of [version, 'latest'])
      assert.deepEqual(
        await control(`/api/v1/public/${body.target.grant}/${named}/default/${INSIDE.z}/${INSIDE.x}/${INSIDE.y}.webp`),
        [200, 'private, no-store', 'Authorization, X-API-Key'],
        'a path alone makes nothing public',
      )
    assert.equal((await w.request('GET', `/api/v1/public/${body.target.grant}/WMTSCapabilities.xml`)).status, 400)
  })

  await t.test('CDN_SECONDS=0 keeps everything private', async (inner) => {
    const off = await world(inner, { databaseUrl: w.databaseUrl, cdnSeconds: 0, clock: w.clock, storage: w.storage })
    const { tiles } = (await off.call(null, 'share.tilejson', { token })).body
    assert.equal((await off.request('GET', tileOf(off, tiles[0]))).headers.get('cache-control'), 'private, no-store')
  })
})
