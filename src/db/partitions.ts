/**
 * Tables that grow with every call are partitioned by month. Partitions are created ahead, and dropped when all their rows are too old.
 * Rows of a month without a partition go to the default partition, so that no insert fails; they are moved when their month is created.
 * A database in which the contracting migration is pending has plain tables, of which nothing is created or dropped here.
 */
import { sql } from 'kysely'
import pg from 'pg'
import { directOf } from './connections.ts'
import { withLock } from './lock.ts'
import type { Db } from './tables.ts'

export interface PartitionedTable {
  readonly name: string
  /** The time that decides the month. */
  readonly column: string
  readonly isAppendOnly: boolean
  /** Of hot rows, which are rewritten in place. */
  readonly fillFactor?: number
}

export const PARTITIONED = {
  audit: { name: 'audit', column: 'at', isAppendOnly: true },
  event: { name: 'event', column: 'occurred_at', isAppendOnly: true },
  egressLog: { name: 'egress_log', column: 'at', isAppendOnly: true },
  webhookDelivery: { name: 'webhook_delivery', column: 'created_at', isAppendOnly: false },
  webhookAttempt: { name: 'webhook_attempt', column: 'at', isAppendOnly: false },
  usageDay: { name: 'usage_day', column: 'day', isAppendOnly: false, fillFactor: 70 },
} as const satisfies Record<string, PartitionedTable>

const TABLES: readonly PartitionedTable[] = Object.values(PARTITIONED)

/** This month and the next ones: workers can be stopped for as long without a row in the default partition. */
const MONTHS_AHEAD = 3
/** Of the default partition, in one run; further ones follow in the next. */
const MAX_MOVED_MONTHS = 24
/** Writers wait no longer behind the locks of a partition; what could not be done is done by the next run. */
const LOCK_TIMEOUT_MS = 1_000
const LOCK_NOT_AVAILABLE = '55P03'

export interface Partition {
  readonly name: string
  /** The first month that is not in it, as YYYY-MM. */
  readonly end: string
}

const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

function nextMonth(month: string, months = 1): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return monthOf(new Date(Date.UTC(year, number - 1 + months, 1)))
}

export const startOf = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`)

/** Null if the table is not partitioned yet; without the default partition. Names tell the months, whatever the session's time zone. */
async function partitionsOf(db: Db, { name }: PartitionedTable): Promise<Partition[] | null> {
  const { rows } = await sql<{ isPartitioned: boolean; children: string[] }>`
    select c.relkind = 'p' as "isPartitioned", array(
      select p.relname::text from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid order by 1
    ) as children
    from pg_class c where c.oid = to_regclass(${name})
  `.execute(db)
  if (!rows[0]?.isPartitioned) return null
  return rows[0].children.flatMap((child) => {
    const [, isFirst, year, month] = /_(before_)?(\d{4})_(\d{2})$/.exec(child) ?? []
    if (!year) return []
    return [{ name: child, end: isFirst ? `${year}-${month}` : nextMonth(`${year}-${month}`) }]
  })
}

/** The first partition covers everything before its end; each other one its own month. */
function isCovered(partitions: readonly Partition[], month: string): boolean {
  return partitions.some(({ name, end }) => (name.includes('_before_') ? month < end : nextMonth(month) === end))
}

/**
 * Creates the partitions of this month and the next ones, and of months that have rows in the default partition. Several processes can
 * do it at once. Returns what could not be created yet because its tables were in use.
 */
export async function createPartitions(db: Db, now: Date): Promise<string[]> {
  const ahead = Array.from({ length: MONTHS_AHEAD }, (_, nth) => nextMonth(monthOf(now), nth))
  return await withLock(db, 'partitions', async () => {
    const postponed: string[] = []
    for (const table of TABLES) {
      const partitions = await partitionsOf(db, table)
      if (!partitions) continue
      const months = new Set([...ahead, ...(await strayMonths(db, table))])
      for (const month of [...months].toSorted())
        if (!isCovered(partitions, month) && !(await unlessInUse(() => create(db, table, month)))) postponed.push(nameOf(table, month))
    }
    return postponed
  })
}

const nameOf = ({ name }: PartitionedTable, month: string): string => `${name}_${month.replace('-', '_')}`

/** Months of rows in the default partition. It is empty unless nobody has created partitions for months, or a clock was wrong. */
async function strayMonths(db: Db, { name, column }: PartitionedTable): Promise<string[]> {
  const time = column === 'day' ? sql.ref(column) : sql`${sql.ref(column)} at time zone 'UTC'`
  const { rows } = await sql<{ month: string }>`
    select distinct to_char(${time}, 'YYYY-MM') as month from ${sql.table(`${name}_default`)}
    order by 1 limit ${sql.lit(MAX_MOVED_MONTHS)}
  `.execute(directOf(db))
  return rows.map(({ month }) => month)
}

async function create(db: Db, table: PartitionedTable, month: string): Promise<void> {
  const [name, fallback] = [nameOf(table, month), `${table.name}_default`]
  const isDay = table.column === 'day'
  const bound = (at: string): string => (isDay ? `${at}-01` : startOf(at).toISOString())
  const [from, to] = [bound(month), bound(nextMonth(month))]
  const trigger = `before update or delete or truncate on ${name} for each statement execute function refuse_change()`
  await statements(db, [
    `create table ${name} (like ${table.name} including all excluding identity)` +
      (table.fillFactor ? ` with (fillfactor = ${table.fillFactor})` : ''),
    // From here on, the default partition takes no rows, so that none can arrive between the move and the attachment.
    `lock table ${fallback} in access exclusive mode`,
    ...moved(table, { from, to }),
    ...(table.isAppendOnly ? [`create trigger ${name}_append_only ${trigger}`] : []),
    `alter table ${table.name} attach partition ${name} for values from ('${from}') to ('${to}')`,
  ])
}

/** Rows of append-only tables move, too: in this transaction, the rule against deletion is suspended for the default partition. */
function moved(table: PartitionedTable, { from, to }: { from: string; to: string }): string[] {
  const [name, fallback] = [nameOf(table, from.slice(0, 7)), `${table.name}_default`]
  const move = `with moved as (delete from ${fallback} where ${table.column} >= '${from}' and ${table.column} < '${to}' returning *)
    insert into ${name} select * from moved`
  if (!table.isAppendOnly) return [move]
  return [`alter table ${fallback} disable trigger user`, move, `alter table ${fallback} enable trigger user`]
}

/** Partitions whose last month has ended by then, oldest first. */
export async function partitionsBefore(db: Db, table: PartitionedTable, before: Date): Promise<Partition[]> {
  const partitions = (await partitionsOf(db, table)) ?? []
  return partitions.filter(({ end }) => startOf(end) <= before).toSorted((a, b) => (a.end < b.end ? -1 : 1))
}

/** Returns whether it was dropped; if its table is in use, the next run tries again. */
export async function dropPartition(db: Db, { name }: Partition): Promise<boolean> {
  return await unlessInUse(() => statements(db, [`drop table if exists ${name}`]))
}

/** One transaction on a connection of its own, without a deadline for moves, and with one for locks. */
async function statements(db: Db, lines: readonly string[]): Promise<void> {
  await directOf(db)
    .transaction()
    .execute(async (tx) => {
      await sql.raw([`set local lock_timeout = ${LOCK_TIMEOUT_MS}`, 'set local statement_timeout = 0', ...lines].join(';\n')).execute(tx)
    })
}

async function unlessInUse(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}
