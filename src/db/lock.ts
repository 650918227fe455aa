import { sql } from 'kysely'
import type { Db } from './tables.ts'

/**
 * Runs one piece of work at a time across all processes on this database. The lock ends with its connection, so a killed process
 * releases it.
 */
export async function withLock<T>(db: Db, name: string, work: () => Promise<T>): Promise<T> {
  return await db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(hashtextextended(${name}, 0))`.execute(connection)
    try {
      return await work()
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended(${name}, 0))`.execute(connection)
    }
  })
}
