/** Goal: the store's listener implements HTTP as browsers, GDAL and download managers expect, and wastes nothing on clients that do not. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { startStoreListener } from './listener.ts'
import { isSameVersion, parseRange } from './range.ts'
import { listeningStore, pattern, until } from './testing/place.ts'
import { beginUpload, raw, readAnswer, requestHead } from './testing/raw.ts'

const TYPE = 'image/tiff'
const SIZE = 10_000
const bytes = pattern(SIZE)

async function withObject(t: TestContext, options: Parameters<typeof listeningStore>[1] = {}) {
  const place = await listeningStore(t, options)
  const at = { bucket: place.bucket, key: 'a/object.tif' }
  const { etag } = await place.store.put(at, bytes, { contentType: TYPE })
  const url = await place.store.signGet({ ...at, expiresInSeconds: 900 })
  const putUrl = await place.store.signPut({ bucket: place.bucket, key: 'new', contentType: TYPE, maxBytes: SIZE, expiresInSeconds: 900 })
  const get = async (headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(url, { method, headers })
    return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
  }
  return {
    ...place,
    origin: place.url,
    at,
    etag,
    url,
    putUrl,
    target: url.slice(place.url.length),
    putTarget: putUrl.slice(place.url.length),
    get,
  }
}

test('every Range header returns the bytes that RFC 9110 specifies', async (t) => {
  const { get } = await withObject(t)
  const number = fc.oneof(fc.nat(SIZE + 20), fc.constantFrom(0, SIZE - 1, SIZE, 2 ** 40))
  const header = fc.oneof(
    fc.tuple(number, number).map(([a, b]) => `bytes=${a}-${b}`),
    number.map((a) => `bytes=${a}-`),
    number.map((n) => `bytes=-${n}`),
  )
  await fc.assert(
    fc.asyncProperty(header, async (range) => {
      const { status, headers, body } = await get({ Range: range })
      const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range)!
      const start = first === '' ? Math.max(SIZE - Number(last), 0) : Number(first)
      const end = first === '' || last === '' ? SIZE : Math.min(Number(last) + 1, SIZE)
      if (first !== '' && last !== '' && Number(last) < Number(first)) return assert.equal(status, 200)
      if (start >= SIZE || (first === '' && last === '0')) {
        assert.deepEqual([status, headers.get('content-range')], [416, `bytes */${SIZE}`])
        return
      }
      assert.deepEqual([status, headers.get('content-range')], [206, `bytes ${start}-${end - 1}/${SIZE}`])
      assert.ok(bytes.subarray(start, end).equals(body))
    }),
    { numRuns: 300 },
  )
})

test('several ranges, other units and invalid ranges return the whole object', async (t) => {
  const { get } = await withObject(t)
  for (const range of [
    'bytes=0-1,5-6',
    'bytes=0-1, 5-6',
    'items=0-1',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes 0-1',
    `bytes=${Array.from({ length: 300 }, (_, n) => `${n}-`).join(',')}`,
  ]) {
    const { status, body } = await get({ Range: range })
    assert.equal(status, 200, range)
    assert.ok(bytes.equals(body))
  }
  assert.deepEqual(parseRange('BYTES=0-1', 10), { first: 0, last: 1 })
  assert.equal(parseRange('bytes=0-', 0), 'unsatisfiable')
})

test('an interrupted download resumes only on the same version', async (t) => {
  const { get, etag, store, at } = await withObject(t)
  const headers = { Range: 'bytes=4000-', 'If-Range': etag }
  assert.equal((await get(headers)).status, 206)
  assert.equal((await get({ ...headers, 'If-Range': (await store.stat(at))!.lastModified.toUTCString() })).status, 206)
  for (const other of ['"other"', `W/${etag}`, new Date(0).toUTCString()])
    assert.equal((await get({ ...headers, 'If-Range': other })).status, 200, other)
  await store.put(at, pattern(SIZE, 2), { contentType: TYPE })
  const changed = await get(headers)
  assert.equal(changed.status, 200)
  assert.ok(pattern(SIZE, 2).equals(changed.body))
  assert.equal(isSameVersion(undefined, etag, new Date()), true)
})

test('conditional requests: not modified, precondition failed', async (t) => {
  const { get, etag } = await withObject(t)
  for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const { status, body, headers } = await get({ 'If-None-Match': tag })
    assert.deepEqual([status, body.length, headers.get('etag')], [304, 0, etag])
  }
  assert.equal((await get({ 'If-None-Match': '"x"' })).status, 200)
  assert.equal((await get({ 'If-Match': etag })).status, 200)
  const failed = await get({ 'If-Match': '"x"' })
  assert.deepEqual([failed.status, JSON.parse(failed.body.toString()).code], [412, 'precondition-failed'])
})

test('HEAD returns the headers of GET; a user file never runs as a page', async (t) => {
  const { get, etag, store, at, url } = await withObject(t)
  const [head, whole] = [await get({}, 'HEAD'), await get()]
  assert.equal(head.body.length, 0)
  for (const name of ['etag', 'content-length', 'content-type', 'accept-ranges', 'last-modified', 'content-disposition'])
    assert.equal(head.headers.get(name), whole.headers.get(name), name)
  assert.deepEqual(
    ['etag', 'content-length', 'content-type', 'accept-ranges'].map((name) => head.headers.get(name)),
    [etag, String(SIZE), TYPE, 'bytes'],
  )
  assert.equal(head.headers.get('content-disposition'), 'attachment')
  assert.equal(head.headers.get('x-content-type-options'), 'nosniff')
  assert.match(head.headers.get('content-security-policy') ?? '', /default-src 'none'; sandbox/)
  await store.put(at, Buffer.alloc(0), { contentType: 'text/html' })
  const empty = await fetch(url)
  assert.deepEqual([empty.status, empty.headers.get('content-length'), (await empty.arrayBuffer()).byteLength], [200, '0', 0])
})

test('a browser can upload and download from any origin', async (t) => {
  const { url, putUrl, get } = await withObject(t)
  const preflight = await fetch(putUrl, {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://example.com',
      'Access-Control-Request-Method': 'PUT',
      'Access-Control-Request-Headers': 'content-type,content-range',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /\bPUT\b/)
  for (const name of ['Content-Type', 'Content-Range', 'Range'])
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', new RegExp(`\\b${name}\\b`))
  const refused = await fetch(url.slice(0, -1), { headers: { Origin: 'https://example.com' } })
  for (const headers of [(await get()).headers, refused.headers]) {
    assert.equal(headers.get('access-control-allow-origin'), '*')
    for (const name of ['ETag', 'Content-Range', 'Content-Length', 'Upload-Offset'])
      assert.match(headers.get('access-control-expose-headers') ?? '', new RegExp(name))
  }
})

test('errors are problem documents that say what to do and reveal nothing about the machine', async (t) => {
  const place = await withObject(t, { baseUrl: () => 'https://api.example' })
  const missing = (await place.store.signGet({ bucket: place.bucket, key: 'missing', expiresInSeconds: 60 })).slice(place.origin.length)
  const type = { 'Content-Type': TYPE }
  const cases: [number, string, Parameters<typeof raw>[1]][] = [
    [404, 'not-found', { target: '/' }],
    [404, 'not-found', { target: missing }],
    [403, 'invalid-signature', { target: `${place.target}x` }],
    [403, 'invalid-signature', { target: `/objects/${'a'.repeat(5_000)}` }],
    [403, 'invalid-signature', { method: 'PUT', target: place.putTarget, headers: { 'Content-Type': 'text/html' }, body: bytes }],
    [405, 'method-not-allowed', { method: 'DELETE', target: place.target }],
    [411, 'length-required', { method: 'PUT', target: place.putTarget, headers: type }],
    [
      411,
      'length-required',
      {
        method: 'PUT',
        target: place.putTarget,
        headers: { ...type, 'Transfer-Encoding': 'chunked' },
        body: Buffer.from('1\r\nx\r\n0\r\n\r\n'),
      },
    ],
    [413, 'object-too-large', { method: 'PUT', target: place.putTarget, headers: type, body: pattern(SIZE + 1) }],
    [
      400,
      'bad-request',
      {
        method: 'PUT',
        target: place.putTarget,
        headers: [
          ['Content-Type', TYPE],
          ['Content-Type', 'text/html'],
        ],
        body: bytes,
      },
    ],
    [400, 'bad-request', { target: place.target, body: bytes }],
  ]
  for (const [status, code, sent] of cases) {
    const answer = await raw(place.port, sent)
    assert.equal(answer.status, status, `${sent.method} ${sent.target}: ${answer.body}`)
    assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/)
    const document = JSON.parse(answer.body.toString()) as Record<string, unknown>
    assert.deepEqual([document['code'], document['status'], document['type']], [code, status, `https://api.example/problems/${code}`])
    assert.ok(!answer.body.includes(place.folder))
  }
  assert.equal(await place.store.stat({ bucket: place.bucket, key: 'new' }), null)
})

