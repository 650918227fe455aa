// Goal: behind nginx's cache, with the settings that we recommend, nearly all tiles of a public map come from the cache, a revoked link
// disappears from it within CDN_SECONDS, and nobody ever receives from it what only somebody else may see.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rasterItem } from '../support/layers.ts'
import { scene, tileAt } from '../support/scene.ts'
import { until } from '../support/service.ts'
import { world, type Org, type World } from '../support/world.ts'
import { startNginx, WITHOUT_NGINX, type Answer } from './nginx.ts'

const EXPIRES = '2031-01-01T00:00:00.000Z'
const PASSWORD = 'coral and sand'
const INSIDE = tileAt(151.15, -33.1, 12)
const AT = `${INSIDE.z}/${INSIDE.x}/${INSIDE.y}`
const VIEWERS = 40
/** Tiles on each side of a viewer's screen. */
const SCREEN = 6

const create = async (w: World, org: Org, input: object): Promise<{ id: string; token: string }> =>
  await w.ok(org.owner.token, 'share.link.create', { target_type: 'item', expires_at: EXPIRES, ...input })
const pathOf = (w: World, url: string) => url.replace(w.baseUrl, '')
const fill = (template: string, { z, x, y } = INSIDE) =>
  template.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y))
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('a public map behind a cache', { skip: WITHOUT_NGINX }, async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'] })
  const ask = await startNginx(t, w.baseUrl)
  const org = await w.organization()
  await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: true })
  const id = await rasterItem(w, org, [{ bytes: await scene() }])
  const { token } = await create(w, org, { target_id: id, is_public: true })
  const { body: opened } = await w.call(null, 'share.link.validate', { token })
  const document = pathOf(w, opened.target.tilejson)
  const templateNow = async () => pathOf(w, JSON.parse((await ask(document)).body.toString()).tiles[0])
  const origin = async (path: string) => (await w.request('GET', path)).bytes

  await t.test(`of ${VIEWERS} viewers, at least 95% of the tiles are hits, and right`, async (inner) => {
    const counts = new Map<string, number>()
    const bodies = new Map<string, Buffer>()
    const view = async () => {
      const template = await templateNow()
      for (let dx = 0; dx < SCREEN; dx++)
        await Promise.all(
          Array.from({ length: SCREEN }, async (_, dy) => {
            const path = fill(template, { z: INSIDE.z, x: INSIDE.x + dx, y: INSIDE.y + dy })
            const { status, cache, body, headers } = await ask(path)
            assert.equal(status, 200)
            assert.equal(headers['set-cookie'], undefined)
            assert.deepEqual(body, bodies.get(path) ?? (bodies.set(path, body), body), 'everybody sees the same')
            counts.set(cache!, (counts.get(cache!) ?? 0) + 1)
          }),
        )
    }
    for (let viewer = 0; viewer < VIEWERS; viewer += 4) await Promise.all([view(), view(), view(), view()])
    for (const [path, body] of bodies) assert.deepEqual(body, await origin(path), 'as the service renders it')
    const total = VIEWERS * SCREEN * SCREEN
    const hits = counts.get('HIT') ?? 0
    inner.diagnostic(
      `${hits} of ${total} tiles were hits (${((100 * hits) / total).toFixed(1)}%): ${JSON.stringify(Object.fromEntries(counts))}`,
    )
    assert.ok(hits / total >= 0.95, `${hits} of ${total}`)
  })

  await t.test('a change of the style is visible at once: the TileJSON names another version', async () => {
    const before = fill(await templateNow())
    const shown = (await ask(before)).body
    await w.ok(org.owner.token, 'visualization.profile.create', {
      item_id: id,
      name: 'False colour',
      type: 'rgb',
      config: { bands: [4, 3, 2] },
      is_default: true,
    })
    const after = fill(await templateNow())
    assert.notEqual(after, before)
    const changed = await ask(after)
    assert.equal(changed.cache, 'MISS')
    assert.notDeepEqual(changed.body, shown)
    assert.equal((await ask(after)).cache, 'HIT')
  })

  await t.test('credentials, ranges and conditions of one viewer change nothing for the next', async () => {
    const path = fill(await templateNow(), { ...INSIDE, x: INSIDE.x - 1 })
    const stranger = await w.organization()
    const first = await ask(path, { ...bearer(stranger.owner.token), 'x-api-key': 'svc_nonsense', cookie: 'a=b', range: 'bytes=0-9' })
    assert.ok([200, 206].includes(first.status))
    const whole = await origin(path)
    const plain = await ask(path)
    assert.deepEqual([plain.status, plain.cache, plain.headers.vary], [200, 'HIT', undefined])
    assert.deepEqual(plain.body, whole, 'a range is not kept as the tile')
    const range = await ask(path, { range: 'bytes=0-9' })
    assert.ok(range.status === 206 ? range.body.equals(whole.subarray(0, 10)) : range.body.equals(whole), 'the part, or the whole tile')
    assert.equal((await ask(path, { 'if-none-match': plain.headers.etag! })).status, 304)
    assert.deepEqual((await ask(path, { 'if-none-match': '"other"' })).body, whole)
    assert.deepEqual([(await ask(path, {}, 'HEAD')).status, (await ask(path)).cache], [200, 'HIT'])
    assert.equal((await ask(path, {}, 'POST')).status, 405)
    assert.deepEqual((await ask(path)).body, whole)
  })

  await t.test('failures are never kept', async () => {
    const path = fill(await templateNow(), { ...INSIDE, y: INSIDE.y - 1 })
    const unkept = async (failing: string, status: number) => {
      for (let n = 0; n < 2; n++) {
        const answer = await ask(failing)
        assert.deepEqual([answer.status, answer.headers['cache-control'], answer.cache], [status, 'no-store', 'MISS'], failing)
      }
    }
    await unkept(path.replace('shg_', 'shg_A'), 401)
    await unkept(path.replace('/default/', '/nothing/'), 422)
    await unkept(path.replace('.webp', '.gif'), 404)
    await unkept(`${path}?typo=1`, 400)
    await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: false })
    await unkept(path, 401)
    await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: true })
    assert.deepEqual([(await ask(path)).status, (await ask(path)).cache], [200, 'HIT'], 'what failed works once it is allowed')
  })

  await t.test('with too many requests, an address is refused, and others are not', async () => {
    const grantless = `/api/v1/public/shg_x/latest/default/${AT}.webp`
    let refused: Answer | null = null
    for (let n = 0; n < 650 && !refused; n++) {
      const answer = await ask(`${grantless}?_=${n}`)
      if (answer.status === 429) refused = answer
    }
    assert.deepEqual([refused?.status, refused?.headers['cache-control']], [429, 'no-store'])
    w.clock.advance({ minutes: 2 })
    assert.notEqual((await ask(`${grantless}?_=0`)).status, 429)
  })
})

