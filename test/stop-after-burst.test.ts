// Goal: a process that is stopped right after, or during, a burst of calls has recorded each call that it answered: in the audit trail, in
// the organization's usage and in the use of its key; also if the database is away for a moment while it stops.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#db/open.ts'
import { call, createOwner, ok, type Reply } from './support/client.ts'
import { createDatabase } from './support/database.ts'
import { databaseProxy } from './support/database-proxy.ts'
import { MAIN_WITH_TEST_OPERATIONS, openLab } from './support/service.ts'

const CALLS = 300

async function burst(t: TestContext, { during, outageMs = 0 }: { during: boolean; outageMs?: number }) {
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
  const owner = await createOwner(service.baseUrl, 'burst@example.com')
  const { id, key } = await ok(service.baseUrl, owner.token, 'api_keys.create', { name: 'burst', permissions: ['read'] })
  let answered = 0
  const replies: Promise<Reply | null>[] = Array.from({ length: CALLS }, async () => {
    const reply = await call(service.baseUrl, key, 'projects.list', {}).catch(() => null) // Refused: the process is stopping.
    if (during && ++answered === CALLS / 3) process.kill(service.pid, 'SIGTERM')
    return reply
  })
  const done = (await Promise.all(replies)).filter((reply) => reply?.status === 200)
  if (!during) process.kill(service.pid, 'SIGTERM')
  if (outageMs > 0) {
    proxy.cut()
    await sleep(outageMs)
    proxy.accept()
  }
  assert.deepEqual(await service.exited, { code: 0, signal: null })
  const { rows } = await sql<{ audited: number; calls: number; uses: number }>`
    select (select count(*)::int from audit where invocation_id = any(${done.map((reply) => reply!.invocationId)}::uuid[])) as audited,
      (select coalesce(sum(amount), 0)::int from usage_day where org_id = ${owner.organizationId} and meter = 'api_calls') as calls,
      (select total_requests::int from api_key where id = ${id}) as uses
  `.execute(db)
  return { done: done.length, ...rows[0]! }
}

test('tiles of the last minute', async (t) => {
  const own = await createDatabase()
  const lab = openLab()
  const { db, close } = openDatabase(own.url, { maxConnections: 2 })
  t.after(async () => {
    await lab.close()
    await close()
    await own.drop()
  })
  const env = { DATABASE_URL: own.url, DATA_DIR: lab.dataDir(), DEMO: '0' }
  const service = await lab.start({ entry: MAIN_WITH_TEST_OPERATIONS, env })
  const owner = await createOwner(service.baseUrl, 'tiles@example.com')
  const read = (nth: number) => call(service.baseUrl, owner.token, 'faults.picture', { of: `item ${nth % 2}` })
  const replies = await Promise.all(Array.from({ length: CALLS }, (_, nth) => read(nth)))
  assert.ok(replies.every(({ status }) => status === 200))
  process.kill(service.pid, 'SIGTERM')
  assert.deepEqual(await service.exited, { code: 0, signal: null })
  const { rows } = await sql<{ entries: number; calls: number }>`
    select count(*)::int as entries, sum(calls)::int as calls from audit where operation = 'faults.picture'
  `.execute(db)
  assert.equal(rows[0]!.calls, CALLS, 'each read is counted')
  assert.ok(rows[0]!.entries < CALLS / 10, `${rows[0]!.entries} entries: two for each minute that passed`)
})

test('after a burst', async (t) => {
  const { done, audited, calls, uses } = await burst(t, { during: false })
  assert.equal(done, CALLS)
  assert.equal(audited, CALLS)
  assert.ok(calls >= CALLS, `${calls} calls counted`)
  assert.equal(uses, CALLS)
})

test('during a burst', async (t) => {
  const { done, audited, calls, uses } = await burst(t, { during: true })
  assert.ok(done >= CALLS / 3)
  assert.equal(audited, done)
  assert.ok(calls >= done, `${calls} of ${done} calls counted`)
  assert.ok(uses >= done, `${uses} of ${done} uses counted`)
})

test('while the database is away for a moment', async (t) => {
  const { audited, calls, uses } = await burst(t, { during: false, outageMs: 500 })
  assert.equal(audited, CALLS)
  assert.ok(calls >= CALLS, `${calls} calls counted`)
  assert.equal(uses, CALLS)
})
