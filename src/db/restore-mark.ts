/** A mark in a database that is being restored: it exists from the beginning of the restore until everything is there. */
import { sql } from 'kysely'
import { directOf } from './connections.ts'
import type { Db } from './tables.ts'

const TABLE = 'unfinished_restore'

/** Its message tells the operator how to continue. */
export class RestoreUnfinished extends Error {}

/** The backup whose restore has begun and not ended; null if there is none. */
export async function unfinishedRestore(db: Db): Promise<string | null> {
  const direct = directOf(db)
  const { rows } = await sql<{ exists: boolean }>`select to_regclass(${TABLE}) is not null as "exists"`.execute(direct)
  if (!rows[0]!.exists) return null
  return (await sql<{ backup: string }>`select backup from ${sql.table(TABLE)}`.execute(direct)).rows[0]?.backup ?? ''
}

export async function markRestore(db: Db, backup: string): Promise<void> {
  await directOf(db)
    .transaction()
    .execute(async (tx) => {
      await sql`create table ${sql.table(TABLE)} (backup text not null)`.execute(tx)
      await sql`insert into ${sql.table(TABLE)} (backup) values (${backup})`.execute(tx)
    })
}

/** The statement that ends the restore, in the transaction of its rows. */
export const END_OF_RESTORE = `drop table ${TABLE}`
/** Of no backup. */
export const RESTORE_TABLE = `public.${TABLE}`

/** No process starts on half of a backup. */
export async function requireRestored(db: Db): Promise<void> {
  const backup = await unfinishedRestore(db)
  if (backup !== null)
    throw new RestoreUnfinished(
      `The restore of the backup ${backup} into this database has not ended. Run it again: groundtrack restore <folder of the backup>`,
    )
}
