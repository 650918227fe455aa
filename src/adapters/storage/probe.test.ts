// Goal: a probe tells whether a store responds, whatever it contains; a missing object or permission is a response. Nobody waits for a
// store that does not respond.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { StorageError } from '#ports/storage.ts'
import { openFileStore } from './files.ts'
import { openS3Store } from './s3.ts'
import { tempFolder, testClock } from './testing/place.ts'
import { fixedSecret } from './signature.ts'

test('a store in a folder', async (t) => {
  const root = path.join(await tempFolder(t), 'objects')
  const store = await openFileStore({
    root,
    publicUrl: () => 'http://127.0.0.1',
    secrets: fixedSecret(randomBytes(32)),
    clock: testClock(),
  })
  await store.probe()
  await rm(root, { recursive: true })
  await assert.rejects(store.probe(), { code: 'ENOENT' })
})

test('a store on S3', async (t) => {
  let status = 404
  const server = http.createServer((_request, response) => void response.writeHead(status).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const store = openS3Store({ url: 's3://bucket/prefix', endpoint, region: '', clock: testClock(), credentials })
  t.after(() => store.close())
  for (status of [404, 403, 200]) await store.probe()
  status = 500
  await assert.rejects(store.probe(), StorageError)
  await store.probe(AbortSignal.timeout(1)).then(
    () => assert.fail('must not outlive its signal'),
    () => {},
  )
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await assert.rejects(store.probe(), StorageError)
})

test('a store on S3 that accepts requests and never answers', async (t) => {
  let requests = 0
  const server = http.createServer(() => void requests++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const store = openS3Store({ url: 's3://bucket', endpoint, region: '', clock: testClock(), credentials, answerMs: 50 })
  t.after(() => store.close())
  const at = { bucket: 'p-1', key: 'a.tif' }
  const calls = [
    () => store.stat(at),
    () => store.list(at.bucket),
    () => store.remove(at),
    () => store.copy(at, at),
    () => store.source(at),
  ]
  for (const call of calls) await assert.rejects(call(), { code: 'unavailable', message: 'The object store did not answer in time' })
  assert.equal(requests, calls.length)
  const caller = AbortSignal.abort(new Error('the caller left'))
  await assert.rejects(store.stat(at, caller), { message: 'the caller left' })
})
