// Goal: a backup is the whole installation. After a disaster it is restored elsewhere, on another PostgreSQL and another store, and from
// there back into the embedded server, with every row and every object; what is damaged is found, nothing is ever half restored, and
// what exists is never mixed with a backup.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { openStorage } from '#adapters/storage/open.ts'
import { fixedSecret, SECRET_BYTES } from '#adapters/storage/signature.ts'
import { loadConfig } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import { openServiceDatabase } from '#db/service-database.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../sandbox/demo/account.ts'
import { call, ok, post } from './support/client.ts'
import { createEmptyDatabase } from './support/database.ts'
import { scene } from './support/scene.ts'
import { startServerPostgres } from './support/server-postgres.ts'
import { embeddedUrl, openLab, until } from './support/service.ts'
import { listen } from './support/sse.ts'
import { exists, objectsOf, rowsOf, type Whole } from './support/whole.ts'

const root = path.dirname(import.meta.dirname)
const CLI = path.join(root, 'packages/cli/bin/groundtrack.mjs')
/** Beside other tests that kill services, the demo takes many minutes. */
const DEMO_MS = 1_800_000

/** A copy is another installation with an epoch of its own; the rest are counters of the moment. */
const OWN_ROWS = [
  'public.installation',
  'public.event_epoch',
  'public.rate_window',
  'public.replica_mark',
  'public.trace_link',
  'queue.queue_stats',
]

type Settings = Record<string, string>

function environment(settings: Settings): Settings {
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...settings }
}

function groundtrack(settings: Settings, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = environment(settings)
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { cwd: root, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
  })
}

/** What the installation of these settings contains, while its service is stopped. */
async function whole(settings: Settings): Promise<Whole> {
  const config = loadConfig(settings)
  const database = await openServiceDatabase(config)
  try {
    const secrets = fixedSecret(Buffer.alloc(SECRET_BYTES))
    const storage = await openStorage({ ...config, publicUrl: () => 'http://none.invalid', secrets, clock: systemClock })
    const rows = await rowsOf(database.direct)
    for (const table of OWN_ROWS) rows.delete(table)
    const buckets = await database.db.selectFrom('project').select('bucket_name').execute()
    const objects = await objectsOf(storage, ['invoices', 'reports', ...buckets.map(({ bucket_name }) => bucket_name!)])
    await storage.close()
    return { rows, objects }
  } finally {
    await database.close()
  }
}

/** Another PostgreSQL if the machine has one, otherwise another database of the embedded one. */
async function otherDatabase(t: TestContext): Promise<string> {
  const server = await startServerPostgres()
  if (!server) return await emptyDatabase(t)
  t.after(() => server.stop())
  return await server.createDatabase('groundtrack')
}

async function emptyDatabase(t: TestContext): Promise<string> {
  const own = await createEmptyDatabase()
  t.after(own.drop)
  return own.url
}

/** As any client does it; returns the items. */
async function upload(baseUrl: string, token: string, project_id: string, bytes: Uint8Array): Promise<string[]> {
  const session = { project_id, transfer_method: 'signed_url', file_count: 1, total_bytes: bytes.length }
  const { id } = await ok(baseUrl, token, 'uploads.initiate', session)
  const file = { upload_id: id, file_name: 'a.tif', content_type: 'image/tiff' }
  const { upload_url } = await ok(baseUrl, token, 'uploads.signed_url', file)
  const { status } = await fetch(upload_url, { method: 'PUT', headers: { 'content-type': 'image/tiff' }, body: bytes as never })
  assert.equal(status, 200)
  return (await ok(baseUrl, token, 'uploads.complete', { upload_id: id })).item_ids
}

/** S3 if the tests have a server of it, otherwise another folder. */
async function otherStore(t: TestContext): Promise<Settings> {
  const { TEST_S3_ENDPOINT: endpoint, TEST_S3_KEY: accessKeyId = '', TEST_S3_SECRET: secretAccessKey = '' } = process.env
  if (!endpoint) return {}
  const client = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials: { accessKeyId, secretAccessKey } })
  t.after(() => client.destroy())
  await client.send(new CreateBucketCommand({ Bucket: 'groundtrack-test' })).catch((error: Error) => {
    if (!/BucketAlready/.test(error.name)) throw error
  })
  const url = `s3://groundtrack-test/backup/${newId()}`
  return { STORAGE_URL: url, S3_ENDPOINT: endpoint, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey }
}

const firstFile = (folder: string, ending: RegExp): string =>
  path.join(folder, (fs.readdirSync(folder, { recursive: true }) as string[]).filter((name) => ending.test(name)).toSorted()[0]!)

function flipByte(file: string): void {
  const bytes = fs.readFileSync(file)
  bytes[bytes.length >> 1]! ^= 1
  fs.writeFileSync(file, bytes)
}

