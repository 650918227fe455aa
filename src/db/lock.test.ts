// Goal: work under a lock runs one at a time, and no transaction of whoever waits for it lasts: an index that is built concurrently would
// wait for its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/service.ts'
import { withAdvisoryLock } from './lock.ts'
import { openDatabase } from './open.ts'

test('a lock that another process holds', async (t) => {
  const { url, drop } = await createDatabase()
  const { db, close } = openDatabase(url, { maxConnections: 2 })
  const [gate, held, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(async () => {
    gate.resolve()
    await close()
    await drop()
  })
  await sql`create table indexed (n integer)`.execute(db)
  const transactions = async () =>
    (
      await sql<{ pid: number }>`select pid from pg_locks join pg_stat_activity using (pid)
      where locktype = 'virtualxid' and datname = current_database() and pid <> pg_backend_pid()`.execute(db)
    ).rows.map(({ pid }) => pid)
  const id = sql`7::bigint`
  const order: string[] = []
  const first = withAdvisoryLock(db, id, async () => {
    held.resolve()
    await gate.promise
    order.push('first')
  })
  await held.promise
  const holder = await transactions()
  assert.equal(holder.length, 1)
  const second = withAdvisoryLock(db, id, async () => void order.push('second'), refused.resolve)
  await refused.promise
  await until('only the holder to have a transaction', async () => (await transactions()).every((pid) => holder.includes(pid)))
  await sql`create index concurrently indexed_n on indexed (n)`.execute(db)
  order.push('index')
  gate.resolve()
  await Promise.all([first, second])
  assert.deepEqual(order, ['index', 'first', 'second'])
})
