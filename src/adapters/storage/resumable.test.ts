/** Goal: a resumable upload, interrupted anywhere, ends with the exact bytes, and the object appears only then. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { pino } from 'pino'
import { openFileStore } from './files.ts'
import { startStoreListener } from './listener.ts'
import { verifyRequest } from './signature.ts'
import { collect, inChunks, listeningStore, pattern, until, type Place } from './testing/place.ts'
import { beginUpload, raw, readAnswer, requestHead } from './testing/raw.ts'
import { fixedSecret } from './signature.ts'

const TYPE = 'image/tiff'
const TOTAL = 95_000
const PIECE = 10_000
const bytes = pattern(TOTAL)

async function begin(place: Place, key: string, maxBytes = TOTAL, countFor?: string) {
  const at = { bucket: place.bucket, key }
  const file = countFor === undefined ? {} : { countFor }
  const url = await place.store.signPut({ ...at, ...file, contentType: TYPE, maxBytes, expiresInSeconds: 900 })
  const target = url.slice(place.url.length)
  const range = (first: number, end: number, total = TOTAL) => ({
    'Content-Type': TYPE,
    'Content-Range': `bytes ${first}-${end - 1}/${total}`,
  })
  const piece = (first: number, end: number, port = place.port) =>
    raw(port, { method: 'PUT', target, headers: range(first, end), body: bytes.subarray(first, end) })
  const ask = (port = place.port) =>
    raw(port, { method: 'PUT', target, headers: { 'Content-Type': TYPE, 'Content-Range': `bytes */${TOTAL}` }, body: Buffer.alloc(0) })
  /** Sends the rest in chunks from the offset of the store. */
  const finish = async (port = place.port) => {
    for (let round = 0; round <= TOTAL / PIECE + 1; round++) {
      const answer = await ask(port)
      if (answer.status === 200) return answer
      const offset = Number(answer.headers['upload-offset'])
      assert.equal(answer.headers['range'], offset === 0 ? undefined : `bytes=0-${offset - 1}`)
      assert.equal(await place.store.stat(at), null, 'no object before it is complete')
      assert.ok([200, 308].includes((await piece(offset, Math.min(offset + PIECE, TOTAL), port)).status))
    }
    return assert.fail('the upload does not complete')
  }
  const stored = async () => await collect(await place.store.read(at))
  return { at, target, range, piece, ask, finish, stored }
}

test('interrupted between any two chunks, also by a restart: the exact bytes', async (t) => {
  const place = await listeningStore(t)
  const second = await openFileStore({ root: place.root, publicUrl: () => '', secrets: fixedSecret(place.secret), clock: place.clock })
  const listener = await startStoreListener({
    store: second,
    host: '127.0.0.1',
    port: 0,
    secrets: fixedSecret(place.secret),
    clock: place.clock,
    log: pino({ level: 'silent' }),
  })
  t.after(() => listener.close(0))
  for (let pieces = 0; pieces * PIECE < TOTAL; pieces++) {
    for (const port of [place.port, listener.port]) {
      const upload = await begin(place, `boundary-${pieces}-${port}`)
      for (let index = 0; index < pieces; index++) assert.equal((await upload.piece(index * PIECE, (index + 1) * PIECE)).status, 308)
      const { status, headers } = await upload.ask(port)
      assert.deepEqual([status, headers['upload-offset']], [308, String(pieces * PIECE)])
      const done = await upload.finish(port)
      assert.equal(done.headers['etag'], (await place.store.stat(upload.at))?.etag)
      assert.ok(bytes.equals(await upload.stored()))
    }
  }
})

test('the connection lost within every chunk: received bytes are kept, the rest follows, the exact bytes', async (t) => {
  const place = await listeningStore(t)
  for (let first = 0; first < TOTAL; first += PIECE) {
    const upload = await begin(place, `middle-${first}`)
    if (first > 0) assert.equal((await upload.piece(0, first)).status, 308)
    const end = Math.min(first + PIECE, TOTAL)
    const cut = first + 1 + ((first * 7) % (end - first - 1))
    const socket = await beginUpload(
      place.port,
      { target: upload.target, headers: upload.range(first, end), length: end - first },
      bytes.subarray(first, cut),
    )
    await until(async () => Number((await upload.ask()).headers['upload-offset']) === cut)
    socket.destroy()
    const status = await raw(place.port, { method: 'HEAD', target: upload.target })
    assert.deepEqual([status.status, status.headers['upload-offset']], [308, String(cut)])
    await upload.finish()
    assert.ok(bytes.equals(await upload.stored()))
  }
})

test('a client that reconnects while its dead connection still hangs takes over at once', async (t) => {
  const place = await listeningStore(t)
  const upload = await begin(place, 'taken-over')
  const hanging = await beginUpload(
    place.port,
    { target: upload.target, headers: upload.range(0, TOTAL), length: TOTAL },
    bytes.subarray(0, 30_000),
  )
  const closed = once(hanging, 'close')
  await until(async () => Number((await upload.ask()).headers['upload-offset']) === 30_000)
  const { status } = await upload.piece(0, TOTAL)
  assert.equal(status, 200)
  await closed
  assert.ok(bytes.equals(await upload.stored()))
})

test('repeated and overlapping chunks are harmless; a gap, a wrong length and too many bytes are rejected', async (t) => {
  const place = await listeningStore(t)
  const upload = await begin(place, 'overlapping')
  assert.equal((await upload.piece(0, 20_000)).status, 308)
  assert.equal((await upload.piece(0, 20_000)).headers['upload-offset'], '20000')
  assert.equal((await upload.piece(5_000, 30_000)).headers['upload-offset'], '30000')
  const gap = await upload.piece(30_001, 40_000)
  assert.deepEqual([gap.status, gap.headers['upload-offset'], JSON.parse(gap.body.toString()).code], [409, '30000', 'upload-offset'])
  const short = await raw(place.port, {
    method: 'PUT',
    target: upload.target,
    headers: upload.range(30_000, 40_000),
    body: bytes.subarray(30_000, 39_999),
  })
  assert.equal(short.status, 400)
  const large = await raw(place.port, {
    method: 'PUT',
    target: upload.target,
    headers: upload.range(30_000, 40_000, TOTAL + 1),
    body: bytes.subarray(30_000, 40_000),
  })
  assert.equal(large.status, 413)
  assert.equal(
    (
      await raw(place.port, {
        method: 'PUT',
        target: upload.target,
        headers: { 'Content-Type': TYPE, 'Content-Range': `bytes */${TOTAL}` },
        body: bytes.subarray(0, 5),
      })
    ).status,
    400,
  )
  await upload.finish()
  assert.ok(bytes.equals(await upload.stored()))
})

test('a client that lost the last response learns that the upload is complete', async (t) => {
  const place = await listeningStore(t)
  const upload = await begin(place, 'answered')
  await upload.piece(0, 90_000)
  const last = await upload.piece(90_000, TOTAL)
  assert.equal(last.status, 200)
  for (const again of [
    await upload.ask(),
    await raw(place.port, { method: 'HEAD', target: upload.target }),
    await upload.piece(90_000, TOTAL),
  ]) {
    assert.deepEqual([again.status, again.headers['etag']], [200, last.headers['etag']])
  }
  place.clock.shift(901)
  assert.equal((await upload.ask()).status, 403)
})

test('a store killed between the last byte and the commit completes the upload at the next query', async (t) => {
  const place = await listeningStore(t)
  const upload = await begin(place, 'uncommitted')
  await place.store.uploads.append(verifyRequest(place.secret, upload.target)!.id, 0, inChunks(bytes, 1_000))
  assert.equal((await raw(place.port, { method: 'HEAD', target: upload.target })).headers['upload-offset'], String(TOTAL))
  assert.equal((await upload.ask()).status, 200)
  assert.ok(bytes.equals(await upload.stored()))
})

test("every URL of a session's file resumes where the last one stopped, also after it expired", async (t) => {
  const place = await listeningStore(t)
  let upload = await begin(place, 'long', TOTAL, 'file-1')
  for (let first = 0; first < TOTAL; first += PIECE) {
    place.clock.shift(1_000)
    assert.equal((await upload.piece(first, Math.min(first + PIECE, TOTAL))).status, 403, 'the URL has expired')
    upload = await begin(place, 'long', TOTAL + first, 'file-1')
    const query = await upload.ask()
    assert.deepEqual([query.status, query.headers['upload-offset']], [308, String(first)])
    const head = await raw(place.port, { method: 'HEAD', target: upload.target })
    assert.deepEqual([head.status, head.headers['upload-offset']], [308, String(first)])
    assert.ok([200, 308].includes((await upload.piece(first, Math.min(first + PIECE, TOTAL))).status))
  }
  assert.ok(bytes.equals(await upload.stored()))
  place.clock.shift(1_000)
  assert.equal((await (await begin(place, 'long', TOTAL, 'file-1')).ask()).status, 200, 'a new URL reports that it is complete')
})

test('a file with another length, and another file, start a new upload', async (t) => {
  const place = await listeningStore(t)
  const first = await begin(place, 'changed', TOTAL, 'file-1')
  assert.equal((await first.piece(0, 20_000)).status, 308)
  const other = await begin(place, 'changed', TOTAL, 'file-2')
  assert.equal((await other.ask()).headers['upload-offset'], '0')
  const shorter = await raw(place.port, {
    method: 'PUT',
    target: first.target,
    headers: { 'Content-Type': TYPE, 'Content-Range': 'bytes */15000' },
    body: Buffer.alloc(0),
  })
  assert.deepEqual([shorter.status, shorter.headers['upload-offset']], [308, '0'])
  const whole = await raw(place.port, {
    method: 'PUT',
    target: first.target,
    headers: first.range(0, 15_000, 15_000),
    body: bytes.subarray(0, 15_000),
  })
  assert.equal(whole.status, 200)
  assert.ok(bytes.subarray(0, 15_000).equals(await first.stored()))
  assert.equal((await first.piece(20_000, TOTAL)).status, 200, 'the bytes of the longer one are kept')
  assert.ok(bytes.equals(await first.stored()))
})

test('two uploads of the same object through two URLs: one of them, complete', async (t) => {
  const place = await listeningStore(t)
  const first = await begin(place, 'same')
  place.clock.shift(1) // Another second, another URL.
  const second = await begin(place, 'same')
  const other = pattern(TOTAL, 2)
  for (let start = 0; start < TOTAL; start += PIECE) {
    const end = Math.min(start + PIECE, TOTAL)
    await Promise.all([
      first.piece(start, end),
      raw(place.port, { method: 'PUT', target: second.target, headers: second.range(start, end), body: other.subarray(start, end) }),
    ])
  }
  const stored = await first.stored()
  assert.ok(bytes.equals(stored) || other.equals(stored))
})

test('a client that sends Expect: 100-continue gets it, or the reason why not', async (t) => {
  const place = await listeningStore(t)
  const upload = await begin(place, 'expecting')
  for (const [length, expected] of [
    [TOTAL, 'HTTP/1.1 100'],
    [TOTAL + 1, 'HTTP/1.1 413'],
  ] as const) {
    const socket = connect(place.port, '127.0.0.1')
    const answered = readAnswer(socket)
    const [first] = await Promise.all([
      once(socket, 'data'),
      socket.write(
        requestHead({ method: 'PUT', target: upload.target, headers: { 'Content-Type': TYPE, Expect: '100-continue' } }, length),
      ),
    ])
    assert.ok(String(first[0]).startsWith(expected), String(first[0]))
    if (length === TOTAL) socket.write(bytes)
    await answered
  }
  assert.ok(bytes.equals(await upload.stored()))
})
