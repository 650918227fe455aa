// Goal: any STAC API that wants a header, a user with a password or an OAuth client is a source by registry data alone; its credential
// reaches that host and nobody else, and is never shown.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { pageOf, registryOf } from '../../bench/lib/hosts.ts'
import { world } from '../support/world.ts'

const SECRETS = {
  VENDOR_KEYED_KEY: 'key-of-the-operator',
  VENDOR_BASIC_USER: 'ann',
  VENDOR_BASIC_PASSWORD: 'password-of-ann',
  VENDOR_CLIENT_CLIENT_ID: 'client-7',
  VENDOR_CLIENT_CLIENT_SECRET: 'secret-of-client-7',
  VENDOR_JSON_CLIENT_ID: 'client-8',
  VENDOR_JSON_CLIENT_SECRET: 'secret-of-client-8',
  VENDOR_PERSON_USER: 'ben@example.com',
  VENDOR_PERSON_PASSWORD: 'password-of-ben',
}
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

async function serve(t: TestContext, handle: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<string> {
  const server = createServer((request, response) => void text(request).then((body) => handle(request, response, body)))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const send = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** Three APIs that check their credential, a token server, and a stranger that records what it receives. */
async function startHosts(t: TestContext) {
  const state = { exchanges: [] as { type: string; fields: object; authorization: string | undefined }[], valid: '', refuses: false }
  const received: IncomingMessage['headers'][] = []
  const stranger = await serve(t, (request, response) => {
    received.push(request.headers)
    response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE)
  })
  const address = await serve(t, (request, response, body) => {
    const { authorization } = request.headers
    const [, name = '', action] = request.url!.split('/')
    if (name === 'token') {
      const type = request.headers['content-type']!
      const fields = type === 'application/json' ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body))
      state.exchanges.push({ type, fields, authorization })
      if (state.refuses) return send(response, 401, { error: 'invalid_client', error_description: `no ${body}` })
      state.valid = `access-token-${state.exchanges.length}`
      return send(response, 200, { access_token: state.valid, token_type: 'Bearer', expires_in: 3_600 })
    }
    const expected: Record<string, boolean> = {
      keyed: request.headers['x-api-key'] === `Token ${SECRETS.VENDOR_KEYED_KEY}`,
      basic: authorization === `Basic ${Buffer.from('ann:password-of-ann').toString('base64')}`,
      client: authorization === `Bearer ${state.valid}`,
      json: authorization === `Bearer ${state.valid}`,
      person: authorization === `Bearer ${state.valid}`,
    }
    if (!expected[name]) return send(response, 401, { detail: `no access with ${authorization}` })
    if (action === 'elsewhere') return void response.writeHead(302, { location: `http://${stranger}/picture.png` }).end()
    const page = pageOf(name, `http://${address}/${name}`, 2, JSON.parse(body || '{}'))
    for (const feature of page.features as { id: string; assets: object }[])
      feature.assets = {
        thumbnail: {
          href: feature.id.endsWith('-0') ? `http://${stranger}/a.png` : `http://${address}/${name}/elsewhere`,
          type: 'image/png',
        },
      }
    send(response, 200, page)
  })
  const auth: Record<string, object> = {
    keyed: { kind: 'header', header: 'X-Api-Key', prefix: 'Token ' },
    basic: { kind: 'basic' },
    client: { kind: 'oauth-client', tokenUrl: `http://${address}/token`, scope: 'read' },
    json: { kind: 'oauth-client', tokenUrl: `http://${address}/token`, body: 'json', clientIn: 'header', audience: 'https://api.example' },
    person: { kind: 'oauth-password', tokenUrl: `http://${address}/token`, clientId: 'public-app', scope: 'openid' },
  }
  const file = registryOf(Object.keys(auth), address)
  const sources = file.sources.map((source) => ({ ...source, auth: auth[source.id] }))
  const registry = parseRegistry(JSON.stringify({ ...file, sources }), 'the registry of this test', { sandboxUrl: null, secrets: SECRETS })
  return { state, received, settings: { sources: registry, egressAllow: [address, stranger] } }
}

