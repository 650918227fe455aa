import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { DOMAINS } from '#contract/domains.ts'
import { TABLE } from '#contract/table.ts'
import { PROBLEMS } from '#core/problem.ts'
import fastify from 'fastify'
import { newId } from '#core/ids.ts'
import { world } from '../../../test/support/world.ts'
import { registerWelcome } from './welcome.ts'

// Goal: every page keeps its own content security policy, asks nothing of another host, and has no link that leads nowhere.
test('pages', async (t) => {
  const w = await world(t)
  const guides = readdirSync(path.join(import.meta.dirname, '../../../docs/guides')).map(
    (file) => `/docs/guides/${path.basename(file, '.md')}`,
  )
  const paths = ['/', '/docs', '/docs/guides', ...guides, '/problems', ...Object.keys(PROBLEMS).map((slug) => `/problems/${slug}`)]

  await t.test('run no inline script or style and load only what this service has', async () => {
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

  await t.test('the welcome shows a first call to this very address', async () => {
    const html = (await w.request('GET', '/')).bytes.toString()
    assert.ok(html.includes(`curl -s ${w.baseUrl}/auth/sign-in`))
    assert.deepEqual((await w.request('GET', '/docs/demo.json')).body, {}, 'no demo, nothing to show')
  })

  await t.test('with the demo it shows the scene, its link and the sign-in, and nothing that was written into it runs', async () => {
    const app = fastify()
    const demo = { email: 'demo@groundtrack.dev', password: 'open "sesame"', shareToken: null as string | null, fields: { item_id: 'i' } }
    registerWelcome(app, { platform: w.platform, demo: async () => demo })
    t.after(() => app.close())
    const waiting = (await app.inject('/')).body
    assert.match(waiting, /scenes are being made/)
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

  await t.test('assets are packed for who takes that, asked for again by their tag, and no other file is served', async () => {
    const { headers, bytes } = await w.request('GET', '/assets/pages.css', { headers: { 'accept-encoding': 'identity' } })
    assert.equal(headers.get('content-encoding'), null)
    const packed = await fetchRaw(`${w.baseUrl}/assets/pages.css`)
    assert.deepEqual(gunzipSync(packed), bytes)
    const again = await w.request('GET', '/assets/pages.css', { headers: { 'if-none-match': headers.get('etag')! } })
    assert.equal(again.status, 304)
    for (const name of ['package.json', '..%2fpages.ts', '%2e%2e%2fserver.ts', 'constructor', 'swagger-ui.js'])
      assert.equal((await w.request('GET', `/assets/${name}`)).status, 404, name)
  })

  await t.test('a browser that is lost gets a page, a tool a problem; a wrong method is told the right one', async () => {
    const lost = await w.request('GET', '/no/<b>such</b>', { headers: { accept: 'text/html,application/xhtml+xml' } })
    assert.deepEqual([lost.status, lost.headers.get('content-type')], [404, 'text/html; charset=utf-8'])
    assert.doesNotMatch(lost.bytes.toString(), /<b>such/)
    assert.equal((await w.request('GET', '/no/such')).body.code, 'not-found')
    const wrong = await w.request('GET', '/auth/sign-in')
    assert.deepEqual([wrong.status, wrong.headers.get('allow'), wrong.body.detail], [405, 'POST', '/auth/sign-in takes POST'])
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

// Goal: wherever operations are grouped by domain, the group says what it is about.
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
