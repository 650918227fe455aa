/**
 * Goal: the S3 adapter passes the same suite as the embedded store, against a real S3-compatible server. It needs one:
 * `test/s3/server.sh` installs and starts it, and prints what to set.
 */
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { newId } from '#core/ids.ts'
import { StorageError } from '#ports/storage.ts'
import { openS3Store } from './s3.ts'
import { collect, inChunks, pattern, testClock } from './testing/place.ts'
import { storageSuite } from './testing/suite.ts'

const TYPE = 'image/tiff'
const BUCKET = 'groundtrack-test'
const PART_BYTES = 5 * 2 ** 20
const endpoint = process.env['TEST_S3_ENDPOINT'] ?? ''
const credentials = {
  accessKeyId: process.env['TEST_S3_KEY'] ?? 'groundtrack',
  secretAccessKey: process.env['TEST_S3_SECRET'] ?? 'groundtrack-secret',
}

async function open(t: TestContext, more: { maxSingleCopyBytes?: number; endpoint?: string } = {}) {
  const clock = testClock()
  const store = openS3Store({ url: `s3://${BUCKET}/test/${newId()}`, endpoint, region: '', clock, credentials, ...more })
  t.after(() => store.close())
  return { store, clock }
}

if (endpoint === '') {
  test('S3 storage suite', { skip: 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' }, () => {})
} else {
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
    if (!/BucketAlready/.test(error.name)) throw error
  })
  after(() => client.destroy())
  storageSuite('s3', open)

  test('a failed multipart upload leaves no billable parts behind', async (t) => {
    const { store } = await open(t)
    const broken = async function* () {
      yield* inChunks(pattern(40 * 2 ** 20), 2 ** 20)
      throw new Error('the sender is gone')
    }
    await assert.rejects(store.put({ bucket: 'broken', key: 'never' }, broken(), { contentType: TYPE }), /the sender is gone/)
    const key = store.uriOf({ bucket: 'broken', key: 'never' }).replace(`s3://${BUCKET}/`, '')
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))
    assert.deepEqual(
      Uploads.filter(({ Key }) => Key === key),
      [],
    )
  })

  test('a large object is copied in parts, inside the service', async (t) => {
    const { store } = await open(t, { maxSingleCopyBytes: PART_BYTES })
    const bytes = pattern(2 * PART_BYTES + 12_345)
    await store.put({ bucket: 'from', key: 'large' }, inChunks(bytes, 2 ** 20), { contentType: TYPE })
    const copied = await store.copy({ bucket: 'from', key: 'large' }, { bucket: 'target', key: 'copy' })
    assert.deepEqual([copied.size, copied.contentType], [bytes.length, TYPE])
    assert.ok(bytes.equals(await collect(await store.read({ bucket: 'target', key: 'copy' }))))
    for (const bucket of ['from', 'target']) await store.deleteBucket(bucket)
  })
}

test('presigned URLs sign the type and the host, contain no checksum, and name the object by its path', async (t) => {
  const { store } = await open(t, { endpoint: 'https://objects.example' })
  const put = new URL(await store.signPut({ bucket: 'one', key: 'a/b.tif', contentType: TYPE, expiresInSeconds: 900 }))
  assert.equal(put.searchParams.get('X-Amz-SignedHeaders'), 'content-type;host')
  assert.equal(put.searchParams.get('X-Amz-Expires'), '900')
  assert.ok(![...put.searchParams.keys()].some((name) => /checksum/i.test(name)), put.search)
  assert.match(put.pathname, /^\/groundtrack-test\/test\/[0-9a-f-]{36}\/one\/a\/b\.tif$/)
  const get = new URL(await store.signGet({ bucket: 'one', key: 'a/b.tif', fileName: 'b.tif', expiresInSeconds: 60 }))
  assert.equal(get.searchParams.get('response-content-disposition'), 'attachment; filename="b.tif"')
  assert.match(store.uriOf({ bucket: 'one', key: 'a/b.tif' }), /^s3:\/\/groundtrack-test\/test\/[0-9a-f-]{36}\/one\/a\/b\.tif$/)
})

test('an unreachable service is unavailable, not an internal error', async (t) => {
  const { store } = await open(t, { endpoint: 'http://127.0.0.1:1' })
  await assert.rejects(
    store.stat({ bucket: 'one', key: 'x' }),
    (error: unknown) => error instanceof StorageError && error.code === 'unavailable',
  )
})
