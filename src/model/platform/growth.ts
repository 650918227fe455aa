/** What bounds the tables that grow with every call: months that are older than the operator keeps them are dropped as a whole. */
import { sql } from 'kysely'
import type { Retention } from '#core/retention.ts'
import { DAY_MS } from '#core/time.ts'
import { inBatches } from '#db/in-batches.ts'
import { dropPartition, PARTITIONED, partitionsBefore, startOf, type Partition, type PartitionedTable } from '#db/partitions.ts'
import type { Db } from '#db/tables.ts'

interface Policy {
  table: PartitionedTable
  days: number
  /** Whether something still needs rows of the partition. */
  isNeeded?: (db: Db, partition: Partition) => Promise<boolean>
}

/** Deliveries before the events that they contain. */
const policiesOf = (retention: Retention): Policy[] => [
  { table: PARTITIONED.webhookAttempt, days: retention.deliveryDays },
  { table: PARTITIONED.webhookDelivery, days: retention.deliveryDays, isNeeded: isDelivering },
  { table: PARTITIONED.event, days: longest(retention.eventDays, retention.deliveryDays), isNeeded: isQueued },
  { table: PARTITIONED.audit, days: retention.auditDays },
  { table: PARTITIONED.egressLog, days: retention.egressLogDays },
  { table: PARTITIONED.usageDay, days: retention.usageDays },
]

/** 0 is forever. */
const longest = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.max(a, b))

/** Drops what is too old. Returns the names of the partitions. */
export async function dropOld(db: Db, retention: Retention, now: Date): Promise<string[]> {
  const dropped: string[] = []
  if (retention.deliveryDays > 0) await forgetBacklog(db, daysBefore(now, retention.deliveryDays))
  for (const { table, days, isNeeded } of policiesOf(retention)) {
    if (days === 0) continue
    for (const partition of await partitionsBefore(db, table, daysBefore(now, days))) {
      if (await isNeeded?.(db, partition)) continue
      if (await dropPartition(db, partition)) dropped.push(partition.name)
    }
  }
  return dropped
}

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS)

/** A pending delivery ends within days, delivered or given up. One that a paused webhook holds goes with its month. */
async function isDelivering(db: Db, { end }: Partition): Promise<boolean> {
  const row = await db
    .selectFrom('webhook_delivery')
    .select('id')
    .where('created_at', '<', startOf(end))
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return row !== undefined
}

/** Deliveries are created with the time of their event. */
async function isQueued(db: Db, { end }: Partition): Promise<boolean> {
  const { rows } = await sql<{ isQueued: boolean }>`
    select exists (select from webhook_delivery where created_at < ${startOf(end)})
      or exists (select from webhook_backlog where created_at < ${startOf(end)}) as "isQueued"
  `.execute(db)
  return rows[0]!.isQueued
}

/** Events that waited in the backlog for as long as deliveries are kept: their webhooks were paused or failed all that time. */
async function forgetBacklog(db: Db, before: Date): Promise<void> {
  await inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from webhook_backlog where (org_id, event_seq) in (
        select org_id, event_seq from webhook_backlog where created_at < ${before} limit ${limit}
      )
    `.execute(db)
    return Number(numAffectedRows)
  })
}
