import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { DOMAINS } from '#contract/domains.ts'
import { TABLE } from '#contract/table.ts'
import { PROBLEMS } from '#core/problem.ts'
import fastify from 'fastify'
import { readRegistry } from '#adapters/vendors/registry.ts'
import { newId } from '#core/ids.ts'
import * as hostStates from '#model/vendors/host-state.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { world } from '../../../test/support/world.ts'
import { registerWelcome } from './welcome.ts'

// Goal: every page has its own content security policy, loads nothing from other hosts, and has no broken link.
test('pages', async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const w = await world(t)
  const guides = readdirSync(path.join(import.meta.dirname, '../../../docs/guides'))
    .filter((file) => file !== 'images')
    .map((file) => `/docs/guides/${path.basename(file, '.md')}`)
  const paths = ['/', '/docs', '/docs/guides', ...guides, '/problems', ...Object.keys(PROBLEMS).map((slug) => `/problems/${slug}`)]

  await t.test('have no inline script or style and only load files of this service', async () => {
    const seen = new Set<string>()
    for (const page of paths) {
      const { status, headers, bytes } = await w.request('GET', page)
      const html = bytes.toString()
      assert.equal(status, 200, page)
      assert.match(headers.get('content-security-policy')!, /script-src 'self'; style-src 'self'/)
      assert.doesNotMatch(html.replaceAll(/<code[^>]*>[^<]*<\/code>/g, ''), /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/, page)
      // A guide may point elsewhere; nothing of it is loaded from there.
      const loaded = html.replaceAll(/<a href="https:[^"]*"/g, '')
      for (const [, address] of loaded.matchAll(/(?:href|src)="([^"]+)"/g)) seen.add(address!.split('#')[0] || page)
    }
    for (const address of seen) {
      assert.match(address, /^\//, `${address} leaves this service`)
      assert.equal((await w.request('GET', address)).status, 200, address)
    }
  })

  await t.test('the welcome page shows a first call to its own URL', async () => {
    const html = (await w.request('GET', '/')).bytes.toString()
    assert.ok(html.includes(`curl -s ${w.baseUrl}/auth/sign-in`))
    assert.deepEqual((await w.request('GET', '/docs/demo.json')).body, {}, 'no demo, nothing to show')
  })

  await t.test('with the demo, it shows the scene, its link and the sign-in, and escapes all values', async () => {
    const app = fastify()
    const demo = { email: 'demo@groundtrack.dev', password: 'open "sesame"', shareToken: null as string | null, fields: { item_id: 'i' } }
    registerWelcome(app, { platform: w.platform, demo: async () => demo })
    t.after(() => app.close())
    const waiting = (await app.inject('/')).body
    assert.match(waiting, /Demo data is loading/)
    demo.shareToken = 'shr_"><b>'
    const page = await app.inject('/')
    assert.match(String(page.headers['content-security-policy']), /worker-src 'self'/)
    assert.ok(page.body.includes('demo@groundtrack.dev') && page.body.includes('href="/s/shr_%22%3E%3Cb%3E"') && !page.body.includes('<b>'))
    assert.deepEqual((await app.inject('/docs/demo.json')).json(), {
      email: demo.email,
      password: demo.password,
      fields: { item_id: 'i', share_token: demo.shareToken, share_password: demo.password },
    })
  })

  await t.test('assets are compressed if accepted and revalidated by their ETag, and no other file is served', async () => {
    const { headers, bytes } = await w.request('GET', '/assets/pages.css', { headers: { 'accept-encoding': 'identity' } })
    assert.equal(headers.get('content-encoding'), null)
    const packed = await fetchRaw(`${w.baseUrl}/assets/pages.css`)
    assert.deepEqual(gunzipSync(packed), bytes)
    const again = await w.request('GET', '/assets/pages.css', { headers: { 'if-none-match': headers.get('etag')! } })
    assert.equal(again.status, 304)
    for (const name of ['package.json', '..%2fpages.ts', '%2e%2e%2fserver.ts', 'constructor', 'swagger-ui.js'])
      assert.equal((await w.request('GET', `/assets/${name}`)).status, 404, name)
  })

  await t.test('an unknown URL is a page for browsers and a problem for tools; a wrong method names the right one', async () => {
    const lost = await w.request('GET', '/no/<b>such</b>', { headers: { accept: 'text/html,application/xhtml+xml' } })
    assert.deepEqual([lost.status, lost.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
    assert.doesNotMatch(lost.bytes.toString(), /<b>such/)
    assert.equal((await w.request('GET', '/no/such')).body.code, 'not-found')
    const wrong = await w.request('GET', '/auth/sign-in')
    assert.deepEqual([wrong.status, wrong.headers.get('allow'), wrong.body.detail], [405, 'POST', '/auth/sign-in only supports POST'])
    assert.equal((await w.request('GET', '/docs/guides/..%2f..%2fREADME')).status, 404)
    const tile = `/api/v1/items/${newId()}/tiles/1/0/0.png`
    assert.deepEqual((await w.request('POST', tile)).headers.get('allow'), 'GET', 'also where parts of the address vary')
    const allowed: Record<string, string> = {
      '/v1/op/items.get': 'POST, OPTIONS',
      '/v1/items/get': 'POST, OPTIONS',
      '/v1/events': 'GET, OPTIONS',
      '/stac/search': 'GET, HEAD, POST, OPTIONS',
      [tile]: 'GET, HEAD, OPTIONS',
      '/no/such': 'OPTIONS',
    }
    for (const [path, methods] of Object.entries(allowed))
      assert.deepEqual((await w.request('OPTIONS', path)).headers.get('allow'), methods, path)
  })

  await t.test('an unknown problem is a 404', async () => {
    assert.equal((await w.request('GET', '/problems/no-such')).body.code, 'not-found')
    assert.equal((await w.request('GET', '/problems/constructor')).status, 404)
  })
})

// Goal: the start page offers real imagery of a place only while an open host responds; otherwise it is unchanged.
test('real imagery on the start page', async (t) => {
  const w = await world(t, { sources: await readRegistry(null, { sandboxUrl: null }) })
  const page = async () => {
    const { headers, bytes } = await w.request('GET', '/welcome')
    return { html: bytes.toString(), headers }
  }
  const probed = (hostName: string, error: string | null) =>
    hostStates.record(w.db, { hostName, error, responseMs: 100, now: w.clock.now(), nextProbeAt: w.clock.now() })
  const before = (await page()).html
  assert.doesNotMatch(before, /Show real imagery/)

  for (const hostName of ['earth-search', 'cdse']) await hostStates.claim(w.db, hostName, { now: w.clock.now(), until: w.clock.now() })
  await probed('earth-search', 'does not respond')
  await probed('cdse', null)
  assert.equal((await page()).html, before, 'one that only has previews does not count')

  await probed('earth-search', null)
  const { html, headers } = await page()
  assert.match(html, /<form class="place" action="\/app\/explore" method="get">[^]*name="place"[^]*Use my location/)
  assert.match(html, /href="\/app\/explore\?place=48\.2%2C%202\.3"/)
  assert.match(headers.get('content-security-policy')!, /form-action 'self'/)
  assert.equal(headers.get('permissions-policy'), 'geolocation=(self)')
  assert.equal((await w.request('GET', '/assets/place.js')).status, 200)
  const demo = { email: 'd@example.com', password: 'x', shareToken: 'shr_1', fields: {} }
  const app = fastify()
  registerWelcome(app, { platform: w.platform, demo: async () => demo })
  t.after(() => app.close())
  const shown = await app.inject('/welcome')
  assert.match(String(shown.headers['content-security-policy']), /worker-src 'self'.*form-action 'self'/)
  assert.match(shown.body, /demo-map[^]*class="place"/)
})

// Goal: wherever operations are grouped by domain, the group has a description.
test('every domain of the operation table is described', () => {
  assert.deepEqual(Object.keys(DOMAINS), [...new Set([...TABLE.values()].map((row) => row.domain))].toSorted())
})

/** `fetch` unpacks by itself; the bytes on the wire are wanted here. */
async function fetchRaw(url: string): Promise<Buffer> {
  const { get } = await import('node:http')
  return await new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)))
    }).on('error', reject)
  })
}
