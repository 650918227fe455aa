/** When items were last accessed, which keeps items of a paid plan out of the archive. */
import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '#core/time.ts'
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { PLANS } from '#model/plans/plan.ts'

/** Accesses within this time count as one: a map requests hundreds of tiles of an item per second. */
const PRECISION_MS = HOUR_MS
const MAX_REMEMBERED = 50_000

/** By plan; null if nothing is archived. */
const IDLE_DAYS = JSON.stringify(
  Object.fromEntries(
    PLANS.filter(({ retention }) => retention.archivedAfterIdleDays !== null).map(({ id, retention }) => [
      id,
      retention.archivedAfterIdleDays,
    ]),
  ),
)

/**
 * Writes accesses, and postpones archiving if the plan archives unused items. Skips items that are locked; their next access counts.
 * Returns the access times that are now stored.
 */
export async function write(db: Db, accesses: ReadonlyMap<number, Date>): Promise<Map<number, Date>> {
  if (accesses.size === 0) return new Map()
  const recently = sql`a.at - make_interval(secs => ${PRECISION_MS / 1000})`
  const { rows } = await sql<{ seq: number; at: Date }>`
    with a as (
      select * from unnest(${[...accesses.keys()]}::bigint[], ${[...accesses.values()]}::timestamptz[]) as a (seq, at)
    ), used as (
      select i.seq, a.at, o.plan_id from a join item i on i.seq = a.seq join organization o on o.id = i.org_id
      where i.deleted_at is null and (i.last_accessed_at is null or i.last_accessed_at <= ${recently}) for no key update of i skip locked
    ), kept as (
      select seq, at, at + make_interval(days => (${IDLE_DAYS}::jsonb ->> plan_id)::integer) as archived_at from used
    ), written as (
      update item i set
        last_accessed_at = kept.at,
        expires_at = case when i.lifecycle_state = 'active' and i.due_at = i.expires_at then coalesce(kept.archived_at, i.expires_at)
          else i.expires_at end,
        due_at = case when i.lifecycle_state = 'active' and i.due_at = i.expires_at then coalesce(kept.archived_at, i.due_at)
          else i.due_at end
      from kept where i.seq = kept.seq returning i.seq, i.last_accessed_at
    )
    select seq, last_accessed_at as at from written union all select i.seq, i.last_accessed_at from a join item i on i.seq = a.seq
      where i.last_accessed_at > ${recently}
  `.execute(db)
  return new Map(rows.map(({ seq, at }) => [seq, at]))
}

/** Accesses that this process has written recently, to avoid repeated queries. */
export function createMemory() {
  const known = new LRUCache<number, number>({ max: MAX_REMEMBERED })
  return {
    isRecent: (seq: number, now: Date): boolean => {
      const atMs = known.get(seq)
      return atMs !== undefined && now.getTime() - atMs < PRECISION_MS
    },
    remember(accesses: ReadonlyMap<number, Date>): void {
      for (const [seq, at] of accesses) known.set(seq, at.getTime())
    },
  }
}