test('backup and restore', async (t) => {
  const lab = openLab()
  t.after(() => lab.close())
  const backups = lab.dataDir()
  const folder = (name: string) => path.join(backups, name)
  const first: Settings = { DATA_DIR: lab.dataDir() }
  const running = { DEMO: '1', SANDBOX_DELIVERY_SECONDS: '1' }
  const signIn = async (baseUrl: string): Promise<string> =>
    (await post(baseUrl, '/auth/sign-in', { email: DEMO_EMAIL, password: DEMO_PASSWORD })).body.access_token

  // Fill: the demo has scenes, collections, styles, jobs and share links.
  const service = await lab.start({ env: { ...first, ...running } })
  const token = await signIn(service.baseUrl)
  const stream = await listen(service.baseUrl, token)
  const {
    projects: [project],
  } = await ok(service.baseUrl, token, 'projects.list')
  const embedded = { connectionString: embeddedUrl(first['DATA_DIR']!) }
  const isComplete = () => exists(embedded, "select 1 from shared_secret where name = 'demo-share-link'")
  await until('the demo to be complete', isComplete, DEMO_MS)
  await ok(service.baseUrl, token, 'collections.create', { project_id: project.id, name: 'Harbour' })
  await until('the event', () => stream.heard.some(({ type }) => type === 'collection.created'))
  const cursor = stream.heard.at(-1)!
  stream.cut()

  await t.test('a backup can be taken while the service runs and files come and go', async () => {
    const writing = new AbortController()
    const tiff = await scene({ width: 300, height: 300 })
    const writer = (async () => {
      for (let n = 0; !writing.signal.aborted; n++) {
        const [item_id] = await upload(service.baseUrl, token, project.id, tiff)
        if (n % 2 === 0) await ok(service.baseUrl, token, 'items.delete', { item_id })
      }
    })()
    const { code, stdout, stderr } = await groundtrack(first, 'backup', folder('running'))
    writing.abort()
    await writer
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /^Backed up \d+ rows of \d+ tables and \d+ files \(.*\) to /)
    const verified = await groundtrack({}, 'verify', folder('running'))
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
  })
  await service.kill('SIGTERM')

  const original = await whole(first)
  assert.ok(original.objects.size >= 5 && original.rows.get('public.item')!.length >= 5, 'there is something to lose')
  const taken = await groundtrack(first, 'backup', folder('stopped'))
  assert.equal(taken.code, 0, taken.stdout + taken.stderr)

  await t.test('an existing backup is not overwritten', async () => {
    const { code, stderr } = await groundtrack(first, 'backup', folder('stopped'))
    assert.equal(code, 1)
    assert.match(stderr, /is not empty: name a folder that does not exist yet/)
  })

  await t.test('a backup that was killed is no backup, and can be continued', async () => {
    const child = spawn(process.execPath, ['tools/backup.ts', folder('killed')], { cwd: root, env: environment(first), stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await until('the backup to begin', () => fs.existsSync(path.join(folder('killed'), 'unfinished')))
    child.kill('SIGKILL')
    await ended
    assert.match((await groundtrack({}, 'verify', folder('killed'))).stderr, /was interrupted: take it again/)
    assert.match((await groundtrack({ DATA_DIR: lab.dataDir() }, 'restore', folder('killed'))).stderr, /was interrupted: take it again/)
    const { code, stdout, stderr } = await groundtrack(first, 'backup', folder('killed'))
    assert.equal(code, 0, stdout + stderr)
    assert.equal((await groundtrack({}, 'verify', folder('killed'))).code, 0)
  })

  await t.test('verify names what is damaged and what is missing', async () => {
    fs.cpSync(folder('stopped'), folder('damaged'), { recursive: true })
    flipByte(firstFile(folder('damaged'), /objects\/svc-.*@[0-9a-f]{16}$/))
    fs.rmSync(firstFile(folder('damaged'), /objects\/svc-.*@meta\.json$/))
    flipByte(path.join(folder('damaged'), 'tables/public.item.gz'))
    const { code, stdout } = await groundtrack({}, 'verify', folder('damaged'))
    assert.equal(code, 1)
    assert.match(stdout, /^The backup is damaged, in [23] places:\npublic\.item: /)
    assert.match(stdout, /svc-.*: (other bytes|The object does not exist)/)
  })

  fs.rmSync(first['DATA_DIR']!, { recursive: true })
  const second: Settings = { DATA_DIR: lab.dataDir(), DATABASE_URL: await otherDatabase(t), ...(await otherStore(t)) }

  await t.test('a restore that fails leaves nothing to start on, and can be run again', async () => {
    const failed = await groundtrack(second, 'restore', folder('damaged'))
    assert.equal(failed.code, 1)
    const refused = lab.spawn({ env: { ...second, ...running } })
    assert.equal((await refused.exited).code, 1)
    assert.match(refused.output(), /^The restore of the backup .* into this database has not ended\. Run it again/)
    const other = await groundtrack(second, 'restore', folder('running'))
    assert.match(other.stderr, /The restore of another backup .* has not ended/)
  })

  await t.test('a restore that was killed can be run again', async () => {
    const third: Settings = { DATA_DIR: lab.dataDir(), DATABASE_URL: await emptyDatabase(t) }
    const child = spawn(process.execPath, ['tools/restore.ts', folder('stopped')], { cwd: root, env: environment(third), stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await until('the restore to begin', async () =>
      exists({ connectionString: third['DATABASE_URL']! }, "select 1 where to_regclass('public.unfinished_restore') is not null"),
    )
    child.kill('SIGKILL')
    await ended
    const refused = lab.spawn({ env: { ...third, ...running } })
    assert.equal((await refused.exited).code, 1)
    const { code, stdout, stderr } = await groundtrack(third, 'restore', folder('stopped'))
    assert.equal(code, 0, stdout + stderr)
    assert.deepEqual(await whole(third), original)
  })

  await t.test('of the running service, every file that an item shows was in the backup', async () => {
    const copy: Settings = { DATA_DIR: lab.dataDir() }
    const { code, stdout, stderr } = await groundtrack(copy, 'restore', folder('running'))
    assert.equal(code, 0, stdout + stderr)
    const { objects } = await whole(copy)
    const database = await openServiceDatabase(loadConfig(copy))
    const assets = await database.db
      .selectFrom('asset as a')
      .innerJoin('item as i', 'i.seq', 'a.item_seq')
      .select(['a.bucket', 'a.object_key'])
      .where('i.deleted_at', 'is', null)
      .where('a.object_key', 'is not', null)
      .execute()
    await database.close()
    assert.ok(assets.length >= 5)
    for (const { bucket, object_key } of assets) assert.ok(objects.has(`${bucket}/${object_key}`), `${bucket}/${object_key}`)
  })

  await t.test('elsewhere, every row and every object is there', async () => {
    const { code, stdout, stderr } = await groundtrack(second, 'restore', folder('stopped'))
    assert.equal(code, 0, stdout + stderr)
    assert.deepEqual(await whole(second), original)
  })

  await t.test('what is not empty is refused', async () => {
    const { code, stderr } = await groundtrack(second, 'restore', folder('stopped'))
    assert.equal(code, 1)
    assert.match(stderr, /The database is not empty/)
    const sameStore = { ...second, DATABASE_URL: '', DATA_DIR: second['STORAGE_URL'] ? lab.dataDir() : second['DATA_DIR']! }
    const { code: ofStore, stderr: why } = await groundtrack(sameStore, 'restore', folder('stopped'))
    assert.equal(ofStore, 1)
    assert.match(why, /The object store belongs to another installation/)
  })

  const third: Settings = { DATA_DIR: lab.dataDir() }
  await t.test('back into the embedded server, too', async () => {
    const again = await groundtrack(second, 'backup', folder('again'))
    assert.equal(again.code, 0, again.stdout + again.stderr)
    const { code, stdout, stderr } = await groundtrack(third, 'restore', folder('again'))
    assert.equal(code, 0, stdout + stderr)
    assert.deepEqual(await whole(third), original)
  })

  await t.test('the service continues: sign-in, tiles, and events behind the restored ones', async () => {
    const restored = await lab.start({ env: { ...third, ...running } })
    assert.doesNotMatch(restored.output(), /restored into another cluster/, 'the restore has begun the epoch already')
    const again = await signIn(restored.baseUrl)
    const resumed = await listen(restored.baseUrl, again, cursor.id)
    await ok(restored.baseUrl, again, 'collections.create', { project_id: project.id, name: 'After the disaster' })
    await until('the event behind', () => resumed.heard.some(({ body }) => body.data.name === 'After the disaster'))
    assert.ok(!resumed.heard.some(({ id }) => id === cursor.id), 'nothing is repeated')
    resumed.cut()
    const { features } = await ok(restored.baseUrl, again, 'items.search', { project_id: project.id })
    assert.ok(features.length >= 5)
    const { status } = await call(restored.baseUrl, again, 'items.tile.tilejson', { item_id: features[0].id })
    assert.equal(status, 200, 'its file can be read')
    await restored.kill('SIGTERM')
    const database = await openServiceDatabase(loadConfig(third))
    const epochs = (await rowsOf(database.direct)).get('public.event_epoch')!
    await database.close()
    assert.deepEqual(
      epochs.map((row) => Number(/^\((\d+),/.exec(row)![1])),
      [1, 2, 3],
      'one for every copy',
    )
  })
})
