import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { createEgress, EgressError, isPublic, type EgressOptions } from './guard.ts'

const WANTED = { maxBytes: 1_000, deadlineMs: 5_000 }

async function listen(
  t: TestContext,
  handler: Parameters<typeof createServer>[1],
): Promise<{ server: Server; host: string; port: number; hits: () => number }> {
  let hits = 0
  const server = createServer((request, response) => {
    hits++
    handler!(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, port, host: `127.0.0.1:${port}`, hits: () => hits }
}

function guard(t: TestContext, options?: EgressOptions) {
  const egress = createEgress(options)
  t.after(() => egress.close())
  return egress
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof EgressError, String(error))
    return error.kind
  }
  return 'none'
}

/** Spellings of addresses of this machine and its neighbours. The test adds ports and schemes. */
const HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '0',
  '0.0.0.0',
  '0x0',
  '127.127.127.127',
  '127.0.0.2',
  'localhost',
  'LOCALHOST',
  'localhost.',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:7f00:0001::1]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[::ffff:0:127.0.0.1]',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.255.255',
  '169.254.169.254',
  '169.254.0.1',
  '2852039166',
  '0xA9FEA9FE',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
]

// Goal: no spelling of a private address gets a connection (docs/threats.md, row 1).
test('no spelling of a private address is reached', async (t) => {
  assert.ok(HOSTS.length >= 60)
  const canary = await listen(t, (_request, response) => response.end('reached'))
  const egress = guard(t)
  for (const host of HOSTS) {
    for (const url of [`https://${host}:${canary.port}/`, `http://${host}:${canary.port}/`, `https://${host}/`])
      assert.notEqual(await refusal(egress.fetch(url, WANTED)), 'none', url)
    assert.match(await refusal(egress.check(`https://${host}:${canary.port}/`)), /private|unresolved|address/, host)
  }
  assert.equal(canary.hits(), 0)
})

test('other schemes, credentials and invalid URLs are refused', async (t) => {
  const egress = guard(t, { resolve: async () => ['93.184.216.34'] })
  for (const url of ['ftp://example.com/', 'gopher://example.com/', 'http://example.com/', 'ws://example.com/'])
    assert.equal(await refusal(egress.check(url)), 'scheme', url)
  for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'javascript:1'])
    assert.equal(await refusal(egress.check(url)), 'address', url)
  assert.equal(await refusal(egress.check('https://user:secret@example.com/')), 'credentials')
  for (const url of ['', 'example.com', '//example.com', 'https://', 'https:// space/'])
    assert.equal(await refusal(egress.check(url)), 'address', url)
  assert.equal(await refusal(egress.check('https://example.com/a.tif')), 'none')
})

