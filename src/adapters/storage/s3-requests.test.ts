/**
 * Goal: what we send to S3 depends on two settings. Signed URLs for clients name the public endpoint, and those for our own processes the
 * other one; every request that creates an object asks for the configured encryption, and no signed URL makes clients send a header more.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openS3Store, type S3StoreOptions } from './s3.ts'
import { testClock } from './testing/place.ts'

const AT = { bucket: 'tests', key: 'a.tif' }
const TYPE = 'image/tiff'
const KMS = { algorithm: 'aws:kms', kmsKey: 'key-1' } as const
const SIZE = 100

interface Sent {
  request: string
  encryption: string | undefined
  key: string | undefined
}

/** Answers like S3, as far as needed, and notes what was asked for: no server that can run here tells both. */
async function listener(t: TestContext): Promise<{ endpoint: string; sent: Sent[] }> {
  const sent: Sent[] = []
  const bodyOf = ({ method, url = '', headers }: IncomingMessage): string => {
    if (method === 'POST' && url.includes('uploads'))
      return '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'
    if (method === 'PUT' && headers['x-amz-copy-source']) return '<CopyObjectResult><ETag>"2"</ETag></CopyObjectResult>'
    return ''
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { method = '', url = '', headers } = request
      const one = (name: string) => headers[name] as string | undefined
      const what = method === 'PUT' && one('x-amz-copy-source') ? 'COPY' : method === 'POST' && url.includes('uploads') ? 'CREATE' : method
      sent.push({ request: what, encryption: one('x-amz-server-side-encryption'), key: one('x-amz-server-side-encryption-aws-kms-key-id') })
      response.setHeader('etag', '"1"')
      response.setHeader('last-modified', new Date(0).toUTCString())
      if (method === 'HEAD') return response.setHeader('content-length', SIZE).end()
      return response.end(bodyOf(request))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

async function open(t: TestContext, more: Partial<S3StoreOptions>) {
  const { endpoint, sent } = await listener(t)
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' }
  const store = openS3Store({ url: 's3://imagery/p', endpoint, region: '', clock: testClock(), credentials, ...more })
  t.after(() => store.close())
  return { store, sent, endpoint }
}

test('signed URLs name the public endpoint', async (t) => {
  const { store, endpoint } = await open(t, { publicEndpoint: 'https://files.example' })
  const part = { ...AT, id: 'u1', number: 1, partBytes: 10, totalBytes: 15, expiresInSeconds: 60 }
  const urls = [
    await store.signGet({ ...AT, expiresInSeconds: 60 }),
    await store.signPut({ ...AT, contentType: TYPE, expiresInSeconds: 60 }),
    await store.multipart.signPart(part),
  ]
  for (const url of urls) {
    assert.match(url, /^https:\/\/files\.example\/imagery\/p\/tests\/a\.tif\?/)
    assert.match(url, /X-Amz-SignedHeaders=(content-(type|length)%3B)?host(&|$)/, 'the host is signed')
  }
  assert.ok((await store.signGet({ ...AT, isInternal: true, expiresInSeconds: 60 })).startsWith(`${endpoint}/imagery/p/`))
  assert.deepEqual(
    ['https://files.example/x', `${endpoint}/x`, 'https://other.example/x'].map((url) => store.owns(new URL(url))),
    [true, true, false],
  )
})

test('every object is created with the configured encryption', async (t) => {
  const { store, sent } = await open(t, { encryption: KMS })
  await store.put(AT, Buffer.alloc(SIZE), { contentType: TYPE })
  await store.copy(AT, { ...AT, key: 'b.tif' })
  await store.multipart.create(AT, TYPE)
  const created = sent.filter(({ request }) => ['PUT', 'COPY', 'CREATE'].includes(request))
  const asked = { encryption: 'aws:kms', key: 'key-1' }
  assert.deepEqual(created, [
    { request: 'PUT', ...asked },
    { request: 'COPY', ...asked },
    { request: 'CREATE', ...asked },
  ])
  assert.doesNotMatch(await store.signPut({ ...AT, contentType: TYPE, expiresInSeconds: 60 }), /server-side-encryption/)
})

test('without the setting, the bucket decides', async (t) => {
  const { store, sent } = await open(t, {})
  await store.put(AT, Buffer.alloc(SIZE), { contentType: TYPE })
  await store.copy(AT, { ...AT, key: 'b.tif' })
  assert.ok(sent.every(({ encryption, key }) => encryption === undefined && key === undefined))
})
