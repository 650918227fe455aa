// Goal: kill -9 at each step of an upload leaves no asset without an object, no promise on the quota without a session, and
// after the sweep no object without an owner; what was acknowledged is there and becomes usable.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import sweep from '#domains/assets/sweep.task.ts'
import clear from '#domains/uploads/clear.task.ts'
import convert from '#domains/uploads/convert.task.ts'
import expire from '#domains/uploads/expire.task.ts'
import resume from '#domains/uploads/resume.task.ts'
import { campaign } from '../support/campaign.ts'
import { createOwner, ok } from '../support/client.ts'
import { createEmptyDatabase } from '../support/database.ts'
import { scene } from '../support/scene.ts'
import { openLab } from '../support/service.ts'
import { striped } from '../support/tiff.ts'
import { world, type World } from '../support/world.ts'
import { violations } from './invariants.ts'

const ALL_POINTS = [
  'put begins',
  'put ends',
  'complete is prepared',
  'complete is about to commit',
  'clear begins',
  'convert is under way',
  'store ends',
  'convert is about to commit',
  'convert has committed',
]
/** In a short campaign, where most is under way: bytes, the answer, the work afterwards. */
const POINTS = campaign({ short: ['put ends', 'complete is about to commit', 'convert is about to commit'], long: ALL_POINTS })

interface Place {
  baseUrl: string
  key: string
  projectId: string
}

/** One session with a COG and a file that must be converted, as far as the service lives. The items that it answered with. */
async function upload({ baseUrl, key, projectId }: Place, files: Record<string, Uint8Array>): Promise<string[]> {
  try {
    const total = Object.values(files).reduce((sum, bytes) => sum + bytes.length, 0)
    const { id } = await ok(baseUrl, key, 'uploads.initiate', {
      project_id: projectId,
      file_count: Object.keys(files).length,
      total_bytes: total,
    })
    for (const [name, bytes] of Object.entries(files)) {
      const { upload_url: url } = await ok(baseUrl, key, 'uploads.signed_url', {
        upload_id: id,
        file_name: name,
        content_type: 'image/tiff',
      })
      await fetch(url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body: bytes as never })
    }
    return (await ok(baseUrl, key, 'uploads.complete', { upload_id: id })).item_ids
  } catch {
    return []
  }
}

/** What the next process and the schedules do, without waiting for them. */
async function recover(w: World): Promise<void> {
  w.clock.advance({ minutes: 5 })
  await w.runTask(resume)
  await w.drain(convert)
  await w.drain(clear)
  w.clock.advance({ hours: 25 })
  await w.runTask(expire)
  await w.drain(clear)
  await w.runTask(sweep)
  w.clock.advance({ hours: 13 })
  await w.runTask(sweep)
}

async function broken(w: World): Promise<string[]> {
  const assets = await w.db
    .selectFrom('asset as a')
    .innerJoin('item as i', 'i.seq', 'a.item_seq')
    .select(['a.bucket', 'a.object_key as key', 'a.file_size_bytes as bytes', 'a.state'])
    .where('i.deleted_at', 'is', null)
    .execute()
  const accounts = await w.db.selectFrom('storage_account').select(['used_bytes', 'reserved_bytes']).execute()
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const buckets = await w.db.selectFrom('project').select('bucket_name').where('bucket_name', 'is not', null).execute()
  const objects = (
    await Promise.all(
      buckets.map(async ({ bucket_name: bucket }) => (await w.storage.list(bucket!)).objects.map(({ key }) => `${bucket}/${key}`)),
    )
  ).flat()
  const owned = new Set(assets.map(({ bucket, key }) => `${bucket}/${key}`))
  const open = await w.db.selectFrom('upload_session').select('id').where('closed_at', 'is', null).execute()
  const unfinished = await w.db.selectFrom('upload_file').select(['name', 'state']).where('state', '=', 'converting').execute()
  const left = ['objects/.incoming', 'work']
    .map((folder) => path.join(w.dataDir, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
  return [
    ...[...owned].filter((name) => !objects.includes(name)).map((name) => `an asset without its object ${name}`),
    ...objects.filter((name) => !owned.has(name)).map((name) => `an object without an owner ${name}`),
    ...(sum(accounts.map((row) => row.used_bytes)) === sum(assets.map((row) => row.bytes ?? 0))
      ? []
      : ['used bytes are not those of the assets']),
    ...(sum(accounts.map((row) => row.reserved_bytes)) === 0 ? [] : ['reserved bytes without a session']),
    ...open.map(({ id }) => `session ${id} is open`),
    ...unfinished.map(({ name }) => `${name} is still being converted`),
    ...assets.filter(({ state }) => state !== 'ready').map(({ key }) => `${key} is not ready`),
    ...left.map((name) => `the rest ${name}`),
    ...(await violations(w.db)).map(({ rule, what }) => `${rule}: ${what}`),
  ]
}

test('kill -9 at each step of an upload', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const database = await createEmptyDatabase()
  t.after(() => database.drop())
  const dataDir = lab.dataDir()
  const env = { DATA_DIR: dataDir, DATABASE_URL: database.url, DEMO: '0', STORE_PORT: '0' }
  const entry = 'test/faults/dying-service.ts'
  const files = { 'ready.tif': await scene({ width: 64, height: 64 }), 'plain.tif': striped({ height: 900 }) }

  const first = await lab.start({ env, entry })
  const owner = await createOwner(first.baseUrl, 'owner@example.com')
  const { key } = await ok(first.baseUrl, owner.token, 'api_keys.create', {
    name: 'uploads',
    permissions: ['write'],
    rate_limit: 1_000_000,
  })
  const { id: projectId } = await ok(first.baseUrl, owner.token, 'projects.create', { name: 'Uploads' })
  await first.kill('SIGTERM')
  const w = await world(t, { databaseUrl: database.url, store: { dataDir, secret: randomBytes(32) }, startAt: new Date().toISOString() })

  for (const point of POINTS) {
    await t.test(point, async () => {
      const service = await lab.start({ env: { ...env, FAULT_AT: point }, entry })
      const acknowledged = await upload({ baseUrl: service.baseUrl, key, projectId }, files)
      assert.deepEqual(await service.exited, { code: null, signal: 'SIGKILL' }, service.output())
      assert.equal(acknowledged.length, /^(?:put|complete)/.test(point) ? 0 : 2)
      await recover(w)
      assert.deepEqual(await broken(w), [])
      for (const id of acknowledged)
        assert.equal((await w.db.selectFrom('item').select('deleted_at').where('id', '=', id).executeTakeFirst())?.deleted_at, null)
    })
  }
})
