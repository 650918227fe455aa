/**
 * Goal: the platform on S3: bytes go to presigned addresses, files are checked, converted and swept, and tiles are drawn
 * from objects that the raster service reads by signed address. It needs an S3 server: `test/s3/server.sh` starts one.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { openS3Store } from '#adapters/storage/s3.ts'
import { systemClock } from '#core/clock.ts'
import sweep from '#domains/assets/sweep.task.ts'
import clear from '#domains/uploads/clear.task.ts'
import convert from '#domains/uploads/convert.task.ts'
import { newId } from '#core/ids.ts'
import { Groundtrack, type UploadState } from '../../packages/client/src/index.ts'
import { scene, tileAt } from '../support/scene.ts'
import { striped } from '../support/tiff.ts'
import { world } from '../support/world.ts'

const BUCKET = 'groundtrack-test'
const endpoint = process.env['TEST_S3_ENDPOINT'] ?? ''
const credentials = { accessKeyId: process.env['TEST_S3_KEY'] ?? '', secretAccessKey: process.env['TEST_S3_SECRET'] ?? '' }

async function store(t: TestContext) {
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
  t.after(() => client.destroy())
  await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
    if (!/BucketAlready/.test(error.name)) throw error
  })
  // A signature is held against the server's clock, which no test can set.
  return openS3Store({ url: `s3://${BUCKET}/platform/${newId()}`, endpoint, region: '', clock: systemClock, credentials })
}

test(
  'uploads, tiles and the sweep on S3',
  { skip: endpoint === '' ? 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' : false },
  async (t) => {
    const storage = await store(t)
    const w = await world(t, { storage, startAt: new Date().toISOString() })
    const org = await w.organization()
    const { token } = org.owner
    const cog = await scene()
    const { status, body } = await w.upload(token, org.projectId, { 'cog.tif': cog, 'plain.tif': striped({ bandCount: 3 }) })
    assert.equal(status, 200, JSON.stringify(body))
    const [shown, waiting] = body.item_ids
    const tile = (item_id: string, place: [number, number], z: number) =>
      w.call(token, 'items.tile.render', { item_id, ...tileAt(...place, z), format: 'png' })
    assert.equal((await tile(shown, [151.1, -33.1], 10)).status, 200, 'a COG is read by signed address')
    assert.equal((await tile(waiting, [151.03, -33.03], 14)).body.code, 'asset-not-ready')

    assert.equal(await w.drain(convert), 1)
    const { files } = await w.ok(token, 'uploads.progress', { upload_id: body.id })
    assert.deepEqual(
      files.map((file: { state: string; error: string | null }) => [file.state, file.error]),
      [
        ['ready', null],
        ['ready', null],
      ],
    )
    assert.match(files[0].object_path, /^s3:\/\/groundtrack-test\/platform\//)
    const drawn = await tile(waiting, [151.03, -33.03], 14)
    assert.equal(drawn.status, 200)
    const again = await w.call(
      token,
      'items.tile.render',
      { item_id: waiting, ...tileAt(151.03, -33.03, 14), format: 'png' },
      { 'if-none-match': drawn.headers.get('etag')! },
    )
    assert.equal(again.status, 304)

    await t.test('a file that is not a raster is rejected and removed', async () => {
      const refused = await w.upload(token, org.projectId, { 'picture.tif': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') })
      assert.deepEqual([refused.status, refused.body.code], [422, 'unreadable-raster'])
    })

    await t.test(
      'a large file is uploaded in parts, and resumes at its offset after an interruption, a restart and any delay',
      async (t) => {
        const large = striped({ bandCount: 4, width: 4_000, height: 4_000 })
        const { key } = await w.key(token, ['write'])
        const gt = new Groundtrack({ baseUrl: w.baseUrl, apiKey: key })
        const real = globalThis.fetch
        const puts: number[] = []
        let arrived = 0
        let isCut = true
        t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
          if (init.method !== 'PUT') return await real(url, init)
          if (isCut && puts.length === 2) throw new TypeError('fetch failed')
          puts.push(Number(new URL(url).searchParams.get('partNumber')))
          const response = await real(url, init)
          arrived++
          return response
        })
        const options = { projectId: org.projectId, files: [{ name: 'large.tif', data: new Blob([large as never]) }] }
        const stop = new AbortController()
        let state: UploadState | null = null
        const cut = gt.upload({
          ...options,
          signal: stop.signal,
          onState: (known) => (state = structuredClone(known)),
          onProgress: () => {
            if (arrived === 2 && isCut) stop.abort(new Error('the machine is switched off'))
          },
        })
        await assert.rejects(cut, /switched off/)
        const file = { upload_id: state!.uploadId, file_name: 'large.tif', content_type: 'image/tiff', size_bytes: large.length }
        const { received, parts } = await gt.uploads.parts(file)
        assert.deepEqual([received.map(({ number }) => number).toSorted(), parts.length], [puts.toSorted(), 2], 'two parts have arrived')
        const next = await gt.uploads.signedUrl(file)
        assert.equal(next.part?.offset, parts[0]!.offset, 'a client that sends one part after another goes on with the same upload')
        await assert.rejects(gt.uploads.complete({ upload_id: state!.uploadId }), /has not been uploaded yet/)
        isCut = false
        const steps: number[] = []
        const upload = await new Groundtrack({ baseUrl: w.baseUrl, apiKey: key }).upload({
          ...options,
          resume: state!,
          onProgress: ({ sentBytes }) => steps.push(sentBytes),
        })
        assert.deepEqual(puts.toSorted(), [1, 2, 3, 4], 'no part is sent twice')
        assert.equal(steps[0], 2 * 16 * 1024 * 1024)
        const { storage_reserved_bytes } = await w.ok(token, 'usage.current')
        assert.equal(storage_reserved_bytes, 0)
        assert.equal(await w.drain(convert), 1)
        const { files: after } = await w.ok(token, 'uploads.progress', { upload_id: upload.id })
        assert.deepEqual([after[0].state, after[0].error], ['ready', null])
        await w.ok(token, 'items.delete', { item_id: upload.item_ids[0] })
      },
    )

    await t.test('signed URLs are renewed, and the same image is identical an hour later', async () => {
      const { key } = await w.key(token, ['read'])
      w.clock.advance({ hours: 1, minutes: 5 })
      const later = await w.call(key, 'items.tile.render', { item_id: waiting, ...tileAt(151.03, -33.03, 14), format: 'png' })
      assert.deepEqual([later.status, later.headers.get('etag')], [200, drawn.headers.get('etag')])
      assert.equal(
        (await w.call(key, 'items.tile.render', { item_id: waiting, ...tileAt(151.02, -33.02, 15), format: 'png' })).status,
        200,
        'and so is another part of it',
      )
    })

    await t.test('only objects of items remain, and none after they are deleted', async () => {
      await w.drain(clear)
      const { bucket_name: bucket } = await w.db
        .selectFrom('project')
        .select('bucket_name')
        .where('id', '=', org.projectId)
        .executeTakeFirstOrThrow()
      const keys = async () => (await storage.list(bucket!)).objects.map(({ key }) => key).toSorted()
      const owned = await w.db.selectFrom('asset').select('object_key').execute()
      assert.deepEqual(await keys(), owned.map((row) => row.object_key!).toSorted())
      const { token: fresh } = await w.signIn(org.owner)
      for (const item_id of body.item_ids) await w.ok(fresh, 'items.delete', { item_id })
      await w.runTask(sweep)
      w.clock.advance({ hours: 13 })
      await w.runTask(sweep)
      assert.deepEqual(await keys(), [])
    })
  },
)
