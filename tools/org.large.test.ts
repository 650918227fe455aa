// Goal: an organization with thousands of rows in a table and more than a page of files is exported as of one moment, and erased in
// batches. Access ends before anything is deleted. A command that is killed loses nothing: the same one continues, and the proof counts
// every row once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { until } from '../test/support/service.ts'
import { exists, rowsOf } from '../test/support/whole.ts'
import { world, type Org, type World } from '../test/support/world.ts'
import { ORG_TABLES } from './org/tables.ts'

const root = path.dirname(import.meta.dirname)
const ITEMS = 2_500
/** More than a page of the store. */
const FILES = 1_050

function start(w: World, args: readonly string[]) {
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, DATABASE_URL: w.databaseUrl, DATA_DIR: w.dataDir }
  const child = spawn(process.execPath, ['tools/org.ts', ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, stdout, stderr })),
  )
  return { child, ended }
}

/** Holds what a statement locks while a command runs into it, and kills the command there. */
async function killAt(w: World, args: readonly string[], lock: string, inBetween: () => Promise<void>): Promise<void> {
  const connection = { connectionString: w.databaseUrl }
  const holder = new pg.Client(connection)
  await holder.connect()
  const ofCommand = `from pg_stat_activity where application_name = 'groundtrack backup' and datname = current_database()`
  try {
    await holder.query('begin')
    assert.notEqual((await holder.query(lock)).rowCount, 0, 'something is locked')
    const { child, ended } = start(w, args)
    let hasEnded = false
    void ended.then(() => (hasEnded = true))
    try {
      await until('the command to wait', async () => {
        if (hasEnded) assert.fail(JSON.stringify(await ended))
        return await exists(connection, `select 1 ${ofCommand} and wait_event_type = 'Lock'`)
      })
      await inBetween()
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
  // The server notices that its client is gone.
  await until('the connection to end', async () => !(await exists(connection, `select 1 ${ofCommand}`)))
}

async function filled(w: World): Promise<Org> {
  const org = await w.organization('Wide Fields')
  const feature = (id: string) => ({
    type: 'Feature',
    id,
    geometry: { type: 'Point', coordinates: [10, 50] },
    properties: { datetime: '2026-02-01T00:00:00Z' },
    assets: { visual: { href: `https://data.example/${id}.tif`, type: 'image/tiff' } },
  })
  const ndjson = Array.from({ length: ITEMS }, (_, nth) => JSON.stringify(feature(`scene-${nth}`))).join('\n')
  const { created } = await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, ndjson })
  assert.equal(created, ITEMS)
  const bucket = `svc-${org.projectId}`
  await w.storage.createBucket(bucket)
  for (let nth = 0; nth < FILES; nth++)
    await w.storage.put({ bucket, key: `files/${String(nth).padStart(5, '0')}` }, Buffer.from('x'), { contentType: 'text/plain' })
  const maker = await w.key(org.owner.token, ['read'])
  const { id } = await w.key(org.owner.token, ['read'])
  await w.db.updateTable('api_key').set({ created_by_key: maker.id }).where('id', '=', id).execute()
  await w.flushAudit()
  await w.flushUsage()
  return org
}