test('sources that want a credential', async (t) => {
  const { state, received, settings } = await startHosts(t)
  const w = await world(t, settings)
  const { vendors } = w.platform.services
  const search = (hostName: string, from = vendors) => from.catalog(hostName).search({ collections: ['scenes'], limit: 2 })

  await t.test('a header, a user with a password', async () => {
    for (const name of ['keyed', 'basic']) assert.equal((await search(name)).scenes.length, 2)
  })

  await t.test('an OAuth client: one exchange for concurrent requests and other processes', async (t) => {
    const other = await world(t, { ...settings, databaseUrl: w.databaseUrl })
    const both = [vendors, other.platform.services.vendors]
    const pages = await Promise.all(both.flatMap((each) => [search('client', each), search('client', each), search('client', each)]))
    assert.ok(pages.every(({ scenes }) => scenes.length === 2))
    assert.deepEqual(state.exchanges, [
      {
        type: 'application/x-www-form-urlencoded',
        fields: { grant_type: 'client_credentials', client_id: 'client-7', client_secret: 'secret-of-client-7', scope: 'read' },
        authorization: undefined,
      },
    ])
  })

  await t.test('the token is renewed before it expires, and once when it is refused', async () => {
    w.clock.advance({ minutes: 59, seconds: 30 })
    await search('client')
    assert.equal(state.exchanges.length, 2)
    state.valid = 'another one'
    w.clock.advance({ minutes: 1 })
    assert.equal((await search('client')).scenes.length, 2)
    assert.equal(state.exchanges.length, 3)
    state.valid = 'yet another one'
    await assert.rejects(search('client'), (error) => error instanceof VendorError && error.code === 'unauthorized')
    assert.equal(state.exchanges.length, 3, 'a new token that is refused is not renewed again and again')
  })

  await t.test('a token server that wants JSON and the client in a header', async () => {
    assert.equal((await search('json')).scenes.length, 2)
    assert.deepEqual(state.exchanges.at(-1), {
      type: 'application/json',
      fields: { grant_type: 'client_credentials', audience: 'https://api.example' },
      authorization: `Basic ${Buffer.from('client-8:secret-of-client-8').toString('base64')}`,
    })
  })

  await t.test('a user whose password is exchanged for a token', async () => {
    assert.equal((await search('person')).scenes.length, 2)
    assert.deepEqual(state.exchanges.at(-1), {
      type: 'application/x-www-form-urlencoded',
      fields: {
        grant_type: 'password',
        client_id: 'public-app',
        username: 'ben@example.com',
        password: 'password-of-ben',
        scope: 'openid',
      },
      authorization: undefined,
    })
  })

  await t.test('the database has the token encrypted', async () => {
    const rows = await w.db.selectFrom('vendor_token').selectAll().execute()
    assert.deepEqual(rows.map(({ host_name, name }) => [host_name, name]).toSorted(), [
      ['client', 'api'],
      ['json', 'api'],
      ['person', 'api'],
    ])
    assert.doesNotMatch(JSON.stringify(rows), /access-token|secret-of|password-of/)
  })

  await t.test('other hosts receive no credential, by link or by redirect', async () => {
    for (const name of ['keyed', 'basic', 'person'])
      for (const scene of (await search(name)).scenes)
        assert.equal((await vendors.catalog(name).preview(scene, 'thumbnail'))?.contentType, 'image/png')
    assert.equal(received.length, 6)
    for (const headers of received) assert.deepEqual([headers.authorization, headers['x-api-key']], [undefined, undefined])
  })

  await t.test('errors and logs show no secret, whatever the servers say', async () => {
    state.refuses = true
    w.clock.advance({ hours: 2 })
    const messages: string[] = []
    for (const name of ['client', 'json'])
      await search(name).catch((error: unknown) => messages.push(`${(error as Error).message} ${(error as Error).cause ?? ''}`))
    assert.equal(messages.length, 2)
    assert.match(messages[0]!, /client refused the credentials|The token server of client refused the credentials/)
    const shown = [...messages, ...w.logLines].join('\n')
    assert.doesNotMatch(shown, /key-of-the-operator|password-of-ann|secret-of-client|access-token/)
  })
})
