// Goal: no insert fails for lack of a partition, months are created ahead and dropped as a whole, what is append-only stays so in every
// partition, and queries for a period read only the months of that period.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql, type CompiledQuery } from 'kysely'
import { newId } from '#core/ids.ts'
import * as audit from '#model/platform/audit.ts'
import * as usageReport from '#model/plans/usage-report.ts'
import { world } from '../../test/support/world.ts'
import { createPartitions, dropPartition, PARTITIONED, partitionsBefore } from './partitions.ts'
import type { Db } from './tables.ts'

const NOW = new Date('2030-01-15T12:00:00.000Z')

const entryAt = (at: string): audit.AuditEntry => ({
  invocationId: newId(),
  organizationId: null,
  inputHash: null,
  status: 200,
  artifacts: [],
  operation: 'items.list',
  principalKind: 'none',
  principalId: 'none',
  userId: null,
  apiKeyId: null,
  durationMs: 1,
  at: new Date(at),
  calls: 1,
  subject: null,
})

async function homes(db: Db): Promise<string[]> {
  const { rows } = await sql<{ home: string }>`select distinct tableoid::regclass::text as home from audit order by 1`.execute(db)
  return rows.map(({ home }) => home)
}

async function auditMonths(db: Db): Promise<string[]> {
  const partitions = await partitionsBefore(db, PARTITIONED.audit, new Date('2100-01-01'))
  return partitions.map(({ name }) => name).filter((name) => !name.includes('before'))
}

test('months are created ahead, once, by any number of processes', async (t) => {
  const { db } = await world(t)
  const postponed = await Promise.all([createPartitions(db, NOW), createPartitions(db, NOW), createPartitions(db, NOW)])
  assert.deepEqual(postponed, [[], [], []])
  assert.deepEqual(await auditMonths(db), ['audit_2030_01', 'audit_2030_02', 'audit_2030_03'])
  const { rows } = await sql<{ table: string; partitions: number }>`
    select inhparent::regclass::text as table, count(*)::int as partitions from pg_inherits
    where inhparent::regclass::text in ('audit', 'event', 'egress_log', 'webhook_delivery', 'webhook_attempt', 'usage_day') group by 1
  `.execute(db)
  assert.deepEqual(new Set(rows.map(({ partitions }) => partitions)), new Set([5]), 'the first one, three months, the default one')
  assert.equal(rows.length, 6)
})

test('a row without a partition goes to the default one, which is emptied', async (t) => {
  const { db } = await world(t)
  await audit.write(db, [entryAt('2031-07-31T23:59:59.999Z'), entryAt('2031-08-01T00:00:00.000Z'), entryAt('2001-01-01T00:00:00.000Z')])
  assert.deepEqual(
    (await homes(db)).filter((home) => !home.includes('before')),
    ['audit_default'],
  )
  assert.deepEqual(await createPartitions(db, NOW), [])
  assert.deepEqual(
    (await homes(db)).filter((home) => !home.includes('before')),
    ['audit_2031_07', 'audit_2031_08'],
  )
  assert.equal((await db.selectFrom('audit').selectAll().execute()).length, 3)
})

test('an entry written twice is one entry', async (t) => {
  const { db } = await world(t)
  await createPartitions(db, NOW)
  const entry = entryAt(NOW.toISOString())
  await audit.write(db, [entry])
  await audit.write(db, [entry])
  assert.equal((await db.selectFrom('audit').selectAll().execute()).length, 1)
})

test('every partition of an append-only table refuses changes; a month can be dropped', async (t) => {
  const { db } = await world(t)
  await createPartitions(db, NOW)
  await audit.write(db, [entryAt(NOW.toISOString()), entryAt('2030-02-01T00:00:00.000Z')])
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent in ('audit'::regclass, 'event'::regclass, 'egress_log'::regclass)
    union all select unnest(array['audit', 'event', 'egress_log'])
  `.execute(db)
  assert.equal(rows.length, 18)
  for (const { name } of rows)
    for (const change of [`delete from ${name}`, `update ${name} set org_id = null`, `truncate ${name}`])
      await assert.rejects(sql.raw(change).execute(db), /is append-only/, change)
  const [january] = (await partitionsBefore(db, PARTITIONED.audit, new Date('2030-02-01'))).filter(({ name }) => name.endsWith('2030_01'))
  assert.ok(await dropPartition(db, january!))
  assert.deepEqual(await homes(db), ['audit_2030_02'])
})

test('a table in use is left alone until the next run', async (t) => {
  const { db } = await world(t)
  await createPartitions(db, NOW)
  const [january] = (await partitionsBefore(db, PARTITIONED.audit, new Date('2030-02-01'))).filter(({ name }) => name.endsWith('2030_01'))
  await db.transaction().execute(async (tx) => {
    await sql`select from audit limit 1`.execute(tx)
    assert.equal(await dropPartition(db, january!), false)
  })
  assert.equal(await dropPartition(db, january!), true)
})

/** The tables that a statement reads, as the planner sees it with the values of its parameters. */
async function tablesRead(t: TestContext, db: Db, run: (db: Db) => Promise<unknown>): Promise<string[]> {
  const queries: CompiledQuery[] = []
  const watched = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => result,
  })
  const executor = watched.getExecutor()
  const execute = executor.executeQuery.bind(executor)
  t.mock.method(executor, 'executeQuery', (query: CompiledQuery) => {
    queries.push(query)
    return execute(query)
  })
  await run(watched)
  const read = new Set<string>()
  for (const query of queries) {
    const { rows } = await db.executeQuery<{ 'QUERY PLAN': unknown }>({ ...query, sql: `explain (analyze, format json) ${query.sql}` })
    collectTables(rows[0]!['QUERY PLAN'], read)
  }
  return [...read].toSorted()
}

/** Partitions that were pruned while the plan ran are in it, too, but were never executed. */
function collectTables(node: unknown, into: Set<string>): void {
  if (Array.isArray(node)) return node.forEach((each) => collectTables(each, into))
  if (typeof node !== 'object' || node === null) return
  const { 'Relation Name': name, 'Actual Loops': loops } = node as Record<string, unknown>
  if (typeof name === 'string' && loops !== 0) into.add(name)
  for (const value of Object.values(node)) collectTables(value, into)
}

test('queries for a period read only its months', async (t) => {
  const w = await world(t)
  const { db } = w
  await createPartitions(db, NOW)
  const org = await w.organization()
  const february = { from: new Date('2030-02-03'), to: new Date('2030-02-20') }
  const filter = { operation: null, userId: null, limit: 10, offset: 0 }
  assert.deepEqual(await tablesRead(t, db, (watched) => audit.list(watched, org.id, { ...filter, ...february })), ['audit_2030_02'])
  const history = await tablesRead(t, db, (watched) => usageReport.history(watched, org.id, { ...february, granularity: 'day', now: NOW }))
  assert.deepEqual(
    history.filter((name) => name.startsWith('usage_day')),
    ['usage_day_2030_02'],
  )
})