test('a rejected large upload gets the reason, not a reset', async (t) => {
  const { putUrl, store, bucket } = await withObject(t)
  const { hostname, port, pathname, search } = new URL(putUrl)
  for (const connection of ['close', 'keep-alive']) {
    const outgoing = request({
      hostname,
      port,
      path: pathname + search,
      method: 'PUT',
      headers: { 'Content-Type': 'text/html', 'Content-Length': 8 * 2 ** 20, Connection: connection },
    })
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
    outgoing.end(pattern(8 * 2 ** 20)) // All of it, whatever the response is.
    const [response] = await answered
    assert.equal(response.statusCode, 403)
    response.resume()
    await once(response, 'close')
  }
  assert.equal(await store.stat({ bucket, key: 'new' }), null)
})

test('an internal error is a 500 without details; the log has all but the signature', async (t) => {
  const place = await withObject(t)
  place.store.open = async () => {
    throw new Error(`EIO at ${place.folder}`)
  }
  const answer = await raw(place.port, { target: place.target })
  assert.deepEqual([answer.status, JSON.parse(answer.body.toString()).code], [500, 'internal-error'])
  assert.ok(!answer.body.includes(place.folder))
  assert.ok(place.logLines.some((line) => line.includes('EIO')))
  assert.ok(!place.logLines.some((line) => line.includes('signature=')))
})

