/** Goal: the memory of the process that stores and sends a large object does not grow with the object. */
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { systemClock } from '#core/clock.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { openFileStore } from './files.ts'
import { pattern, tempFolder } from './testing/place.ts'
import { fixedSecret } from './signature.ts'

const MB = 2 ** 20
const OBJECT_BYTES = Number(process.env['TEST_STORE_BYTES'] ?? campaign({ short: 200, long: 300 }) * MB)
const WARM_UP_BYTES = 24 * MB
/** Far below the size of the object, far above buffers and the variance of garbage collection. */
const MAX_GROWTH_BYTES = 96 * MB
const TYPE = 'image/tiff'

const block = pattern(MB)
function* blocks(size: number): Iterable<Buffer> {
  for (let sent = 0; sent < size; sent += block.length) yield block.subarray(0, Math.min(block.length, size - sent))
}

async function upload(port: number, target: string, size: number): Promise<number> {
  const outgoing = request({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    path: target,
    headers: { 'Content-Type': TYPE, 'Content-Length': size },
  })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(Readable.from(blocks(size)), outgoing)
  const [response] = await answered
  response.resume()
  return response.statusCode!
}

async function download(port: number, target: string): Promise<string> {
  const outgoing = request({ port, host: '127.0.0.1', path: target }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const hash = createHash('sha256')
  for await (const chunk of response as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

async function peakRss(child: ChildProcess): Promise<number> {
  child.send('how much')
  const [{ peakRss: bytes }] = (await once(child, 'message')) as [{ peakRss: number }]
  return bytes
}

test(`a PUT and a GET of ${Math.round(OBJECT_BYTES / MB)} MB do not increase the memory of the store`, async (t) => {
  const root = path.join(await tempFolder(t), 'objects')
  const secret = randomBytes(32)
  const store = await openFileStore({ root, publicUrl: () => '', secrets: fixedSecret(secret), clock: systemClock })
  await store.createBucket('bucket')
  const child = fork(path.join(import.meta.dirname, 'testing/child.ts'), ['serve', root, secret.toString('hex')])
  t.after(() => child.kill('SIGKILL'))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const roundTrip = async (key: string, size: number) => {
    const at = { bucket: 'bucket', key, expiresInSeconds: 3_600 }
    assert.equal(await upload(port, await store.signPut({ ...at, contentType: TYPE, maxBytes: size }), size), 200)
    return await download(port, await store.signGet(at))
  }
  await roundTrip('small', WARM_UP_BYTES)
  const before = await peakRss(child)
  const startedAtMs = performance.now()
  const received = await roundTrip('large', OBJECT_BYTES)
  const seconds = (performance.now() - startedAtMs) / 1000
  const after = await peakRss(child)
  const sent = createHash('sha256')
  for (const chunk of blocks(OBJECT_BYTES)) sent.update(chunk)
  assert.equal(received, sent.digest('hex'))
  t.diagnostic(
    `peak ${Math.round(before / MB)} MB after ${WARM_UP_BYTES / MB} MB, ${Math.round(after / MB)} MB after ` +
      `${Math.round(OBJECT_BYTES / MB)} MB, up and down in ${seconds.toFixed(1)} s`,
  )
  assert.ok(after - before < MAX_GROWTH_BYTES, `grew by ${Math.round((after - before) / MB)} MB`)
})
