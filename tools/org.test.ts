// Goal: an organization can move. What it exports is imported into an empty installation, and into one with others in it, where its items,
// collections, styles, jobs, orders, lineage, balance and files are the same through the API. An erased organization leaves only what the
// law requires, shown by a search of every table and bucket, and other organizations notice nothing.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import run from '#domains/processing/run.task.ts'
import clear from '#domains/uploads/clear.task.ts'
import { grant, placeArchive, work } from '../test/orders/support.ts'
import { scene } from '../test/support/scene.ts'
import { objectsOf, rowsOf } from '../test/support/whole.ts'
import { world, type Org, type World } from '../test/support/world.ts'
import { tileKey, TILE_BUCKET } from '#ports/tile-cache.ts'
import { ORG_TABLES, OTHER_TABLES } from './org/tables.ts'

const root = path.dirname(import.meta.dirname)
/** Before the system's own clock, which the commands use. */
const START = '2026-06-01T00:00:00.000Z'
const PASSWORD = 'another horse battery'

function tool(w: World, name: string, args: readonly string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, DATABASE_URL: w.databaseUrl, DATA_DIR: w.dataDir }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [`tools/${name}.ts`, ...args],
      { cwd: root, env, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      },
    )
    child.stdin!.end(input)
  })
}

/** An organization that has used everything that moves. */
async function filled(w: World): Promise<Org & { itemIds: string[] }> {
  const org = await w.organization('Moving Pictures')
  const { token } = org.owner
  await w.member(org, 'editor')
  await grant(w, org, 100_000)
  const { body } = await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 300, height: 300 }) })
  const [item_id] = body.item_ids
  await w.drain(clear)
  const collection = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Reef' })
  await w.ok(token, 'items.update', { item_id, collection_id: collection.id })
  await w.ok(token, 'visualization.profile.create', { item_id, name: 'Plain', type: 'rgb', config: { bands: [1, 1, 1] } })
  const job = { project_id: org.projectId, job_type_id: 'band_math', input_params: { item_id, expression: 'b1*2' } }
  const { key } = await w.key(token, ['read', 'write', 'process'])
  const created = await w.ok(key, 'processing.create', job)
  await w.ok(token, 'processing.dispatch', { job_id: created.job.id })
  await w.drain(run)
  const placed = await placeArchive(w, org, { displayName: 'Fields' })
  assert.equal(placed.status, 200, placed.bytes.toString())
  await work(w, [placed.body.id])
  await w.ok(token, 'share.link.create', {
    target_type: 'item',
    target_id: item_id,
    password: 'a password to share',
    expires_at: '2026-07-01T00:00:00Z',
  })
  await w.flushAudit()
  await w.flushUsage()
  const { items } = await w.ok(token, 'items.list', { project_id: org.projectId })
  return { ...org, itemIds: items.map(({ id }: { id: string }) => id) }
}

/** What people of the organization see through the API. */
async function seen(w: World, token: string, { projectId, itemIds }: { projectId: string; itemIds: readonly string[] }) {
  const perItem = []
  for (const item_id of itemIds)
    perItem.push([
      await w.ok(token, 'items.get', { item_id }),
      await w.ok(token, 'items.list_assets', { item_id }),
      await w.ok(token, 'items.lineage', { item_id }),
      await w.ok(token, 'visualization.profiles.list', { item_id }),
    ])
  return {
    items: await w.ok(token, 'items.list', { project_id: projectId }),
    perItem,
    collections: await w.ok(token, 'collections.list', { project_id: projectId }),
    jobs: await w.ok(token, 'processing.jobs.list', {}),
    orders: await w.ok(token, 'orders.list', {}),
    balance: await w.ok(token, 'billing.credits.balance'),
    ledger: await w.ok(token, 'billing.credits.transactions', {}),
  }
}

const filesOf = async (w: World, projectId: string) => Object.fromEntries(await objectsOf(w.storage, [`svc-${projectId}`]))

test('every table is either of organizations or of the installation', async (t) => {
  const w = await world(t)
  const tables = [...(await rowsOf({ connectionString: w.databaseUrl })).keys()].filter((name) => name.startsWith('public.'))
  const listed = [...ORG_TABLES.map(({ name }) => name), ...OTHER_TABLES].map((name) => `public.${name}`)
  assert.deepEqual(tables.toSorted(), listed.toSorted(), 'list a new table in tools/org/tables.ts')
})

