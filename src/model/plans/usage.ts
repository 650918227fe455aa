/** Meters: an organization's usage per UTC day. */
import { sql } from 'kysely'
import type { CountedMeter } from '#core/meters.ts'
import type { Db, Tx } from '#db/tables.ts'

export interface Reading {
  organizationId: string
  /** YYYY-MM-DD */
  day: string
  meter: CountedMeter
  amount: number
}

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

/** Adds to the meters in one statement. Rows are locked in a fixed order to avoid deadlocks. */
export async function add(db: Db | Tx, readings: readonly Reading[]): Promise<void> {
  if (readings.length === 0) return
  const sorted = readings.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  await sql`
    insert into usage_day as u (org_id, day, meter, amount)
    select * from unnest(${sorted.map((each) => each.organizationId)}::uuid[],
      ${sorted.map(({ day }) => day)}::date[], ${sorted.map(({ meter }) => meter)}::text[], ${sorted.map(({ amount }) => amount)}::bigint[])
    on conflict (org_id, day, meter) do update set amount = u.amount + excluded.amount
  `.execute(db)
}

export const keyOf = ({ organizationId, day, meter }: Omit<Reading, 'amount'>): string => `${organizationId} ${day} ${meter}`

/** Clips are counted separately from all other jobs. */
export type JobMeter = 'compute_jobs' | 'processing_jobs'

const monthOf = (now: Date): string => `${dayOf(now).slice(0, 7)}-01`

/**
 * Organizations whose usage counts against one organization's quotas: itself and, on the free plan, those that its founder deleted
 * this month.
 */
export const sharingQuotas = (organizationId: string, now: Date) => sql`(
  select ${organizationId}::uuid union all
  select d.id from organization o join organization d on d.founded_by = o.founded_by
  where o.id = ${organizationId} and o.plan_id = 'free' and d.deleted_at >= ${monthOf(now)}::date::timestamp at time zone 'UTC'
)`

/** Jobs that count against this month's quota (UTC). */
export async function jobsOfMonth(db: Db, organizationId: string, meter: JobMeter, now: Date): Promise<{ used: number; own: number }> {
  const { rows } = await sql<{ used: number; own: number }>`
    select coalesce(sum(amount), 0)::bigint as used,
      coalesce(sum(amount) filter (where org_id = ${organizationId}), 0)::bigint as own
    from usage_day
    where org_id in ${sharingQuotas(organizationId, now)} and meter = ${meter} and day >= ${monthOf(now)}::date
      and day <= ${dayOf(now)}::date
  `.execute(db)
  return rows[0]!
}

/** A day's storage is its highest value. */
export async function snapshotStorage(db: Db, now: Date): Promise<void> {
  await sql`
    insert into usage_day as u (org_id, day, meter, amount)
    select org_id, ${dayOf(now)}::date, 'storage_bytes', used_bytes from storage_account where used_bytes > 0
    on conflict (org_id, day, meter) do update set amount = greatest(u.amount, excluded.amount)
  `.execute(db)
}
