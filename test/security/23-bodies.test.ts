import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { operations } from '#registry.ts'
import { world, type Answer } from '../support/world.ts'
import { businessDigest } from './digest.ts'

const MiB = 1024 * 1024

// Goal: any invalid body gets the right 4xx problem, quickly and without any effect.
test('row 23: bodies', async (t) => {
  const w = await world(t)
  const { owner, id: organizationId } = await w.organization()
  const authorization = `Bearer ${owner.token}`
  const send = (
    body: string | Uint8Array | undefined,
    headers: Record<string, string> = { 'content-type': 'application/json' },
    path = '/v1/op/projects.list',
  ) => w.request('POST', path, { headers: { authorization, ...headers }, ...(body === undefined ? {} : { body }) })
  const expect = (answer: Answer, status: number, code: string, why?: string) => {
    assert.equal(answer.status, status, why)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, why)
    assert.equal(answer.body.code, code, why)
  }
  const before = await businessDigest(w.db)

  await t.test('size: 256 KiB are accepted, one more byte is not, with a length or chunked', async () => {
    const KiB256 = 256 * 1024
    const padded = (bytes: number) => Buffer.concat([Buffer.from('{}'), Buffer.alloc(bytes - 2, ' ')])
    assert.equal((await send(padded(KiB256))).status, 200)
    expect(await send(padded(KiB256 + 1)), 413, 'payload-too-large')
    expect(await send(padded(10 * MiB + 1), { 'content-type': 'application/json' }, '/auth/sign-in'), 413, 'payload-too-large')
    expect(await send(padded(10 * MiB + 1), { 'content-type': 'application/json' }, '/v1/projects/list'), 413, 'payload-too-large')
    const chunked = await overHttp(w.baseUrl, { 'content-type': 'application/json', authorization }, (request) => {
      for (let sent = 0; sent <= 10; sent++) request.write(Buffer.alloc(MiB, ' '))
      request.end()
    })
    assert.equal(chunked.status, 413)
    assert.equal(JSON.parse(chunked.body).code, 'payload-too-large')
    const announced = await overHttp(
      w.baseUrl,
      { 'content-type': 'application/json', authorization, 'content-length': String(10 * MiB + 1) },
      (request) => request.flushHeaders(),
    )
    assert.equal(announced.status, 413, 'refused by its announced length, before it is sent')
  })

  await t.test('depth: 32 levels are accepted, 33 are not, in objects, arrays and both', async () => {
    for (const [open, middle, close] of [
      ['[', '', ']'],
      ['{"b":', '1', '}'],
      ['[{"b":', '1', '}]'],
    ] as const) {
      const each = open.length === 1 || open === '{"b":' ? 1 : 2
      const nested = (levels: number) => `{"a":${open.repeat(levels / each)}${middle}${close.repeat(levels / each)}}`
      const most = each === 1 ? 31 : 30 // Besides the body itself, which is the first level.
      expect(await send(nested(most)), 422, 'invalid-input', `${most + 1} levels of ${open} reach validation`)
      expect(await send(nested(most + (each === 1 ? 1 : 2))), 400, 'invalid-json', `deeper with ${open}`)
    }
    for (const levels of [1_000, 100_000])
      expect(await send(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`), 400, 'invalid-json', `${levels} levels`)
    expect(await send('['.repeat(250_000)), 400, 'invalid-json', 'a quarter of a million open brackets')
  })

  await t.test('encodings: only uncompressed bodies', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * MiB, ' '))
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'GZIP'])
      expect(
        await send(bomb, { 'content-type': 'application/json', 'content-encoding': encoding }),
        415,
        'unsupported-media-type',
        encoding,
      )
    assert.equal((await send('{}', { 'content-type': 'application/json', 'content-encoding': 'identity' })).status, 200)
    expect(await send(bomb), 400, 'invalid-json', 'compressed bytes that claim to be JSON')
  })

  await t.test('media types: application/json in UTF-8, and nothing else', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json ; charset=UTF-8; profile=x',
    ])
      assert.equal((await send('{}', { 'content-type': type })).status, 200, type)
    for (const type of [
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/jsonx',
      'application/ld+json',
      'application/json, text/plain',
      'json',
      ';',
      '*/*',
    ]) {
      expect(await send('{}', { 'content-type': type }), 415, 'unsupported-media-type', type)
    }
    expect(await send(Buffer.from('{}'), {}), 415, 'unsupported-media-type', 'a body without a type')
  })

  await t.test('two Content-Type headers: the first is used', async () => {
    const twice = (types: string[]) =>
      overHttp(w.baseUrl, { authorization, 'content-type': types as unknown as string }, (request) => request.end('{}'))
    assert.equal((await twice(['application/json', 'text/plain'])).status, 200)
    assert.equal((await twice(['text/plain', 'application/json'])).status, 415)
  })

  await t.test('no body counts as an empty object, with and without a type; with a wrong one it is refused', async () => {
    assert.equal((await send(undefined, {})).status, 200)
    assert.equal((await send(undefined)).status, 200)
    assert.equal((await send('', { 'content-type': 'application/json' })).status, 200)
    expect(await send(undefined, { 'content-type': 'text/plain' }), 415, 'unsupported-media-type')
    expect(await send(undefined, {}, '/v1/op/projects.create'), 422, 'invalid-input', 'and then its fields are missing')
  })

  await t.test('bodies that are not one JSON object in UTF-8', async () => {
    const texts = [
      '[]',
      '[{}]',
      '1',
      '"{}"',
      'null',
      'true',
      ' ',
      '\n',
      '{',
      '}',
      '{}{}',
      '{}x',
      "{'a':1}",
      '{"a":1,}',
      '{a:1}',
      '{"a":NaN}',
      '{"a":01}',
      '{"a":+1}',
      '{"a":.5}',
      '{"a":Infinity}',
      '// c\n{}',
      '{"a":"\t"}',
      '{"a":"\\x41"}',
      'undefined',
      '<xml/>',
      'a=1',
    ]
    for (const text of texts) expect(await send(text), 400, 'invalid-json', text)
    for (const bytes of [
      [0xff, 0xfe, 0x7b, 0, 0x7d, 0],
      [0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d],
      [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d],
      [0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d],
    ]) {
      expect(await send(Uint8Array.from(bytes)), 400, 'invalid-json', `bytes ${bytes.join(' ')}`)
    }
    assert.equal(
      (await send(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')]))).status,
      200,
      'a byte order mark is let pass',
    )
  })

  await t.test('strings and numbers that cannot be stored are named, at any depth', async () => {
    const create = (body: string) => send(body, { 'content-type': 'application/json' }, '/v1/op/organizations.create')
    const cases: [string, string][] = [
      ['{"name":"a\\u0000b"}', 'name'],
      ['{"name":"\\ud800"}', 'name'],
      ['{"name":"\\udc00x"}', 'name'],
      ['{"name":"x","billing_address":{"line":"\\u0000"}}', 'line'],
      ['{"name":"x","billing_address":{"\\u0000":1}}', 'body'],
      ['{"name":"x","billing_address":{"lines":["ok","\\udfff"]}}', 'body'],
      ['{"name":"x","billing_address":{"n":1e400}}', 'n'],
      ['{"name":"x","billing_address":{"n":-1e400}}', 'n'],
    ]
    for (const [body, field] of cases) {
      const answer = await create(body)
      expect(answer, 422, 'invalid-input', body)
      assert.equal(answer.body.errors[0].field, field, body)
    }
    for (const [id, input] of [
      ['provenance.get', { entity_type: 'item', entity_id: 'a\0' }],
      ['organizations.audit.list', { operation: '\0' }],
      ['organizations.members.list', { organizationId: '\0' }],
    ] as const) {
      expect(await w.call(owner.token, id, input), 422, 'invalid-input', id)
    }
    expect(await w.post('/auth/sign-in', { email: 'a\0@example.com', password: 'x' }), 422, 'invalid-input')
    expect(
      await w.post('/auth/sign-up', { email: 'nul@example.com', password: 'long enough\0and more', name: 'x' }),
      422,
      'invalid-input',
      'bcrypt would stop reading at the NUL',
    )
    assert.equal(await businessDigest(w.db), before, 'all of that left nothing')
    const pair = await w.ok(owner.token, 'projects.create', { name: '\u{1f6f0} 𝒳 é \u0001' })
    assert.equal(pair.name, '\u{1f6f0} 𝒳 é \u0001', 'whole pairs and other controls pass')
  })

  await t.test('pages out of range are 422 and never clamped', async () => {
    // The operator's drain may be told null; its own test holds its limit.
    const lists = [...operations.values()].filter(
      (op) => op.id !== 'webhooks.drain' && 'limit' in (op.input as unknown as { properties: object }).properties,
    )
    assert.deepEqual(lists.map(({ id }) => id).toSorted(), [
      'alerts.events.list',
      'billing.credits.transactions',
      'billing.invoices.list',
      'billing.jobs.settle_unsettled',
      'billing.stripe_invoices.list',
      'catalog.federated_search',
      'catalog.provider.samples',
      'catalog.search',
      'catalog.search_stream',
      'clip.jobs.list',
      'event_subscriptions.deliveries.list',
      'items.list',
      'items.list_by_collection',
      'items.search',
      'items.search_org',
      'maps.comments.list',
      'maps.list',
      'notifications.list',
      'organizations.audit.list',
      'organizations.invitations.list',
      'processing.jobs.list',
      'processing.project_jobs.list',
      'projects.list',
      'saved_searches.run',
      'share.links.list',
      'stac.search',
      'uploads.list',
      'uploads.parts',
    ])
    const { id: project_id } = await w.ok(owner.token, 'projects.create', { name: 'Windows' })
    const { id: collection_id } = await w.ok(owner.token, 'collections.create', { project_id, name: 'Windows' })
    const wanted = { event_type: 'order.created', endpoint_url: 'https://203.0.114.9/' }
    const { id: subscription_id } = await w.ok(owner.token, 'event_subscriptions.create', wanted)
    const area = { type: 'Polygon', coordinates: [[[2.28, 48.18], [2.32, 48.18], [2.32, 48.22], [2.28, 48.18]]] } // prettier-ignore
    const { saved_search } = await w.ok(owner.token, 'saved_searches.create', { project_id, name: 'Windows', area })
    const { id: upload_id } = await w.ok(owner.token, 'uploads.initiate', { project_id })
    const { id: map_id } = await w.ok(owner.token, 'maps.create', { project_id, name: 'Windows' })
    const places: Record<string, object> = {
      'maps.comments.list': { map_id },
      'saved_searches.run': { saved_search_id: saved_search.id },
      'processing.project_jobs.list': { project_id },
      'items.list': { project_id },
      'items.search': { project_id },
      'items.list_by_collection': { collection_id },
      'uploads.list': { project_id },
      'uploads.parts': { upload_id, file_name: 'windows.tif', size_bytes: 20_000_000 },
      'event_subscriptions.deliveries.list': { subscription_id },
    }
    const staff = await w.serviceToken(organizationId)
    for (const { id, scope, input: schema } of lists) {
      const { limit, offset } = (schema as unknown as { properties: { limit: { maximum: number }; offset?: { maximum: number } } })
        .properties
      const credential = /^(admin|clip):/.test(scope) ? staff : owner.token
      const windows = [
        ['limit', [0, -1, limit.maximum + 1, 1e20, Infinity, 1.5, '10', null, [], true]],
        ...(offset ? [['offset', [-1, offset.maximum + 1, 2 ** 53, Infinity, 0.1, '0', null, {}]] as const] : []),
      ] as const
      for (const [field, values] of windows) {
        for (const value of values) {
          const answer = await send(
            `{"${field}":${value === Infinity ? '1e400' : JSON.stringify(value)}}`,
            { 'content-type': 'application/json', authorization: `Bearer ${credential}` },
            `/v1/op/${id}`,
          )
          expect(answer, 422, 'invalid-input', `${id} ${field} ${JSON.stringify(value)}`)
          assert.ok(
            answer.body.errors.some((error: { field: string }) => error.field === field),
            `${id} ${field}`,
          )
        }
      }
      if (id.startsWith('catalog.')) continue // No vendor answers here; src/domains/catalog asks them for whole pages.
      for (const input of [
        { limit: 1 },
        { limit: limit.maximum, ...(offset ? { offset: 100_000 } : {}) },
        { limit: 1e2, ...(offset ? { offset: 0 } : {}) },
      ])
        assert.equal((await w.call(credential, id, { ...places[id], ...input })).status, 200, JSON.stringify(input))
    }
  })

  await t.test('impossible times are 422, not an internal error', async () => {
    for (const from of [
      '2026-12-31T23:59:60Z',
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01',
      'yesterday',
      '',
      '2026-01-01T00:00:00',
      '2026-01-01T00:00:00+24:00',
    ]) {
      expect(await w.call(owner.token, 'organizations.audit.list', { from }), 422, 'invalid-input', from)
    }
    for (const from of [
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00.123456789Z',
      '2026-01-01T10:00:00+10:00',
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
    ]) {
      assert.equal((await w.call(owner.token, 'organizations.audit.list', { from })).status, 200, from)
    }
  })

  await t.test('an unauthorized caller learns nothing about the body', async () => {
    for (const body of ['{', '[]', '{"unknown":1}']) {
      const answer = await w.request('POST', '/v1/op/projects.list', { headers: { 'content-type': 'application/json' }, body })
      expect(answer, 401, 'unauthorized', body)
    }
  })

  await t.test('malformed HTTP gets a problem response', async () => {
    const port = Number(new URL(w.baseUrl).port)
    assert.match(await overSocket(port, 'GARBAGE\r\n\r\n'), /^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*"code":"bad-request"/)
    assert.match(await overSocket(port, `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
    assert.match(
      await overSocket(
        port,
        'POST /v1/op/projects.list HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
      /^HTTP\/1\.1 400 /,
      'two lengths are a way to smuggle a request',
    )
    const asked = (method: string) => overSocket(port, `${method} /v1/op/projects.list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    assert.match(await asked('FETCH'), /^HTTP\/1\.1 405 [^]*application\/problem\+json[^]*"code":"method-not-allowed"/)
    for (const method of ['QUERY', 'PROPFIND', 'TRACE'])
      assert.match(await asked(method), /^HTTP\/1\.1 405 [^]*allow: POST\r\n[^]*"code":"method-not-allowed"/i, method)
    expect(await w.request('GET', '/%zz'), 400, 'bad-request', 'an address that cannot be decoded')
    expect(await w.request('POST', '/v1/op/%c0%af'), 400, 'bad-request', 'an address that is not UTF-8')
  })
})

function overHttp(
  baseUrl: string,
  headers: Record<string, string>,
  write: (request: http.ClientRequest) => void,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${baseUrl}/v1/op/projects.list`, { method: 'POST', headers, agent: false }, (response) => {
      let body = ''
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          body += chunk
        })
        .on('end', () => {
          request.destroy()
          resolve({ status: response.statusCode!, body })
        })
    })
    let answered = false
    request.on('response', () => {
      answered = true
    })
    request.on('error', (error) => {
      if (!answered) reject(error)
    }) // The server hangs up once it has refused.
    write(request)
  })
}

function overSocket(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
    socket
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        answer += chunk
      })
      .on('close', () => resolve(answer))
      .on('error', (error) => (answer ? resolve(answer) : reject(error)))
  })
}