test('an organization moves, and is erased where it was', async (t) => {
  const w = await world(t, { vendors: true, startAt: START })
  const org = await filled(w)
  const other = await w.organization('Neighbour')
  const { body: theirs } = await w.upload(other.owner.token, other.projectId, { 'b.tif': await scene({ width: 300, height: 300 }) })
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-org-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const exportTo = (name: string) => tool(w, 'org', ['export', org.id, path.join(folder, name)])
  const { token: fresh } = await w.signIn(org.owner, org.id)
  const before = (await normalized(w, org.owner, await seen(w, fresh, org))) as Awaited<ReturnType<typeof seen>>
  const files = await filesOf(w, org.projectId)
  assert.ok(Object.keys(files).length >= 3 && before.orders.content.length === 1, 'there is something to move')

  await t.test('what has not ended is exported, but not imported', async () => {
    const { id } = await w.ok(fresh, 'uploads.initiate', {
      project_id: org.projectId,
      transfer_method: 'signed_url',
      file_count: 1,
      total_bytes: 10,
    })
    const { code, stdout } = await exportTo('unfinished')
    assert.equal(code, 0)
    assert.match(stdout, /cannot be imported elsewhere, because work has not ended: 1 uploads/)
    const elsewhere = await world(t, { startAt: START })
    const { stderr } = await tool(elsewhere, 'org', ['import', path.join(folder, 'unfinished')])
    assert.match(stderr, /had not ended when it was exported: 1 uploads/)
    const erased = await tool(w, 'org', ['erase', org.id, '--confirm', 'Moving Pictures'])
    assert.match(erased.stderr, /Work of the organization has not ended: 1 uploads/)
    await w.ok(fresh, 'uploads.fail', { upload_id: id, error_step: 'upload', error_message: 'given up' })
    await w.drain(clear)
  })

  await t.test('the export contains no credential', async () => {
    const { code, stdout, stderr } = await exportTo('moved')
    assert.equal(code, 0, stdout + stderr)
    const verified = await tool(w, 'verify', [path.join(folder, 'moved')])
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.match((await tool(w, 'restore', [path.join(folder, 'moved')])).stderr, /is not the manifest of a groundtrack-backup/)
    const tables = fs.readdirSync(path.join(folder, 'moved/tables'))
    for (const name of ['share_link', 'user_session', 'refresh_token', 'vendor_account', 'payment_method', 'event_subscription'])
      assert.ok(!tables.includes(`public.${name}.gz`), name)
    const all = tables.map((name) => gunzipSync(fs.readFileSync(path.join(folder, 'moved/tables', name))).toString()).join('\n')
    const keys = await w.db.selectFrom('api_key').select('secret_hash').execute()
    const people = await w.db.selectFrom('app_user').select('password_hash').execute()
    assert.ok(keys.length > 0 && people.length > 0)
    for (const { secret_hash } of keys) assert.ok(!all.includes(secret_hash.toString('hex')), 'the secret of a key')
    for (const { password_hash } of people) assert.ok(!all.includes(password_hash), 'a password')
  })

  for (const isEmpty of [true, false])
    await t.test(`it is imported into an installation that is ${isEmpty ? 'empty' : 'used by others'}`, async (t) => {
      const target = await world(t, { startAt: START })
      if (!isEmpty) {
        const resident = await target.organization('Resident')
        await target.upload(resident.owner.token, resident.projectId, { 'c.tif': await scene({ width: 300, height: 300 }) })
        await target.person(org.owner.email)
      }
      const { code, stdout, stderr } = await tool(target, 'org', ['import', path.join(folder, 'moved')])
      assert.equal(code, 0, stdout + stderr)
      assert.match(
        stdout,
        isEmpty ? /2 new accounts without a password, 0 that were here/ : /1 new accounts without a password, 1 that were here/,
      )
      const password = await tool(target, 'user', ['--email', org.owner.email, '--password-stdin'], PASSWORD)
      assert.equal(password.code, 0, password.stderr)
      const { token } = await target.signIn({ ...org.owner, password: PASSWORD }, org.id)
      assert.deepEqual(await normalized(target, org.owner, await seen(target, token, org)), before)
      assert.deepEqual(await filesOf(target, org.projectId), files)
      const again = await tool(target, 'org', ['import', path.join(folder, 'moved')])
      assert.match(again.stderr, /This installation has, or has erased, the organization/)
    })

  await t.test('an export that was made to reach others is refused', async (t) => {
    const target = await world(t, { startAt: START })
    const victim = await target.organization('Victim')
    const changes: readonly (readonly [string, (text: string) => string])[] = [
      ['asset', (text) => text.replaceAll(`svc-${org.projectId}`, `svc-${victim.projectId}`)],
      ['collection', (text) => text.replaceAll(org.projectId, victim.projectId)],
      ['organization_member', (text) => text.replaceAll(org.id, victim.id)],
    ]
    for (const [table, change] of changes) {
      const forged = path.join(folder, `forged-${table}`)
      fs.cpSync(path.join(folder, 'moved'), forged, { recursive: true })
      forge(forged, `public.${table}`, change)
      const { code, stderr } = await tool(target, 'org', ['import', forged])
      assert.equal(code, 1)
      assert.match(stderr, /the export contains what is not the organization's/, table)
      assert.deepEqual(await filesOf(target, org.projectId), {}, 'its files are removed again')
    }
    assert.equal(await target.db.selectFrom('organization').select('id').where('id', '=', org.id).executeTakeFirst(), undefined)
  })

  await t.test('an erasure needs a confirmation', async () => {
    const { code, stderr } = await tool(w, 'org', ['erase', org.id, '--confirm', 'Neighbour'])
    assert.equal(code, 1)
    assert.match(stderr, /This erases 'Moving Pictures' for good/)
    assert.deepEqual(await filesOf(w, org.projectId), files)
  })

  const traces = async () => {
    const found: string[] = []
    for (const [table, rows] of await rowsOf({ connectionString: w.databaseUrl }))
      if (rows.some((row) => [org.id, org.projectId, org.owner.id, org.owner.email, ...org.itemIds].some((id) => row.includes(id))))
        found.push(table)
    return found
  }
  await t.test('it leaves only what the law requires', async () => {
    const theirsBefore = await w.ok((await w.signIn(other.owner, other.id)).token, 'items.get', { item_id: theirs.item_ids[0] })
    const proofFile = path.join(folder, 'proof.json')
    await w.storage.createBucket(TILE_BUCKET)
    const cached = [org.id, other.id].map((id) => tileKey(id, 1, 'tile'))
    for (const key of cached) await w.storage.put({ bucket: TILE_BUCKET, key }, Buffer.from('tile'), { contentType: 'image/webp' })
    const { code, stdout, stderr } = await tool(w, 'org', ['erase', org.id, '--confirm', 'Moving Pictures', '--proof', proofFile])
    assert.equal(code, 0, stdout + stderr)
    const proof = JSON.parse(fs.readFileSync(proofFile, 'utf8'))
    assert.deepEqual(proof.unexpected, [])
    assert.equal(proof.deleted.item, org.itemIds.length)
    assert.deepEqual([proof.deleted_accounts, proof.remaining_accounts], [2, 0])
    assert.match(proof.keep_until, /^2033-06-/, 'seven years after the last transaction')
    assert.match(proof.laws[0], /Corporations Act 2001/)
    const kept = ORG_TABLES.filter(({ isKept }) => isKept).map(({ name }) => `public.${name}`)
    const left = await traces()
    assert.deepEqual(
      left.filter((table) => !kept.includes(table)),
      ['public.erasure'],
      'found by an independent search',
    )
    assert.ok(left.includes('public.ledger_transfer'))
    assert.deepEqual(await filesOf(w, org.projectId), {})
    assert.deepEqual(
      (await w.storage.list(TILE_BUCKET)).objects.map(({ key }) => key),
      [cached[1]],
      'only tiles of others stay in the cache',
    )
    assert.equal((await w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password })).status, 401)
    const { token } = await w.signIn(other.owner, other.id)
    assert.deepEqual(await w.ok(token, 'items.get', { item_id: theirs.item_ids[0] }), theirsBefore)
  })

  await t.test('the same command says the same again, and removes the rest when its time is over', async () => {
    const again = await tool(w, 'org', ['erase', org.id])
    assert.equal(again.code, 0, again.stderr)
    assert.ok(JSON.parse(again.stdout).kept.length > 0)
    await w.db
      .updateTable('erasure')
      .set({ keep_until: new Date(START) })
      .execute()
    const last = await tool(w, 'org', ['erase', org.id])
    assert.equal(last.code, 0, last.stderr)
    assert.deepEqual(JSON.parse(last.stdout).kept, [])
    assert.deepEqual(await traces(), ['public.erasure'])
  })

  await t.test('rows of other organizations are append-only as before', async () => {
    await assert.rejects(w.db.deleteFrom('ledger_transfer').execute(), /append-only/)
    await assert.rejects(w.db.deleteFrom('event').execute(), /append-only/)
  })
})

/** Changes the rows of a table, with a manifest that fits. */
function forge(exported: string, table: string, change: (text: string) => string): void {
  const file = path.join(exported, 'tables', `${table}.gz`)
  const text = change(gunzipSync(fs.readFileSync(file)).toString())
  fs.writeFileSync(file, gzipSync(text))
  const manifestFile = path.join(exported, 'manifest.json')
  const manifest = JSON.parse(fs.readFileSync(manifestFile, 'utf8'))
  const entry = manifest.tables.find(({ name }: { name: string }) => name === table)
  Object.assign(entry, { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') })
  fs.writeFileSync(manifestFile, JSON.stringify(manifest))
}

/** Addresses are those of the installation, and a person who has an account there keeps its ID. */
async function normalized(w: World, owner: { email: string }, value: unknown): Promise<unknown> {
  const { id } = await w.db.selectFrom('app_user').select('id').where('email', '=', owner.email).executeTakeFirstOrThrow()
  return JSON.parse(JSON.stringify(value).replaceAll(w.baseUrl, 'https://here').replaceAll(id, 'the owner'))
}