// Goal: all addresses of a name are checked, and the connection uses the checked address (docs/threats.md, row 2).
test('names that resolve to private addresses, also partly or at the second lookup', async (t) => {
  const canary = await listen(t, (_request, response) => response.end('reached'))
  const mixed = guard(t, { resolve: async () => ['93.184.216.34', '127.0.0.1'] })
  assert.equal(await refusal(mixed.fetch(`https://mixed.example:${canary.port}/`, WANTED)), 'private')
  let looks = 0
  const rebinding = guard(t, { resolve: async () => (looks++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']) })
  assert.equal(await refusal(rebinding.fetch(`https://rebinding.example:${canary.port}/`, WANTED)), 'private')
  assert.equal(looks, 2, 'the connection resolved again and was checked again')
  const nowhere = guard(t, { resolve: async () => [] })
  assert.equal(await refusal(nowhere.check('https://nowhere.example/')), 'unresolved')
  assert.equal(canary.hits(), 0)
})

// Goal: a redirect is checked like a new request (docs/threats.md, row 3).
test('redirects', async (t) => {
  const canary = await listen(t, (_request, response) => response.end('reached'))
  const start = await listen(t, (request, response) => {
    const hops = Number(request.url!.slice(1))
    if (Number.isNaN(hops)) return response.writeHead(302, { location: `http://localhost:${canary.port}/` }).end()
    if (hops === 0) return response.end('arrived')
    response.writeHead(302, { location: `/${hops - 1}` }).end()
  })
  const egress = guard(t, { allow: [start.host] })
  const at = (path: string, maxRedirects: number) => egress.fetch(`http://${start.host}/${path}`, { ...WANTED, maxRedirects })
  assert.equal((await at('3', 3)).body.toString(), 'arrived')
  assert.equal(await refusal(at('4', 3)), 'redirect')
  assert.equal(await refusal(at('1', 0)), 'redirect')
  assert.notEqual(await refusal(at('private', 3)), 'none')
  assert.equal(canary.hits(), 0)
})

// Goal: a credential is sent only to its own origin, wherever a redirect leads, also if it leads back.
test('a redirect to another origin is followed without credentials', async (t) => {
  const seen: (readonly [string, string | undefined, string | undefined])[] = []
  const note = (at: string, { headers }: IncomingMessage) => seen.push([at, headers.authorization, headers.range])
  const other = await listen(t, (request, response) => {
    note('other', request)
    if (request.url === '/back') response.writeHead(302, { location: `http://${own.host}/end` }).end()
    else response.end('reached')
  })
  const own = await listen(t, (request, response) => {
    note('own', request)
    if (request.url === '/end') return void response.end('back')
    response.writeHead(307, { location: request.url === '/here' ? '/end' : `http://${other.host}${request.url}` }).end()
  })
  const egress = guard(t, { allow: [own.host, other.host] })
  const headers = { authorization: 'Bearer vendor', 'x-api-key': 'k', range: 'bytes=0-9' }
  const at = (path: string, more: object = {}) =>
    egress.fetch(`http://${own.host}${path}`, { ...WANTED, maxRedirects: 3, headers, ...more })
  await at('/here')
  await at('/away')
  await at('/back')
  assert.deepEqual(seen, [
    ['own', 'Bearer vendor', 'bytes=0-9'],
    ['own', 'Bearer vendor', 'bytes=0-9'],
    ['own', 'Bearer vendor', 'bytes=0-9'],
    ['other', undefined, 'bytes=0-9'],
    ['own', 'Bearer vendor', 'bytes=0-9'],
    ['other', undefined, 'bytes=0-9'],
    ['own', undefined, 'bytes=0-9'],
  ])
  seen.length = 0
  assert.equal(await refusal(at('/away', { method: 'POST', body: Buffer.from('secret') })), 'redirect')
  assert.equal(seen.length, 1, 'a body is not sent to another origin either')
})

// Goal: neither an endless nor a silent host can block us (docs/threats.md, row 8).
test('size and time are limited, and a caller can abort', async (t) => {
  const host = await listen(t, (request, response) => {
    if (request.url === '/endless') {
      const more = (): void => {
        while (response.write(Buffer.alloc(16_384)));
      }
      response.on('drain', more)
      more()
    }
    if (request.url === '/exact') response.end(Buffer.alloc(1_000))
  })
  const egress = guard(t, { allow: [host.host] })
  assert.equal((await egress.fetch(`http://${host.host}/exact`, WANTED)).body.length, 1_000)
  assert.equal(await refusal(egress.fetch(`http://${host.host}/endless`, WANTED)), 'too-large')
  assert.equal(await refusal(egress.fetch(`http://${host.host}/silent`, { ...WANTED, deadlineMs: 50 })), 'timeout')
  const leaving = new AbortController()
  const left = egress.fetch(`http://${host.host}/silent`, { ...WANTED, signal: leaving.signal })
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
})

test('the allow-list permits exactly what it names', async (t) => {
  const host = await listen(t, (_request, response) => response.end('hello'))
  const other = await listen(t, (_request, response) => response.end('other'))
  const egress = guard(t, { allow: [host.host] })
  assert.equal((await egress.fetch(`http://${host.host}/`, WANTED)).body.toString(), 'hello')
  assert.equal(await refusal(egress.fetch(`http://${other.host}/`, WANTED)), 'scheme')
  assert.equal(other.hits(), 0)
})

test('isPublic: every IPv4 address gives the same result plain and mapped', () => {
  fc.assert(fc.property(fc.ipV4(), (address) => isPublic(address) === isPublic(`::ffff:${address}`)))
  assert.ok(isPublic('93.184.216.34'))
  assert.ok(isPublic('2606:2800:220:1:248:1893:25c8:1946'))
})