test('a revoked link behind a cache', { skip: WITHOUT_NGINX }, async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'], cdnSeconds: 2 })
  const ask = await startNginx(t, w.baseUrl)
  const org = await w.organization()
  await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: true })
  const target_id = await rasterItem(w, org, [{ bytes: await scene() }])
  const link = await create(w, org, { target_id, is_public: true })
  const { tiles } = (await w.call(null, 'share.tilejson', { token: link.token })).body
  const path = fill(pathOf(w, tiles[0]))
  const seen = await ask(path)
  assert.deepEqual([seen.status, seen.headers['cache-control']], [200, 'public, max-age=2, s-maxage=2, immutable'])
  const renewed = await until('the tile is asked for again', async () => {
    const answer = await ask(path)
    return answer.cache === 'REVALIDATED' ? answer : null
  })
  assert.deepEqual(renewed.body, seen.body)
  await w.ok(org.owner.token, 'share.link.revoke', { link_id: link.id })
  const gone = await until('the cache lets go of it', async () => {
    const answer = await ask(path)
    return answer.status === 200 ? null : answer
  })
  assert.deepEqual([gone.status, gone.headers['cache-control']], [401, 'no-store'])
  for (const headers of [{}, { range: 'bytes=0-9' }, { 'if-none-match': String(seen.headers.etag) }])
    assert.equal((await ask(path, headers)).status, 401, 'and it does not come back')
})

