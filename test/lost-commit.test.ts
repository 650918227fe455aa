// Goal: a write whose connection breaks after the database has committed it, but before the service learns of it, is answered as a
// failure that can be repeated. It was done once, the repeat returns its result, and the audit shows it once, as done.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#db/open.ts'
import { violations } from './faults/invariants.ts'
import { call, createOwner } from './support/client.ts'
import { createDatabase } from './support/database.ts'
import { databaseProxy } from './support/database-proxy.ts'
import { openLab } from './support/service.ts'

test('a commit whose answer is lost', async (t) => {
  const own = await createDatabase()
  const lab = openLab()
  const { db, close } = openDatabase(own.url, { maxConnections: 2 })
  t.after(async () => {
    await lab.close()
    await close()
    await own.drop()
  })
  const proxy = await databaseProxy(t, own.url)
  const service = await lab.start({ env: { DATABASE_URL: proxy.url, DATA_DIR: lab.dataDir(), DEMO: '0' } })
  const owner = await createOwner(service.baseUrl, 'lost@example.com')
  const create = () => call(service.baseUrl, owner.token, 'projects.create', { name: 'Once' }, { 'idempotency-key': 'once' })
  proxy.loseCommits()
  const lost = await create()
  proxy.keepCommits()
  assert.equal(lost.status, 503, lost.text)
  const repeated = await create()
  assert.equal(repeated.status, 200, repeated.text)
  process.kill(service.pid, 'SIGTERM') // Writes what it has buffered.
  assert.deepEqual(await service.exited, { code: 0, signal: null })
  const { rows: projects } = await sql<{ id: string }>`select id from project where name = 'Once'`.execute(db)
  assert.deepEqual(projects, [{ id: repeated.body.id }])
  const { rows: entries } = await sql<{ status: number }>`
    select status from audit where invocation_id = ${lost.invocationId}::uuid
  `.execute(db)
  assert.deepEqual(entries, [{ status: 200 }])
  assert.deepEqual(await violations(db), [])
})
