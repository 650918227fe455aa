import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { registerHeaders } from '#http/headers.ts'
import { registerSharePage } from './share.ts'
import { registerStatic } from './static.ts'

// Goal: the page is the same for every token, only runs our scripts, and every file it needs exists in a form that browsers accept.
test('the public page of a share link', async (t) => {
  const app = fastify()
  registerHeaders(app, { platform: { baseUrl: () => 'http://127.0.0.1' }, methodsOf: () => [] })
  registerStatic(app)
  registerSharePage(app)
  t.after(() => app.close())
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

  const page = await get('/s/shr_something')
  await t.test('reveals nothing about the token, and is not indexed', async () => {
    assert.equal((await get('/s/another')).body, page.body)
    assert.equal((await get(`/s/${encodeURIComponent('"><script>')}`)).body, page.body)
    assert.deepEqual(
      [page.statusCode, page.headers['content-type'], page.headers['x-robots-tag'], page.headers['referrer-policy']],
      [200, 'text/html; charset=utf-8', 'noindex, nofollow', 'no-referrer'],
    )
  })

  await t.test('has no inline code, and a policy that forbids it', async () => {
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /^default-src 'none';/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(page.body, /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/i)
    assert.doesNotMatch(page.body, /https?:\/\//, 'no address but its own')
  })

  await t.test('can be framed by other hosts under its own address only', async () => {
    const embedded = await get('/s/shr_something/embed')
    assert.equal(embedded.body, page.body)
    const policies = [page, embedded].map(({ headers }) => String(headers['content-security-policy']))
    assert.equal(policies[1], policies[0]!.replace("frame-ancestors 'none'", 'frame-ancestors *'))
    assert.notEqual(policies[1], policies[0])
    assert.equal(embedded.headers['x-frame-options'], undefined)
  })

  await t.test('all its assets and imports are served, and modules are plain JavaScript', async () => {
    const wanted = [...page.body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, address]) => address!)
    const seen = new Set<string>()
    while (wanted.length > 0) {
      const address = wanted.pop()!
      if (seen.has(address)) continue
      seen.add(address)
      const asset = await get(address)
      assert.equal(asset.statusCode, 200, address)
      assert.equal((await get(address, { 'if-none-match': String(asset.headers['etag']) })).statusCode, 304, address)
      if (!address.endsWith('.ts')) continue
      assert.equal(asset.headers['content-type'], 'text/javascript; charset=utf-8')
      wanted.push(
        ...[...asset.body.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(([, name]) => new URL(name!, `http://x${address}`).pathname),
        ...[...asset.body.matchAll(/\/assets\/[\w.-]+\.json/g)].map(([name]) => name),
      )
    }
    for (const needed of ['/assets/share-map.ts', '/assets/maplibre-gl.mjs', '/assets/world-land.json', '/assets/world-borders.json'])
      assert.ok(seen.has(needed), needed)
    assert.match(String((await get('/assets/maplibre-gl-worker.mjs')).headers['content-security-policy']), /connect-src 'self'/)
  })

  await t.test('an asset is the same with and without compression', async () => {
    const [plain, packed] = [await get('/assets/share.ts'), await get('/assets/share.ts', { 'accept-encoding': 'gzip' })]
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.ok(packed.rawPayload.length < plain.rawPayload.length)
    assert.doesNotMatch(plain.body, /: (string|Promise<void>|ShareMap \| null)/, 'types are gone')
  })

  await t.test('the base map is complete: all rings are closed, and none jumps across the antimeridian', async () => {
    const land = (await get('/assets/world-land.json')).json<{ geometries: { coordinates: [number, number][][][] }[] }>()
    const rings = land.geometries.flatMap(({ coordinates }) => coordinates.flat())
    assert.ok(rings.length > 1_000)
    for (const ring of rings) {
      assert.deepEqual(ring[0], ring.at(-1))
      for (const [index, [x]] of ring.slice(1).entries()) {
        const [before, y] = ring[index]!
        assert.ok(Math.abs(x - before) <= 180 || Math.abs(y) === 90, `a leap from ${before} to ${x} at ${y}`)
      }
    }
  })
})
