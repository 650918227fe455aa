// Goal: a version runs on the schema of the next one until a contracting migration raises the floor; migrations never block writers for
// long, wait for each other, and contracting ones run only when asked for.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { createEmptyDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/service.ts'
import { migrate, MIGRATIONS } from './migrate.ts'
import { runMigrations, schemaStatus, SchemaTooNew, type Migration } from './migration-runner.ts'
import { openDatabase } from './open.ts'
import type { Db } from './tables.ts'

const running = (text: string, rest: Partial<Migration> = {}): Migration => ({
  ...rest,
  up: async (db) => void (await sql.raw(text).execute(db)),
})

/** Version 1, and a next one with something to add, to index and to remove. */
const NEXT: Readonly<Record<string, Migration>> = {
  ...MIGRATIONS,
  '9001_added': running('create table added (n integer); alter table project add column added_later text'),
  '9002_indexed': running('create index concurrently if not exists added_n on added (n)', { isTransactional: false }),
  '9003_removed': running('alter table project drop column added_later', { kind: 'contract', requires: '9001_added' }),
}

async function emptyDatabase(t: TestContext): Promise<Db> {
  const own = await createEmptyDatabase()
  const database = openDatabase(own.url, { maxConnections: 4 })
  t.after(async () => {
    await database.close()
    await own.drop()
  })
  return database.db
}

test('a process of the previous version', async (t) => {
  const db = await emptyDatabase(t)
  await migrate(db)
  assert.deepEqual(await runMigrations(db, NEXT), ['9001_added', '9002_indexed'], 'contracting ones are not run at a start')

  await t.test('starts on the schema of the next one', async () => {
    assert.deepEqual(await migrate(db), { applied: [] })
    const { unknown, pending, floor } = await schemaStatus(db, MIGRATIONS)
    assert.deepEqual([unknown, pending, floor], [['9001_added', '9002_indexed'], [], '0042_audit_counts'])
  })

  await t.test('is told to upgrade once a contracting migration has removed what it uses', async () => {
    assert.deepEqual(await runMigrations(db, NEXT, { phase: 'all' }), ['9003_removed'])
    await assert.rejects(migrate(db), (error) => error instanceof SchemaTooNew && /contains migration 9001_added/.test(error.message))
    const { '9003_removed': _removed, ...between } = NEXT
    assert.deepEqual(await runMigrations(db, between), [], 'a version with the required migration starts')
  })
})

test('a new database gets every migration at once', async (t) => {
  const db = await emptyDatabase(t)
  assert.deepEqual(await runMigrations(db, NEXT), Object.keys(NEXT).toSorted())
  assert.deepEqual((await schemaStatus(db, NEXT)).floor, '9001_added')
})

test('a migration whose table is in use', async (t) => {
  const db = await emptyDatabase(t)
  await migrate(db)
  await sql`create table busy (n integer)`.execute(db)
  const migrations = { ...MIGRATIONS, '9001_altered': running('alter table busy add column m integer') }
  const lines: string[] = []
  const reading = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const reader = db.transaction().execute(async (tx) => {
    await sql`select * from busy`.execute(tx)
    reading.resolve()
    await done.promise
  })
  await reading.promise
  const migrating = runMigrations(db, migrations, { lockTimeoutMs: 50, onWaiting: (line) => lines.push(line) })
  await until('an attempt that gave up', () => lines.length > 0)
  await sql`insert into busy values (1)`.execute(db) // Between two attempts, or after at most 50 ms.
  done.resolve()
  await reader
  assert.deepEqual(await migrating, ['9001_altered'])
  assert.match(lines.join(), /9001_altered waits for a table that others are using/)
})

test('a process waits for the migration of another, however long it takes', async (t) => {
  const db = await emptyDatabase(t)
  await migrate(db)
  const begun = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const slow: Migration = {
    async up() {
      begun.resolve()
      await done.promise
    },
  }
  const migrations = { ...MIGRATIONS, '9001_slow': slow }
  const lines: string[] = []
  const first = runMigrations(db, migrations)
  await begun.promise
  const second = runMigrations(db, migrations, { onWaiting: (line) => lines.push(line) })
  await until('the line', () => lines.includes('Another process is migrating the database; waiting for it'))
  done.resolve()
  assert.deepEqual([await first, await second], [['9001_slow'], []])
})

test('a process that waits does not hold up an index that another builds concurrently', async (t) => {
  const db = await emptyDatabase(t)
  await migrate(db)
  await sql`create table built (n integer)`.execute(db)
  const waiting = Promise.withResolvers<void>()
  const building: Migration = {
    isTransactional: false,
    async up(db) {
      await waiting.promise
      await sql`create index concurrently if not exists built_n on built (n)`.execute(db)
    },
  }
  const migrations = { ...MIGRATIONS, '9001_building': building }
  const onWaiting = () => waiting.resolve()
  const applied = await Promise.all([1, 2].map(() => runMigrations(db, migrations, { onWaiting })))
  assert.deepEqual(applied.toSorted(), [[], ['9001_building']])
})

test('a migration that fails leaves nothing behind and can be repeated', async (t) => {
  const db = await emptyDatabase(t)
  await migrate(db)
  const migrations = (text: string) => ({ ...MIGRATIONS, '9001_two_steps': running(text) })
  await assert.rejects(runMigrations(db, migrations('create table half (n integer); select 1 / 0')), /division by zero/)
  assert.deepEqual(await runMigrations(db, migrations('create table half (n integer)')), ['9001_two_steps'])
})
