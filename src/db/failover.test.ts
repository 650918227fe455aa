// Goal: a database that restarts, fails over, freezes or disappears costs callers a 503 with Retry-After at most, never a 500 and never
// an endless wait; reads are repeated once, and no connection to the old server is used again.
import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { createDatabase } from '../../test/support/database.ts'
import { databaseProxy } from '../../test/support/database-proxy.ts'
import { until } from '../../test/support/service.ts'
import { world } from '../../test/support/world.ts'
import { DatabaseUnavailable } from './failures.ts'
import { openDatabase } from './open.ts'
import type { Db } from './tables.ts'

const GATE = 815

/** Takes the lock that the test holds, so that the statement is running when its connection breaks. */
const waitAtGate = async (db: Db): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${GATE}::bigint)`.execute(db)
}

/** Holds the gate while `work` runs. */
async function withGate(db: Db, work: (waiting: () => Promise<number>) => Promise<void>): Promise<void> {
  await db.transaction().execute(async (holder) => {
    await sql`select pg_advisory_xact_lock(${GATE}::bigint)`.execute(holder)
    await work(async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted
          and database = (select oid from pg_database where datname = current_database())
      `.execute(db)
      return rows[0]?.pid ?? 0
    })
  })
}

const Done = Closed({ ok: Type.Boolean() })
const terms = { scope: 'projects:write', input: Closed({}), output: Done, example: { input: {} } } as const
let runs = 0
const reading = operation({ ...terms, id: 'test.reads', scope: 'projects:read', tier: 'read' }).handle({
  async execute({ db }) {
    runs++
    await waitAtGate(db)
    return { ok: true }
  },
})
const writing = operation({ ...terms, id: 'test.writes', tier: 'compute' }).handle({
  async execute({ tx }) {
    await waitAtGate(tx as unknown as Db)
    return { ok: true }
  },
})

test('a connection that breaks', async (t) => {
  const w = await world(t, { operations: [reading, writing] })
  const org = await w.organization()
  const other = openDatabase(w.databaseUrl, { maxConnections: 3 })
  t.after(() => other.close())
  const end = async (pid: number) => await sql`select pg_terminate_backend(${pid})`.execute(other.db)

  await t.test('during a read: the read is repeated, and the caller notices nothing', async () => {
    runs = 0
    let call: ReturnType<typeof w.call> | null = null
    await withGate(other.db, async (waiting) => {
      call = w.call(org.owner.token, 'test.reads', {})
      await end(await until('the statement to wait', waiting))
    })
    assert.equal((await call!).status, 200)
    assert.equal(runs, 2)
  })

  await t.test('during a write: 503 with Retry-After, and the operator hears of it', async () => {
    let call: ReturnType<typeof w.call> | null = null
    await withGate(other.db, async (waiting) => {
      call = w.call(org.owner.token, 'test.writes', {})
      await end(await until('the statement to wait', waiting))
    })
    const { status, headers, body } = await call!
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '5'])
    assert.ok(w.logLines.some((line) => line.includes('"msg":"fault"') && line.includes('test.writes')))
    assert.equal((await w.call(org.owner.token, 'test.writes', {})).status, 200)
  })
})

test('a server that is read-only, as an old primary is', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { db, close } = openDatabase(w.databaseUrl, { maxConnections: 1 })
  t.after(close)
  const name = new URL(w.databaseUrl).pathname.slice(1)
  const create = (n: number) => w.call(org.owner.token, 'projects.create', { name: `Project ${n}` })
  const dropOthers = async () => {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`.execute(db)
  }
  await sql.raw(`alter database ${name} set default_transaction_read_only = on`).execute(db)
  await dropOthers()
  const { status, headers, body } = await create(1)
  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '5'])
  for (let n = 0; n < 5; n++) assert.equal((await w.call(org.owner.token, 'projects.list', {})).status, 200, 'reads are served')
  await sql.raw(`set default_transaction_read_only = off; alter database ${name} reset default_transaction_read_only`).execute(db)
  // A pooler keeps connections that we no longer use, and gives them to others.
  if (process.env['TEST_POOLER_URL']) await dropOthers()
  assert.ok([200, 503].includes((await create(2)).status), 'the connections of reads are still read-only')
  assert.equal((await create(3)).status, 200, 'after a write that failed, none of them is used again')
})

test('a server that cannot be reached', async (t) => {
  const { url, drop } = await createDatabase()
  t.after(drop)
  const proxy = await databaseProxy(t, url)
  /** Deadlines of a tenth: 2.8 seconds for an answer. */
  const database = openDatabase(proxy.url, { maxConnections: 2, deadlineFactor: 0.1 })
  t.after(() => database.close())
  const answers = () =>
    sql`select 1`.execute(database.db).then(
      () => null,
      (error: unknown) => error as DatabaseUnavailable,
    )
  await until('a connection', async () => (await answers()) === null)

  await t.test('frozen: a statement fails at its deadline, and is not repeated', async () => {
    proxy.freeze()
    const error = await answers()
    assert.ok(error instanceof DatabaseUnavailable)
    assert.match(error.message, /no answer within 2\.8 s/)
    assert.equal(error.isRetryable, false)
    proxy.thaw()
    await until('an answer', async () => (await answers()) === null)
  })

  await t.test('busy: a statement does not wait for a connection forever', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const busy = [0, 1].map(() => database.db.connection().execute(() => gate))
    const error = await answers()
    open()
    await Promise.all(busy)
    assert.match(error!.message, /no free connection within 1 s/)
  })

  await t.test('reset: a statement fails at once, and can be repeated', async () => {
    proxy.cut()
    const lost = await answers()
    assert.ok(lost instanceof DatabaseUnavailable)
    assert.equal(lost.isRetryable, true)
    proxy.accept()
    assert.equal(await answers(), null)
  })
})

test('connections', async (t) => {
  const { url, drop } = await createDatabase()
  t.after(drop)
  const proxy = await databaseProxy(t, url)

  await t.test('have TCP keep-alive', async (t2) => {
    const keepAlive = t2.mock.method(net.Socket.prototype, 'setKeepAlive')
    const database = openDatabase(proxy.url)
    t2.after(() => database.close())
    await sql`select 1`.execute(database.db)
    assert.ok(keepAlive.mock.calls.some((call) => call.arguments[0] === true && call.arguments[1] === 10_000))
  })

  await t.test('are replaced when they are old', async (t2) => {
    const database = openDatabase(url, { maxConnections: 1, maxLifetimeSeconds: 1 })
    t2.after(() => database.close())
    const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.db)).rows[0]!.pid
    const first = await pid()
    await until('another connection', async () => (await pid()) !== first)
  })
})
