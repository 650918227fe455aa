// Goal: a request that may have taken effect is never sent again by itself; credentials reach the vendor's own services and nobody else.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { createEgress } from '#adapters/egress/guard.ts'
import { VendorError, type VendorErrorCode } from '#ports/vendors/call.ts'
import { ALWAYS_HEALTHY } from './health.ts'
import { createHost, isListed, type Host } from './host.ts'

interface Received {
  method: string
  url: string
  body: string
  headers: IncomingMessage['headers']
}
type Handle = (request: IncomingMessage, response: ServerResponse) => void

async function serve(t: TestContext, handle: Handle): Promise<{ address: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ method: request.method!, url: request.url!, body, headers: request.headers })
      handle(request, response)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

const json = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

interface Options {
  services?: Record<string, string>
  downloadHosts?: string[]
  allow?: string[]
  versions?: string[]
}

function hostAt(t: TestContext, address: string, { services = {}, downloadHosts = [], allow = [], versions = [] }: Options = {}): Host {
  const egress = createEgress({ allow: [address, ...allow] })
  t.after(() => egress.close())
  let issued = 0
  const authorizer = {
    async authorize(refused: string | null) {
      if (refused !== null && issued + 1 < versions.length) issued++
      const version = versions[issued] ?? null
      return { headers: { 'x-key': version ?? 'fixed' }, version }
    },
  }
  const where = { hostName: 'vendor', url: `http://${address}/api`, services, trustedHosts: [], downloadHosts }
  return createHost(where, { egress, authorizer, health: ALWAYS_HEALTHY, deadlineFactor: 1, credentials: 'the credentials' })
}

const failsWith = (code: VendorErrorCode, promise: Promise<unknown>, message = /vendor/) =>
  assert.rejects(promise, (error: unknown) => error instanceof VendorError && error.code === code && message.test(error.message))

test('a write is sent once, a read and a write that says so are repeated', async (t) => {
  const { address, received } = await serve(t, (_request, response) => json(response, 502, {}))
  const host = hostAt(t, address)
  const sent = async (request: Parameters<Host['json']>[0]) => {
    received.length = 0
    await failsWith('unavailable', host.json(request))
    return received.length
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
    assert.equal(await sent({ method, path: '/orders', body: {} }), 1, method)
  assert.equal(await sent({ path: '/orders' }), 3)
  assert.equal(await sent({ method: 'POST', path: '/search', body: {}, isRepeatable: true }), 3)
})

test('a write whose connection breaks is not sent again; one that is limited was not executed, and is', async (t) => {
  let limits = 1
  const { address, received } = await serve(t, (request, response) => {
    if (request.url === '/api/broken') return void response.destroy()
    if (limits-- > 0) return void response.writeHead(429, { 'retry-after': '0.05' }).end()
    return json(response, 201, { id: 'order' })
  })
  const host = hostAt(t, address)
  await failsWith('unavailable', host.json({ method: 'POST', path: '/broken', body: {} }))
  assert.equal(received.length, 1)
  assert.deepEqual(await host.json({ method: 'POST', path: '/orders', body: {} }), { id: 'order' })
  assert.equal(received.length, 3)
})

test('forms, empty responses and errors', async (t) => {
  const answers: Record<string, [number, unknown]> = {
    '/api/quota': [402, { detail: 'No card on file' }],
    '/api/contract': [403, { message: 'Not in your contract' }],
    '/api/fields': [422, { detail: [{ loc: ['body', 'aoi'], msg: 'must be convex', type: 'value_error' }] }],
    '/api/missing': [404, {}],
  }
  const { address, received } = await serve(t, (request, response) => {
    const answer = answers[request.url!]
    if (answer) return json(response, ...answer)
    return void response.writeHead(204).end()
  })
  const host = hostAt(t, address)
  assert.equal(await host.json({ method: 'PATCH', path: '/cancel', form: { a: '1 & 2', b: 'ü' } }), undefined)
  assert.deepEqual([received[0]!.headers['content-type'], received[0]!.body], ['application/x-www-form-urlencoded', 'a=1+%26+2&b=%C3%BC'])
  await failsWith('forbidden', host.json({ path: '/quota' }), /does not allow this: No card on file/)
  await failsWith('forbidden', host.json({ path: '/contract' }), /Not in your contract/)
  await failsWith('refused', host.json({ path: '/fields' }), /body\.aoi: must be convex/)
  assert.equal(await host.json({ path: '/missing' }), null)
})

test('401: a token is renewed once, also for a write; then the credentials are refused', async (t) => {
  const accepted = new Set(['second'])
  const { address, received } = await serve(t, (request, response) =>
    accepted.has(String(request.headers['x-key'])) ? json(response, 200, {}) : json(response, 401, { detail: 'expired' }),
  )
  const host = hostAt(t, address, { versions: ['first', 'second'] })
  assert.deepEqual(await host.json({ method: 'POST', path: '/orders', body: {} }), {})
  assert.deepEqual(
    received.map(({ headers }) => headers['x-key']),
    ['first', 'second'],
  )
  accepted.clear()
  await failsWith('unauthorized', host.json({ path: '/orders' }), /vendor refused the credentials/)
})

test('services have their own base, and links to files lose the credential', async (t) => {
  const files = await serve(t, (_request, response) => void response.writeHead(200, { 'content-length': 5 }).end('bytes'))
  const { address, received } = await serve(t, (request, response) => {
    if (request.url === '/api/file') return void response.writeHead(302, { location: `http://${files.address}/signed?signature=1` }).end()
    return json(response, 200, {})
  })
  const tiles = await serve(t, (_request, response) => json(response, 200, {}))
  const options = { services: { tiles: `http://${tiles.address}/v1` }, allow: [files.address, tiles.address] }
  const host = hostAt(t, address, { ...options, downloadHosts: [files.address] })
  await host.json({ path: '/thumbnail', service: 'tiles' })
  assert.deepEqual([tiles.received[0]!.url, tiles.received[0]!.headers['x-key']], ['/v1/thumbnail', 'fixed'])
  await assert.rejects(host.json({ path: '/x', service: 'auth' }), /no service 'auth'/)

  const read = async (from: Host) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of from.stream({ path: '/file' })) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }
  assert.equal(await read(host), 'bytes')
  assert.equal(received.at(-1)!.headers['x-key'], 'fixed')
  assert.equal(files.received[0]!.headers['x-key'], undefined)
  await failsWith('refused', read(hostAt(t, address, options)), /a host that its downloadHosts do not list/)
  assert.equal(files.received.length, 1, 'an unlisted host is not asked at all')
})

test('patterns of hosts', () => {
  const matches = (url: string, pattern: string) => isListed(new URL(url), pattern)
  assert.ok(matches('https://a.b.example.com/x', '*.example.com'))
  assert.ok(matches('https://files.example.com/x', 'files.example.com'))
  for (const url of ['https://example.com', 'https://evilexample.com', 'http://a.example.com', 'https://a.example.com.evil'])
    assert.equal(matches(url, '*.example.com'), false, url)
})
