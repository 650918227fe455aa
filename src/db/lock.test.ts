// Goal: work under a lock runs one at a time, and whoever waits for it holds no snapshot, for which an index that is built concurrently
// would wait.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/service.ts'
import { withLock } from './lock.ts'
import { openDatabase } from './open.ts'

test('a lock that another process holds', async (t) => {
  const { url, drop } = await createDatabase()
  const { db, close } = openDatabase(url, { maxConnections: 2 })
  t.after(async () => {
    await close()
    await drop()
  })
  await sql`create table indexed (n integer)`.execute(db)
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const order: string[] = []
  const first = withLock(db, 'test', async () => {
    await gate
    order.push('first')
  })
  const holders = async () =>
    (
      await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity where datname = current_database()
      and query like '%pg_try_advisory_xact_lock%' and state = 'idle in transaction'`.execute(db)
    ).rows[0]!.n
  await until('the first to hold the lock', async () => (await holders()) === 1)
  const second = withLock(db, 'test', async () => void order.push('second'))
  await until('the second to wait', async () => (await holders()) === 2)
  await sql`create index concurrently indexed_n on indexed (n)`.execute(db)
  order.push('index')
  open()
  await Promise.all([first, second])
  assert.deepEqual(order, ['index', 'first', 'second'])
})