test('what is private stays private behind a cache', { skip: WITHOUT_NGINX }, async (t) => {
  const w = await world(t, { trustedProxies: ['127.0.0.1'] })
  const ask = await startNginx(t, w.baseUrl)
  const org = await w.organization()
  const stranger = await w.organization()
  const { key } = await w.key(org.owner.token)
  const { key: foreign } = await w.key(stranger.owner.token)
  await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: true })
  const id = await rasterItem(w, org, [{ bytes: await scene() }])
  const { id: collection_id } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Harbours' })
  await w.ok(org.owner.token, 'items.update', { item_id: id, collection_id })
  const assets = await w.ok(org.owner.token, 'items.list_assets', { item_id: id })
  const locked = await create(w, org, { target_id: id, password: PASSWORD, permission: 'download' })
  const { body: inside } = await w.call(null, 'share.link.validate', { token: locked.token, password: PASSWORD })
  const { grant } = inside.target
  const open = await create(w, org, { target_id: id, is_public: true })
  const publicTile = fill(pathOf(w, (await w.call(null, 'share.tilejson', { token: open.token })).body.tiles[0]))
  const [, version] = /\/([\w-]{16})\/default/.exec(publicTile)!
  const signed = async (operation: string, input: object) =>
    fill(pathOf(w, (await w.ok(key, operation, { ...input, signed_seconds: 3_600 })).tiles[0]))
  const signedItem = await signed('items.tile.tilejson', { item_id: id })
  const signedCollection = await signed('collections.tile.tilejson', { collection_id })
  const tile = `/api/v1/items/${id}/tiles/${AT}.webp`
  const wmts = `/wmts/${id}?service=WMTS&request=GetTile&version=1.0.0&tilematrix=${INSIDE.z}&tilecol=${INSIDE.x}&tilerow=${INSIDE.y}`
  const mine = bearer(key)

  /** What somebody with permission asks for, and what others then try. */
  const cases: readonly { name: string; path: string; headers?: Record<string, string>; tried?: readonly string[] }[] = [
    { name: 'a tile of an item', path: tile, headers: mine },
    { name: 'a tile of an item by X-API-Key', path: tile, headers: { 'x-api-key': key } },
    { name: 'a tile with a key in its URL', path: `${tile}?key=${key}`, tried: [tile, `${tile}?key=${foreign}`, `${tile}?key=`] },
    { name: 'a tile of a collection', path: `/api/v1/collections/${collection_id}/tiles/${AT}.webp`, headers: mine },
    { name: 'a TileJSON', path: `/api/v1/items/${id}/tilejson.json`, headers: mine },
    { name: 'WMTS', path: wmts, headers: mine },
    { name: 'WMTS capabilities', path: `/wmts/${id}/1.0.0/WMTSCapabilities.xml`, headers: mine },
    { name: 'a download', path: `/api/v1/items/${id}/assets/${assets[0].id}`, headers: mine },
    { name: 'an item', path: `/stac/collections/${collection_id}/items/${id}`, headers: mine },
    {
      name: 'a signed tile of an item',
      path: signedItem,
      tried: [signedItem.replace(/signature=[^&]*/, ''), signedItem.replace('sig_', 'sig_A'), `${signedItem}&bands=1`],
    },
    { name: 'a signed tile of a collection', path: signedCollection, tried: [signedCollection.replace(/signature=[^&]*/, '')] },
    {
      name: 'a tile of a link with a password',
      path: `/api/v1/share/tiles/${AT}.webp?grant=${grant}`,
      tried: [`/api/v1/share/tiles/${AT}.webp`, `/api/v1/share/tiles/${AT}.webp?grant=${grant.slice(0, -2)}AA`],
    },
    { name: 'its TileJSON', path: `/api/v1/share/tilejson.json?grant=${grant}`, tried: ['/api/v1/share/tilejson.json?grant=shg_'] },
    ...[version, 'latest'].map((each) => ({
      name: `its tiles as if it were public (${each})`,
      path: `/api/v1/public/${grant}/${each}/default/${AT}.webp`,
      tried: [`/api/v1/public/shg_/${each}/default/${AT}.webp`, `/api/v1/public/${grant.slice(0, -2)}AA/${each}/default/${AT}.webp`],
    })),
    { name: 'a tile by a path that looks public', path: `/api/v1/public/..${tile.slice('/api/v1'.length)}`, headers: mine },
    { name: 'the same, encoded', path: `/api/v1/public/%2e%2e${tile.slice('/api/v1'.length)}`, headers: mine },
    { name: 'the same, doubled', path: `/api/v1//public/..${tile.slice('/api/v1'.length)}`, headers: mine },
  ]
  /** With none of this may anybody else receive it. */
  const variants = (answer: Answer): readonly Record<string, string>[] => [
    {},
    bearer(foreign),
    bearer(stranger.owner.token),
    { 'x-api-key': foreign },
    { range: 'bytes=0-99' },
    ...(answer.headers.etag ? [{ 'if-none-match': answer.headers.etag }, { 'if-none-match': '*' }] : []),
    { 'cache-control': 'only-if-cached, max-stale' },
    { cookie: 'session=1' },
  ]

  let asked = 0
  for (const { name, path, headers = {}, tried = [path] } of cases)
    await t.test(name, async () => {
      const permitted = await ask(path, headers)
      const again = await ask(path, headers)
      const isThere = permitted.status === 200 || permitted.status === 302
      assert.ok(isThere || path.includes('public/'), `${permitted.status} ${permitted.body.toString()}`)
      assert.notEqual(again.cache, 'HIT')
      assert.match(String(permitted.headers['cache-control']), /no-store|private/)
      for (const attempt of tried)
        for (const variant of variants(permitted))
          for (const method of ['GET', 'HEAD']) {
            const answer = await ask(attempt, variant, method)
            asked++
            assert.ok([400, 401, 403, 404].includes(answer.status), `${method} ${attempt} ${JSON.stringify(variant)}: ${answer.status}`)
            assert.equal(answer.headers['cache-control'], 'no-store')
            assert.notEqual(answer.cache, 'HIT')
            assert.ok(answer.body.length === 0 || !answer.body.equals(permitted.body))
            assert.equal(answer.headers['set-cookie'], undefined)
          }
      assert.deepEqual((await ask(path, headers)).status, permitted.status, 'a refusal is not kept either')
    })

  await t.test('a session cookie goes to its owner alone', async () => {
    const signedIn = await fetch(`${w.baseUrl}/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: org.owner.email, password: org.owner.password, cookie: true }),
    })
    const cookie = signedIn.headers.get('set-cookie')!
    assert.ok(cookie)
    assert.equal((await ask(publicTile, { cookie: cookie.split(';')[0]! })).headers['set-cookie'], undefined)
    assert.equal((await ask(publicTile)).headers['set-cookie'], undefined)
    assert.equal((await ask('/auth/sign-in')).headers['set-cookie'], undefined)
  })

  await t.test('a link with a password ends at once when it is revoked, whoever looked at it through the cache', async () => {
    const paths = [`/api/v1/share/tiles/${AT}.webp?grant=${grant}`, `/api/v1/public/${grant}/${version}/default/${AT}.webp`]
    assert.deepEqual(await Promise.all(paths.map(async (path) => (await ask(path)).status)), [200, 200])
    await w.ok(org.owner.token, 'share.link.revoke', { link_id: locked.id })
    assert.deepEqual(await Promise.all(paths.map(async (path) => (await ask(path)).status)), [401, 401])
  })

  t.diagnostic(`${asked} attempts without permission, 0 leaks`)
})
