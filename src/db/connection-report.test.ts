// Goal: the start tells an operator in one line each if the processes can use more connections than the server accepts, or if a pooler
// is where the server itself should be; otherwise nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connectionsOf, STANDARD_POOL, STANDARD_SEARCH_POOL } from '#core/database-pool.ts'
import { createDatabase } from '../../test/support/database.ts'
import { connectionReport } from './connection-report.ts'
import { listening } from './notify.ts'
import { openNotices } from './notices.ts'
import { openDatabase } from './open.ts'

const STANDARD = { databasePool: STANDARD_POOL, databaseSearchPool: STANDARD_SEARCH_POOL }

test('the connections of all processes', async (t) => {
  const own = await createDatabase()
  const database = openDatabase(own.url)
  t.after(async () => {
    await database.close()
    await own.drop()
  })
  const { rows } = await sql<{ available: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as available
  `.execute(database.db)
  const { available } = rows[0]!

  await t.test('a process has its pools, two listeners and four for locks; behind a pooler only the latter', () => {
    assert.equal(connectionsOf(STANDARD, false), 16 + 6 + 2 + 4)
    assert.equal(connectionsOf(STANDARD, true), 2 + 4)
  })

  await t.test('are reported only if the server does not accept as many', async () => {
    const pools = (spare: number) => ({ databasePool: available - 6 - 6 - spare, databaseSearchPool: 6 })
    assert.deepEqual(await connectionReport(database, pools(0)), [])
    const [line, ...more] = await connectionReport(database, pools(-1))
    assert.match(line!, new RegExp(`accepts ${available} connections, and the processes on it can use ${available + 1} \\(1 ×`))
    assert.deepEqual(more, [])
  })

  await t.test('include those of other processes', async (t2) => {
    const notices = openNotices(database.db, database.direct)
    const listener = listening(database.direct)('groundtrack_test', () => {})
    t2.after(async () => {
      await notices.close()
      await listener.close()
    })
    while (notices.state() === null) await sql`select pg_sleep(0.01)`.execute(database.db)
    const half = { databasePool: Math.ceil(available / 2), databaseSearchPool: 1 }
    assert.match((await connectionReport(database, half)).join(), /can use \d+ \(2 × /)
  })
})
