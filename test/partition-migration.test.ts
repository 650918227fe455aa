// Goal: a database of the last version with data is partitioned while processes write: no write fails, no row is lost or changed, and the
// code runs before, during and after.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { MIGRATIONS, migrate, pendingContractions } from '#db/migrate.ts'
import { runMigrations, schemaStatus, SchemaTooNew } from '#db/migration-runner.ts'
import { openDatabase } from '#db/open.ts'
import { createPartitions } from '#db/partitions.ts'
import { openQueue } from '#db/queue.ts'
import type { Db } from '#db/tables.ts'
import { declareTasks } from '#background/tasks.ts'
import { tasks } from '#registry.ts'
import partitionsTask from '../src/background/partitions.task.ts'
import { createEmptyDatabase } from './support/database.ts'
import { receiver } from './support/receiver.ts'
import { world } from './support/world.ts'

const FIRST_NEW = '0042'
const PREVIOUS = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < FIRST_NEW))
const TABLES = ['audit', 'event', 'egress_log', 'webhook_delivery', 'webhook_attempt', 'usage_day']
const ROWS = 5_000
const WRITERS = 3

/** As the previous version writes. */
const insertAudit = (db: Db, rows: number) =>
  sql`
  insert into audit (invocation_id, principal_kind, principal_id, operation, status, duration_ms, at)
  select gen_random_uuid(), 'user', 'x', 'items.list', 200, 1, timestamptz '2026-01-01' + n * interval '1 minute'
  from generate_series(1, ${rows}::int) n on conflict (invocation_id) do nothing
`.execute(db)

interface Contents {
  table: string
  rows: number
  digest: string
}

/** All rows, in one number each. */
async function contentsOf(db: Db): Promise<Contents[]> {
  const found: Contents[] = []
  for (const table of TABLES) {
    const { rows } = await sql<{ rows: number; digest: string }>`
      select count(*)::int as rows, coalesce(sum(hashtextextended(t::text, 0)), 0)::text as digest from ${sql.table(table)} t
    `.execute(db)
    found.push({ table, ...rows[0]! })
  }
  return found
}

test('partitioning a database with data', async (t) => {
  const own = await createEmptyDatabase()
  const { db, close } = openDatabase(own.url, { maxConnections: 6 })
  await runMigrations(db, PREVIOUS)
  await insertAudit(db, ROWS)
  const endpoint = await receiver(t)

  await t.test('a start applies only what the previous version can run on', async () => {
    const newer = Object.keys(MIGRATIONS).filter((name) => name >= FIRST_NEW)
    assert.deepEqual(
      (await migrate(db)).applied,
      newer.filter((name) => name !== '0043_partitions'),
    )
    assert.deepEqual(await pendingContractions(db), ['0043_partitions'])
    await insertAudit(db, 1)
    assert.deepEqual(await runMigrations(db, PREVIOUS), [])
    assert.deepEqual(await createPartitions(db, new Date()), [], 'nothing is to be done for plain tables')
  })

  const queue = await openQueue(db, { worker: false, onError: () => {} })
  await declareTasks(queue, tasks)
  await queue.stop()
  const w = await world(t, { databaseUrl: own.url, startAt: '2026-02-01T00:00:00.000Z', egressAllow: [endpoint.host] })
  t.after(async () => {
    await close()
    await own.drop()
  })
  const org = await w.organization()
  const subscribe = (endpoint_url: string) =>
    w.ok(org.owner.token, 'event_subscriptions.create', { event_type: 'collection.created', endpoint_url })
  const collect = (name: string) => w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name })

  await t.test('this version serves on plain tables', async () => {
    await subscribe(endpoint.url)
    for (const name of ['a', 'b', 'c']) await collect(name)
    assert.equal(await w.deliver(), 3)
    const removed = await subscribe(endpoint.url)
    await collect('d')
    await w.ok(org.owner.token, 'event_subscriptions.delete', { subscription_id: removed.id })
    assert.equal(await w.deliver(), 1)
    await w.runTask(partitionsTask)
    await sql`
      insert into egress_log (id, org_id, kind, bytes, principal_kind, invocation_id, at)
      select gen_random_uuid(), ${org.id}, 'asset', 1, 'user', gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 minute'
      from generate_series(1, ${ROWS}::int) n
    `.execute(db)
    await w.flushAudit()
    await w.flushUsage()
  })

  await t.test('while processes write', async () => {
    // As a migration leaves it that was killed.
    await sql`alter table audit add constraint audit_bound check (at < '2100-01-01') not valid`.execute(db)
    await sql`create unique index audit_new_pkey_part on audit (invocation_id, at)`.execute(db)
    const before = new Map((await contentsOf(db)).map((each) => [each.table, each]))
    const seq = async () => (await sql<{ seq: number }>`select max(seq) as seq from event`.execute(db)).rows[0]!.seq
    const last = await seq()
    let written = 0
    let isDone = false
    const writer = async (nth: number): Promise<void> => {
      while (!isDone) {
        await collect(`Writer ${nth}, ${written}`)
        written++
      }
    }
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, nth) => writer(nth)))
    const applied = migrate(db, { phase: 'all' }).finally(() => (isDone = true))
    await Promise.all([applied, writing])
    assert.deepEqual((await applied).applied, ['0043_partitions'])
    await collect('after')
    assert.equal(Number(await seq()) - Number(last), written + 1, 'numbers of events continue without a gap')
    await w.flushAudit()
    await w.flushUsage()
    const after = await contentsOf(db)
    for (const { table, rows } of after) assert.ok(rows >= before.get(table)!.rows, table)
    const still = after.find(({ table }) => table === 'egress_log')!
    assert.deepEqual(still, before.get('egress_log'), 'rows are the same')
    const { rows: homes } = await sql<{ home: string }>`select distinct tableoid::regclass::text as home from audit`.execute(db)
    assert.ok(homes.every(({ home }) => /^audit_before_\d{4}_\d{2}$/.test(home)))
    const { rows: bounds } = await sql`select conname from pg_constraint where conname like '%\\_bound'`.execute(db)
    assert.deepEqual(bounds, [])
  })

  await t.test('this version serves on partitioned tables', async () => {
    assert.ok((await w.deliver()) > 0)
    const [delivered] = await w.db.selectFrom('webhook_delivery').select('state').distinct().execute()
    assert.equal(delivered!.state, 'delivered')
    const { rows: subscription } = await sql<{ id: string }>`select id from event_subscription`.execute(db)
    await w.ok(org.owner.token, 'event_subscriptions.delete', { subscription_id: subscription[0]!.id })
    for (const table of ['webhook_delivery', 'webhook_attempt'])
      assert.deepEqual((await sql`select from ${sql.table(table)}`.execute(db)).rows, [], 'deliveries are deleted with their webhook')
    await assert.rejects(sql`delete from audit where invocation_id = ${newId()}`.execute(db), /append-only/)
  })

  await t.test('the previous version does not start any more, and nothing is left to do', async () => {
    await assert.rejects(runMigrations(db, PREVIOUS), SchemaTooNew)
    assert.deepEqual((await schemaStatus(db, MIGRATIONS)).pending, [])
  })
})
