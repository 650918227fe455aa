// Goal: with retention on, the tables that every call adds to stop growing, and nothing that is still needed is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import partitions from '../src/background/partitions.task.ts'
import sweepWebhooks from '../src/domains/webhooks/sweep.task.ts'
import { newId } from '#core/ids.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'
import { campaign } from './support/campaign.ts'
import { receiver } from './support/receiver.ts'
import { world, type World } from './support/world.ts'

const TABLES = ['audit', 'event', 'egress_log', 'webhook_delivery', 'webhook_attempt', 'usage_day'] as const
const RETENTION = { auditDays: 30, eventDays: 20, deliveryDays: 10, egressLogDays: 30, usageDays: 92 }
const MONTHS = 9
const DAYS_PER_ROUND = 5
/** At length, a busy day of one caller in each round. */
const { writes: WRITES_PER_ROUND, reads: READS_PER_ROUND } = campaign({
  short: { writes: 1, reads: 5 },
  ci: { writes: 1, reads: 5 },
  long: { writes: 200, reads: 800 },
})

interface Size {
  rows: number
  /** With indexes, of all partitions. */
  bytes: number
  partitions: number
}

async function sizes(w: World): Promise<Record<string, Size>> {
  const found: Record<string, Size> = {}
  for (const table of TABLES) {
    const { rows } = await sql<Size>`
      select (select count(*)::int from ${sql.table(table)}) as rows,
        (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree(${table}::regclass)) as bytes,
        (select count(*)::int from pg_inherits where inhparent = ${table}::regclass) as partitions
    `.execute(w.db)
    found[table] = rows[0]!
  }
  return found
}

test('months of writes', async (t) => {
  const endpoint = await receiver(t)
  const w = await world(t, { startAt: '2030-01-02T00:00:00.000Z', retention: RETENTION, egressAllow: [endpoint.host] })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read', 'write'])
  await w.ok(key, 'event_subscriptions.create', { event_type: 'collection.created', endpoint_url: endpoint.url })

  const round = async (name: string): Promise<void> => {
    for (let n = 0; n < WRITES_PER_ROUND; n++) await w.ok(key, 'collections.create', { project_id: org.projectId, name: `${name}, ${n}` })
    for (let n = 0; n < READS_PER_ROUND; n++) await w.ok(key, 'projects.list')
    const principal = { kind: 'user' as const, userId: org.owner.id, apiKeyId: null }
    const taker = { organizationId: org.id, principal, invocationId: newId(), now: w.clock.now() }
    const download = { kind: 'asset' as const, itemId: null, assetId: null, bytes: 0 }
    await w.db.transaction().execute((tx) => downloadQuotas.start(tx, taker, [download], { countsEgress: false }))
    await w.deliver()
    await w.flushAudit()
    await w.flushUsage()
    await w.runTask(sweepWebhooks)
    await w.runTask(partitions)
  }

  const byMonth = new Map<string, Record<string, Size>>()
  const end = Date.UTC(2030, MONTHS, 1)
  for (let n = 0; w.clock.now().getTime() < end; n++) {
    await round(`Round ${n}`)
    byMonth.set(w.clock.now().toISOString().slice(0, 7), await sizes(w))
    w.clock.advance({ days: DAYS_PER_ROUND })
  }
  const months = [...byMonth.values()]
  assert.equal(months.length, MONTHS)
  for (const table of TABLES) {
    const rows = months.map((size) => size[table]!.rows)
    const early = Math.max(...rows.slice(0, 6))
    // Months differ by one round at most.
    assert.ok(
      rows.slice(6).every((count) => count <= early * 1.2 + 2),
      `${table} stops growing: ${rows.join(', ')}`,
    )
    assert.ok(rows.at(-1)! > 0, `${table} has what is new`)
    const bytes = months.map((size) => size[table]!.bytes)
    assert.ok(Math.max(...bytes.slice(6)) <= Math.max(...bytes.slice(0, 6)) * 1.2, `${table} takes no more space: ${bytes.join(', ')}`)
    t.diagnostic(`${table}: ${rows.join(', ')} rows; ${bytes.map((size) => (size / 1e6).toFixed(1)).join(', ')} MB`)
    const partitionCounts = months.map((size) => size[table]!.partitions)
    assert.ok(Math.max(...partitionCounts) <= 9, `${table}: ${partitionCounts.join(', ')}`)
  }
  const { rows: oldest } = await sql<{ at: Date }>`select min(at) as at from audit`.execute(w.db)
  const ageDays = (w.clock.now().getTime() - oldest[0]!.at.getTime()) / 86_400_000
  assert.ok(ageDays >= RETENTION.auditDays && ageDays < RETENTION.auditDays + 40, `the oldest entry is ${ageDays} days old`)
  const { rows: stray } = await sql<{ n: number }>`
    select (select count(*) from audit_default) + (select count(*) from event_default) as n
  `.execute(w.db)
  assert.equal(Number(stray[0]!.n), 0, 'nothing is left in default partitions')
})

test('what is still to be delivered keeps its event', async (t) => {
  const w = await world(t, { startAt: '2030-01-02T00:00:00.000Z', retention: RETENTION })
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read', 'write'])
  await w.ok(key, 'event_subscriptions.create', { event_type: 'collection.created', endpoint_url: 'http://hooks.test:9/' })
  await w.runTask(partitions)
  await w.ok(key, 'collections.create', { project_id: org.projectId, name: 'waits' })
  w.clock.advance({ days: 60 })
  await w.runTask(partitions)
  const waiting = async () => (await w.db.selectFrom('webhook_delivery').select('state').execute()).map(({ state }) => state)
  const events = async () => (await w.db.selectFrom('event').select('id').where('type', '=', 'collection.created').execute()).length
  assert.deepEqual([await waiting(), await events()], [['pending'], 1])
  await w.runTask(sweepWebhooks)
  assert.deepEqual(await waiting(), ['dead'])
  await w.runTask(partitions)
  assert.deepEqual([await waiting(), await events()], [[], 0], 'given up, and older than it is kept')
})

test('nothing is dropped where the operator keeps it forever', async (t) => {
  const forever = { auditDays: 0, eventDays: 0, deliveryDays: 0, egressLogDays: 0, usageDays: 0 }
  const w = await world(t, { startAt: '2030-01-02T00:00:00.000Z', retention: forever })
  const org = await w.organization()
  await w.flushAudit()
  await w.flushUsage()
  const before = await sizes(w)
  w.clock.advance({ days: 4_000 })
  await w.runTask(partitions)
  const after = await sizes(w)
  for (const table of TABLES) assert.ok(after[table]!.rows >= before[table]!.rows, `${table} of ${org.id}`)
})
