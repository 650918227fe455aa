/** Usage of an organization: the current month, and past months and days. */
import { sql } from 'kysely'
import { countedBytes } from '#model/imagery/item-metadata.ts'
import { DAY_MS } from '#core/time.ts'
import type { Meter } from '#core/meters.ts'
import type { Db, Tx } from '#db/tables.ts'
import { planOf, type Plan } from './plan.ts'
import * as storageAccounts from './storage-account.ts'
import { dayOf } from './usage.ts'

export interface UsagePoint {
  storageBytes: number
  egressBytes: number
  tiles: number
  computeJobs: number
  processingJobs: number
  apiCalls: number
}

const FIELDS: Record<Meter, keyof UsagePoint> = {
  storage_bytes: 'storageBytes',
  egress_bytes: 'egressBytes',
  tiles: 'tiles',
  compute_jobs: 'computeJobs',
  processing_jobs: 'processingJobs',
  api_calls: 'apiCalls',
}
const none = (): UsagePoint => ({ storageBytes: 0, egressBytes: 0, tiles: 0, computeJobs: 0, processingJobs: 0, apiCalls: 0 })

export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

interface CurrentUsage extends UsagePoint {
  reservedBytes: number
  /** Of the last 24 hours, which the plan limits. */
  egressBytesOfDay: number
  plan: Plan
}

/** The month so far; storage is the current value. */
export async function current(db: Db, organizationId: string, now: Date): Promise<CurrentUsage> {
  const month = await points(db, organizationId, { from: `${monthOf(now)}-01`, to: dayOf(now), granularity: 'month', today: dayOf(now) })
  const account = await storageAccounts.get(db, organizationId)
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::bigint as bytes from egress_minute where org_id = ${organizationId}
      and minute > ${new Date(now.getTime() - DAY_MS)}
  `.execute(db)
  return {
    ...none(),
    ...month.get(monthOf(now)),
    storageBytes: account.usedBytes,
    reservedBytes: account.reservedBytes,
    egressBytesOfDay: rows[0]!.bytes,
    plan: await planOf(db, organizationId),
  }
}

/** Days as YYYY-MM-DD, both inclusive. */
interface DateRange {
  from: string
  to: string
  granularity: 'day' | 'month'
  /** Current storage counts for today, because the daily snapshot may not exist yet. */
  today: string
}

/** Usage by day or month. Storage is a day's maximum, or the average of a month's days. */
async function points(db: Db, organizationId: string, { from, to, granularity, today }: DateRange): Promise<Map<string, UsagePoint>> {
  const period = granularity === 'day' ? 'YYYY-MM-DD' : 'YYYY-MM'
  const { rows } = await sql<{ period: string; meter: Meter; amount: number }>`
    with noted as (
      select day, meter, amount from usage_day where org_id = ${organizationId}
        and day between ${from}::date and ${to}::date
      union all select ${today}::date, 'storage_bytes', used_bytes from storage_account where org_id = ${organizationId}
    ), days as (
      select day, meter, max(amount) as amount from noted where day between ${from}::date and ${to}::date group by day, meter
    )
    select to_char(day, ${period}) as period, meter, (case when meter = 'storage_bytes' then avg(amount)
      else sum(amount) end)::bigint as amount from days group by 1, 2 order by 1
  `.execute(db)
  const byPeriod = new Map<string, UsagePoint>()
  for (const { period: name, meter, amount } of rows) byPeriod.set(name, { ...(byPeriod.get(name) ?? none()), [FIELDS[meter]]: amount })
  return byPeriod
}

/** Every period in order, including those without usage. */
export async function history(
  db: Db,
  organizationId: string,
  { from, to, granularity, now }: { from: Date; to: Date; granularity: 'day' | 'month'; now: Date },
): Promise<(UsagePoint & { period: string })[]> {
  const byPeriod = await points(db, organizationId, { from: dayOf(from), to: dayOf(to), granularity, today: dayOf(now) })
  const periods: string[] = []
  for (let day = new Date(`${dayOf(from)}T00:00:00Z`); day <= to; day = new Date(day.getTime() + DAY_MS)) {
    const name = granularity === 'day' ? dayOf(day) : monthOf(day)
    if (periods.at(-1) !== name) periods.push(name)
  }
  return periods.map((period) => ({ period, ...(byPeriod.get(period) ?? none()) }))
}

interface Recount {
  previousBytes: number
  storageBytes: number
}

/**
 * Recounts all stored bytes of the organization and corrects the counters. Locks every project, in a fixed order, so that nothing
 * changes meanwhile. `allow` receives the time of the last recount, with the account locked, and can refuse.
 */
export async function recountStorage(tx: Tx, organizationId: string, now: Date, allow: (last: Date | null) => void): Promise<Recount> {
  await sql`select 1 from project where org_id = ${organizationId} and deleted_at is null order by id for no key update`.execute(tx)
  const {
    rows: [account],
  } = await sql<{ usedBytes: number; last: Date | null }>`
    select used_bytes as "usedBytes", recalculated_at as last from storage_account where org_id = ${organizationId} for no key update
  `.execute(tx)
  allow(account!.last)
  await sql`
    with files as (
      select a.item_seq, sum(a.file_size_bytes) as bytes from asset a where a.org_id = ${organizationId} and a.object_key is not null
        group by a.item_seq
    ), counted as (
      select i.project_id, count(*) as items, sum(coalesce(f.bytes, 0) + ${countedBytes('i')}) as bytes
      from item i left join files f on f.item_seq = i.seq where i.org_id = ${organizationId} and i.deleted_at is null group by i.project_id
    )
    update project p set item_count = coalesce(c.items, 0), storage_bytes = coalesce(c.bytes, 0)
    from project q left join counted c on c.project_id = q.id
    where p.id = q.id and q.org_id = ${organizationId} and q.deleted_at is null and (p.item_count, p.storage_bytes) is distinct
      from (coalesce(c.items, 0), coalesce(c.bytes, 0))
  `.execute(tx)
  const {
    rows: [recounted],
  } = await sql<{ storageBytes: number }>`
    update storage_account set used_bytes = (select coalesce(sum(storage_bytes), 0) from project where org_id = ${organizationId}
      and deleted_at is null) + (select coalesce(sum(size_bytes), 0) from kept_file where org_id = ${organizationId}),
      recalculated_at = ${now}
    where org_id = ${organizationId} returning used_bytes as "storageBytes"
  `.execute(tx)
  return { previousBytes: account!.usedBytes, storageBytes: recounted!.storageBytes }
}