test('connections that are too slow are closed, others are not', async (t) => {
  const looks = new Set<() => void>()
  const windowEnds = () => looks.forEach((look) => look())
  const each = (_windowMs: number, look: () => void) => {
    looks.add(look)
    return () => looks.delete(look)
  }
  const place = await withObject(t, { pace: { windowMs: 60_000, minBytes: 1_000, each } })
  const sender = await beginUpload(
    place.port,
    { target: place.putTarget, headers: { 'Content-Type': TYPE }, length: SIZE },
    bytes.subarray(0, 100),
  )
  await until(async () => (await readdir(path.join(place.root, '.incoming'))).length > 0)
  windowEnds() // The request itself may have arrived in the first window.
  windowEnds()
  const answer = await readAnswer(sender)
  assert.equal(answer.status, 408, 'the response gives the reason')
  await until(async () => (await readdir(path.join(place.root, '.incoming'))).length === 0) // Nothing is left behind.
  assert.equal(await place.store.stat({ bucket: place.bucket, key: 'new' }), null)

  const large = { bucket: place.bucket, key: 'large' }
  await place.store.put(large, pattern(40 * 2 ** 20), { contentType: TYPE })
  const reader = connect(place.port, '127.0.0.1')
  reader.write(requestHead({ target: (await place.store.signGet({ ...large, expiresInSeconds: 900 })).slice(place.origin.length) }))
  await once(reader, 'readable') // The response has started; now its buffers fill up until nothing moves any more.
  const log = () =>
    place.logLines
      .map((line) => JSON.parse(line) as { object?: string; complete?: boolean })
      .find(({ object }) => object?.endsWith('/large'))
  await until(() => {
    windowEnds()
    return log() !== undefined
  })
  assert.equal(log()!.complete, false)
  reader.destroy()
  assert.equal((await raw(place.port, { target: place.target })).status, 200)
})

test('closing lets a running upload finish, and aborts one that does not', async (t) => {
  for (const doesFinish of [true, false]) {
    const place = await withObject(t)
    const listener = await startStoreListener({ ...place, host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) })
    const socket = await beginUpload(
      listener.port,
      { target: place.putTarget, headers: { 'Content-Type': TYPE }, length: SIZE },
      bytes.subarray(0, 100),
    )
    await until(async () => (await readdir(path.join(place.root, '.incoming'))).length > 0) // The upload has started.
    const answered = readAnswer(socket)
    const closed = listener.close(doesFinish ? 60_000 : 0)
    if (doesFinish) socket.write(bytes.subarray(100))
    assert.equal((await answered).status, doesFinish ? 200 : 0)
    await closed
  }
})
