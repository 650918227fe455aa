// Goal: through PgBouncer in transaction mode, the service starts in any number, no lock or setting stays on a pooled connection, the
// deadline of statements holds, and a change of access rights reaches all processes without a wait.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { openDatabase, type Database } from '#db/open.ts'
import { withLock } from '#db/lock.ts'
import { call, createOwner, ok } from '../support/client.ts'
import { createDatabase, createEmptyDatabase } from '../support/database.ts'
import { noPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { openLab, until } from '../support/service.ts'

const skip = noPgBouncer() ?? false
/** One less than what two processes and a busy client need at once would take if connections stayed with their clients. */
const POOL_SIZE = 6

async function pooled(t: TestContext, create = createDatabase, preparedStatements = 0) {
  const own = await create()
  const bouncer = await startPgBouncer({ serverUrl: own.url, poolSize: POOL_SIZE, preparedStatements })
  t.after(async () => {
    await bouncer.stop()
    await own.drop()
  })
  return { direct: own.url, url: bouncer.urlFor(own.url), version: bouncer.version }
}

function opened(t: TestContext, url: string, options: Parameters<typeof openDatabase>[1]): Database {
  const database = openDatabase(url, options)
  t.after(() => database.close())
  return database
}

test('connections through PgBouncer', { skip }, async (t) => {
  const { direct, url, version } = await pooled(t)
  t.diagnostic(`PgBouncer ${version}`)
  const server = opened(t, direct, { maxConnections: 2 })
  const through = opened(t, url, { direct, hasTransactionPooler: true, deadlineFactor: 0.1 })
  const inSession = async (name: string) =>
    (await sql<{ value: string }>`select current_setting(${name}) as value`.execute(through.db)).rows[0]!.value

  await t.test('statements are not named, and transactions have the deadline that connections cannot have', async () => {
    for (let n = 0; n < 20; n++) assert.equal(await inSession('statement_timeout'), '0')
    await through.db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ value: string }>`select current_setting(${'statement_timeout'}) as value`.execute(tx)
      assert.equal(rows[0]!.value, '2500ms')
    })
    assert.equal(await inSession('statement_timeout'), '0')
    assert.equal(through.hasPooler(), true)
  })

  await t.test('a statement outside a transaction is cancelled on the server at the deadline', async () => {
    const gate = 99_001
    await server.db.transaction().execute(async (holder) => {
      await sql`select pg_advisory_xact_lock(${gate}::bigint)`.execute(holder)
      const error = await sql`select pg_advisory_xact_lock(${gate}::bigint)`.execute(through.db).then(
        () => null,
        (reason: { code?: string }) => reason,
      )
      assert.equal(error?.code, '57014')
      const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and not granted and objid = ${gate}`.execute(server.db)
      assert.deepEqual(rows, [])
    })
  })

  await t.test('a lock is held on a connection of the server and ends with its work', async () => {
    await withLock(through.db, 'pooled', async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`.execute(server.db)
      assert.equal(rows[0]!.n, 1)
    })
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(server.db)
    assert.equal(rows[0]!.n, 0)
  })

  await t.test('a pooler is recognized without a setting, and nothing is set on its connections', async (t2) => {
    const unaware = opened(t2, url, { direct })
    await sql`select 1`.execute(unaware.db)
    assert.equal(unaware.hasPooler(), true)
    assert.equal(await inSession('statement_timeout'), '0')
    const aware = opened(t2, direct, {})
    await sql`select 1`.execute(aware.db)
    assert.equal(aware.hasPooler(), false)
  })
})

test('services behind PgBouncer', { skip }, async (t) => {
  const { direct, url } = await pooled(t, createEmptyDatabase)
  const lab = openLab()
  t.after(() => lab.close())
  const settings = { DATABASE_URL: url, DATABASE_POOLER: 'transaction', DATA_DIR: lab.dataDir(), DEMO: '0' }
  const env = { ...settings, DATABASE_DIRECT_URL: direct }
  const [first, second] = await Promise.all([lab.start({ env }), lab.start({ env })])
  const owner = await createOwner(first!.baseUrl, 'pooled@example.com')

  await t.test('start together on an empty database and say nothing of a pooler at the direct address', () => {
    for (const { output } of [first!, second!]) assert.ok(!output().includes('connection pooler'), output())
  })

  await t.test('a revoked key is refused by both at once', async () => {
    for (let n = 0; n < 3; n++) {
      const { id, key } = await ok(first!.baseUrl, owner.token, 'api_keys.create', { name: `key ${n}`, permissions: ['read'] })
      for (const { baseUrl } of [first!, second!]) assert.equal((await call(baseUrl, key, 'projects.list', {})).status, 200)
      await ok(first!.baseUrl, owner.token, 'api_keys.revoke', { key_id: id })
      for (const { baseUrl } of [first!, second!]) assert.equal((await call(baseUrl, key, 'projects.list', {})).status, 401)
    }
  })

  await t.test('no process waits for another that has gone: notifications use the direct address', async () => {
    const listeners = opened(t, direct, { maxConnections: 1 })
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where application_name = 'groundtrack notices' and datname = current_database()`.execute(listeners.db)
    assert.equal(rows[0]!.n, 2, 'one for each process, and none on a pooled connection')
  })

  await t.test('without the direct address, a third process starts, says so in one line, and works', async () => {
    const third = await lab.start({ env: settings })
    await until('the line', () => third.output().includes('is a connection pooler'))
    assert.equal(third.output().split('connection pooler').length, 2, 'once')
    assert.equal((await call(third.baseUrl, owner.token, 'projects.list', {})).status, 200)
  })
})

test('PgBouncer that supports prepared statements, without DATABASE_POOLER', { skip }, async (t) => {
  const { direct, url, version } = await pooled(t, createDatabase, 100)
  if (Number(version.split('.')[1]) < 21) return t.skip(`PgBouncer ${version} does not support them; PGBOUNCER names another binary`)

  await t.test('a statement that an aborted transaction could not prepare works afterwards', async (t2) => {
    const { db } = opened(t2, url, { direct, maxConnections: 1 })
    const statement = sql<{ n: number }>`select ${7}::int as n`
    await db.connection().execute(async (connection) => {
      await sql`begin`.execute(connection)
      await assert.rejects(sql`select 1 / ${0}::int`.execute(connection), /division by zero/)
      await assert.rejects(statement.execute(connection), /current transaction is aborted/)
      await sql`rollback`.execute(connection)
      for (let n = 0; n < 3; n++) assert.equal((await statement.execute(connection)).rows[0]!.n, 7)
    })
  })

  const lab = openLab()
  t.after(() => lab.close())
  const env = { DATABASE_URL: url, DATABASE_DIRECT_URL: direct, DATA_DIR: lab.dataDir(), DEMO: '0' }
  const [first, second] = await Promise.all([lab.start({ env }), lab.start({ env })])
  const owner = await createOwner(first!.baseUrl, 'prepared@example.com')
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, n) => call([first!, second!][n % 2]!.baseUrl, owner.token, 'projects.create', { name: `Project ${n}` })),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  assert.equal((await ok(second!.baseUrl, owner.token, 'projects.list', {})).projects.length >= 60, true)
  const { db } = opened(t, direct, { maxConnections: 1 })
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
    where datname = current_database() and application_name like 'groundtrack %'`.execute(db)
  assert.ok(rows[0]!.n <= POOL_SIZE + 2 * 6 + 1, `${rows[0]!.n} connections to the server`)
})
