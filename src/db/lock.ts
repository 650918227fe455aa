import { sql } from 'kysely'
import { directOf } from './connections.ts'
import type { Db } from './tables.ts'

/**
 * Runs one piece of work at a time across all processes on this database. The lock is held by a transaction that does nothing else, so
 * that a killed process releases it, and a pooler does not give its connection to others meanwhile.
 */
export async function withLock<T>(db: Db, name: string, work: () => Promise<T>): Promise<T> {
  return await directOf(db)
    .transaction()
    .execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
      return await work()
    })
}