test('a large organization', async (t) => {
  const w = await world(t)
  const org = await filled(w)
  const other = await w.organization('Neighbour')
  const ndjson = JSON.stringify({ type: 'Feature', id: 'theirs', geometry: null, properties: {}, assets: {} })
  await w.ok(other.owner.token, 'items.import_stac', { project_id: other.projectId, ndjson })
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-large-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const rowsIn = async (table: string) => {
    const client = new pg.Client({ connectionString: w.databaseUrl })
    await client.connect()
    try {
      const where = ORG_TABLES.find(({ name }) => name === table)!.where.replaceAll('{org}', pg.escapeLiteral(org.id))
      return (await client.query<{ count: number }>(`select count(*)::int as count from ${table} where ${where}`)).rows[0]!.count
    } finally {
      await client.end()
    }
  }

  await t.test('an export that was killed is continued, as of one moment', async () => {
    const target = path.join(folder, 'export')
    const formula = (name: string) => w.ok(org.owner.token, 'band_formulas.create', { name, formula: '(b1-b2)/(b1+b2)' })
    await formula('before')
    // It has read the tables before, and cannot read this one.
    await killAt(w, ['export', org.id, target], 'lock table asset in access exclusive mode', async () => {})
    assert.ok(!fs.existsSync(path.join(target, 'manifest.json')))
    const holder = new pg.Client({ connectionString: w.databaseUrl })
    await holder.connect()
    await holder.query('begin; lock table asset in access exclusive mode')
    const { ended } = start(w, ['export', org.id, target])
    await until('the export to wait', () =>
      exists(
        { connectionString: w.databaseUrl },
        `select 1 from pg_stat_activity where application_name = 'groundtrack backup' and wait_event_type = 'Lock'
           and datname = current_database()`,
      ),
    )
    await formula('meanwhile')
    await holder.query('rollback')
    await holder.end()
    const { code, stdout, stderr } = await ended
    assert.equal(code, 0, stdout + stderr)
    const manifest = JSON.parse(fs.readFileSync(path.join(target, 'manifest.json'), 'utf8'))
    const exported = (table: string) => manifest.tables.find(({ name }: { name: string }) => name === `public.${table}`).rows
    for (const table of ['item', 'asset', 'item_cell', 'lineage_node', 'lineage_edge', 'event'])
      assert.equal(exported(table), await rowsIn(table), table)
    assert.equal(manifest.objects.count, FILES)
    const formulas = gunzipSync(fs.readFileSync(path.join(target, 'tables/public.band_formula.gz'))).toString()
    assert.match(formulas, /before/)
    assert.doesNotMatch(formulas, /meanwhile/, 'later than the moment of the export')
  })

  const counted: Record<string, number> = {}
  for (const table of ['item', 'asset', 'item_cell', 'lineage_node', 'lineage_edge', 'event', 'organization_member', 'project_member'])
    counted[table] = await rowsIn(table)
  assert.ok(counted['item'] === ITEMS && counted['lineage_edge']! >= ITEMS && counted['event']! >= ITEMS)

  await t.test('it is killed among the items', async () => {
    const last = `select from item where org_id = '${org.id}' order by ctid desc limit 1 for update`
    await killAt(w, ['erase', org.id, '--confirm', 'Wide Fields', '--keep-years', '3'], last, async () => {
      const second = await start(w, ['erase', org.id]).ended
      assert.equal(second.code, 1)
      assert.match(second.stderr, /Another command is erasing the organization/)
      assert.ok((await rowsIn('item')) > 0)
      const { status } = await w.call(org.owner.token, 'items.list', { project_id: org.projectId })
      assert.equal(status, 401, 'what is left cannot be read')
      assert.equal((await w.post('/auth/sign-in', { email: org.owner.email, password: org.owner.password })).status, 401)
    })
    const left = await rowsIn('item')
    assert.ok(left > 0 && left < ITEMS, `${left} items are left`)
    assert.equal(await rowsIn('asset'), 0)
  })

  await t.test('it is killed again when all rows are gone', async () => {
    const remembered = `select from erasing_id where org_id = '${org.id}' and kind = 'id' limit 1 for update`
    await killAt(w, ['erase', org.id], remembered, async () => {})
    assert.equal(await rowsIn('item'), 0)
    assert.equal((await w.storage.list(`svc-${org.projectId}`)).objects.length, 1_000, 'files are still there')
  })

  await t.test('the third time it ends, with the proof of an erasure that was not interrupted', async () => {
    const { code, stdout, stderr } = await start(w, ['erase', org.id]).ended
    assert.equal(code, 0, stdout + stderr)
    const proof = JSON.parse(stdout)
    for (const [table, rows] of Object.entries(counted)) assert.equal(proof.deleted[table] ?? 0, rows, table)
    assert.deepEqual([proof.unexpected, proof.deleted_accounts, proof.deleted_files], [[], 1, FILES])
    const kept = ORG_TABLES.filter(({ isKept }) => isKept).map(({ name }) => `public.${name}`)
    for (const [table, rows] of await rowsOf({ connectionString: w.databaseUrl }))
      if (table !== 'public.erasure' && !kept.includes(table))
        assert.ok(!rows.some((row) => [org.id, org.projectId, org.owner.id, org.owner.email].some((id) => row.includes(id))), table)
    assert.equal((await w.storage.list(`svc-${org.projectId}`)).objects.length, 0)
    const { token } = await w.signIn(other.owner, other.id)
    assert.equal((await w.ok(token, 'items.list', { project_id: other.projectId })).items.length, 1)
  })
})
