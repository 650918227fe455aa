/** Epochs of the event stream: the clusters in which the database has lived, each with transaction IDs of its own. */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import { withLock } from '#db/lock.ts'
import type { Db } from '#db/tables.ts'

/** The newest events show whether their transactions can be this cluster's. */
const NEWEST_EVENTS = 1_000

/**
 * At the start of a process: begins an epoch if the database was restored into another cluster. Its transaction IDs are then counted
 * from behind the last event. Returns whether it was.
 */
export async function beginEpoch(db: Db, now: Date): Promise<boolean> {
  const system = await systemIdentifier(db)
  if (!(await isOther(db, system))) return false
  return await withLock(db, 'event epoch', async () => {
    if (!(await isOther(db, system))) return false
    await newEpoch(system, now).execute(db)
    return true
  })
}

/** The statement that begins an epoch in a restored database, for the transaction of its rows; also where both are in one cluster. */
export async function epochOfRestore(db: Db, now: Date): Promise<CompiledQuery> {
  return newEpoch(await systemIdentifier(db), now).compile(db)
}

/** A copy is another installation: it must not take the object store of the original for its own. */
const newEpoch = (system: string | null, now: Date): RawBuilder<unknown> => sql`
  with renewed as (update installation set id = gen_random_uuid(), created_at = ${now}::timestamptz)
  insert into event_epoch (epoch, first_txid, system_identifier, began_at)
  select max(epoch) + 1, (select coalesce(max(txid::text::numeric), 0) + 1 from event), ${system}::text, ${now}::timestamptz
  from event_epoch
`

/** Null if the role cannot read it. */
async function systemIdentifier(db: Db): Promise<string | null> {
  const { rows } = await sql<{ isAllowed: boolean }>`
    select has_function_privilege('pg_control_system()', 'execute') as "isAllowed"
  `.execute(db)
  if (!rows[0]!.isAllowed) return null
  const { rows: found } = await sql<{ id: string }>`select system_identifier::text as id from pg_control_system()`.execute(db)
  return found[0]!.id
}

/** Another cluster has another identifier. Where it is unknown, an event of a transaction that this one has not yet begun shows it. */
async function isOther(db: Db, system: string | null): Promise<boolean> {
  const { rows } = await sql<{ epoch: number; systemIdentifier: string | null; isAhead: boolean }>`
    select epoch, system_identifier as "systemIdentifier",
      exists (
        select from (select txid from event order by seq desc limit ${sql.lit(NEWEST_EVENTS)}) newest
        where txid::text::numeric >= pg_snapshot_xmax(pg_current_snapshot())::text::numeric + first_txid
      ) as "isAhead"
    from event_epoch order by epoch desc limit 1
  `.execute(db)
  const { epoch, systemIdentifier: last, isAhead } = rows[0]!
  if (last === null && system !== null && !isAhead)
    await sql`update event_epoch set system_identifier = ${system} where epoch = ${epoch}`.execute(db)
  return isAhead || (last !== null && system !== null && last !== system)
}
