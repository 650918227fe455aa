/** Goal: on S3, too, a process reads the tiles that another one has rendered, and the sweep removes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { openS3Store } from '#adapters/storage/s3.ts'
import { systemClock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import sweep from '#domains/assets/sweep-tiles.task.ts'
import { TILE_BUCKET } from '#ports/tile-cache.ts'
import { rasterItem } from '../support/layers.ts'
import { scene, tileAt } from '../support/scene.ts'
import { until } from '../support/service.ts'
import { world } from '../support/world.ts'

const BUCKET = 'groundtrack-test'
const endpoint = process.env['TEST_S3_ENDPOINT'] ?? ''
const credentials = { accessKeyId: process.env['TEST_S3_KEY'] ?? '', secretAccessKey: process.env['TEST_S3_SECRET'] ?? '' }
const tileCache = { maxBytes: 1e9, maxAgeSeconds: 86_400 }

test(
  'the tile cache on S3',
  { skip: endpoint === '' ? 'TEST_S3_ENDPOINT is not set: run test/s3/server.sh and set what it prints' : false },
  async (t) => {
    const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
    t.after(() => client.destroy())
    await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
      if (!/BucketAlready/.test(error.name)) throw error
    })
    const url = `s3://${BUCKET}/tiles/${newId()}`
    const store = () => openS3Store({ url, endpoint, region: '', clock: systemClock, credentials })
    const w = await world(t, { storage: store(), startAt: new Date().toISOString(), tileCache })
    const org = await w.organization()
    const id = await rasterItem(w, org, [{ bytes: await scene() }])
    const input = { item_id: id, ...tileAt(151.15, -33.1, 12) }
    const first = await w.call(org.owner.token, 'items.tile.render', input)
    assert.equal(first.status, 200)
    await until('the tile is stored', async () => (await w.storage.list(TILE_BUCKET)).objects.length === 1)
    const second = await world(t, { databaseUrl: w.databaseUrl, storage: store(), clock: w.clock, tileCache })
    assert.deepEqual((await second.call(org.owner.token, 'items.tile.render', input)).bytes, first.bytes)
    assert.equal(second.platform.services.raster.metrics().caches.stored_images!.hits, 1)
    w.clock.advance({ days: 2 })
    await second.runTask(sweep)
    assert.deepEqual((await w.storage.list(TILE_BUCKET)).objects, [])
  },
)
