import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { directOf } from './connections.ts'
import type { Db } from './tables.ts'

/** How often a process asks whether another one has finished. */
const TURN_MS = 100

/**
 * Runs one piece of work at a time across all processes on this database. The lock is held by a transaction that does nothing else, so
 * that a killed process releases it, and a pooler does not give its connection to others meanwhile.
 */
export const withLock = <T>(db: Db, name: string, work: () => Promise<T>): Promise<T> =>
  withAdvisoryLock(db, sql`hashtextextended(${sql.lit(name)}, 0)`, work)

/**
 * The same for a lock with a number of its own. Whoever waits asks again and again, each time in a transaction that ends at once: an
 * index that is built concurrently waits for the end of every transaction that had a snapshot when it looked, so that the transaction
 * of somebody who waits for the builder itself would make both wait forever. The holder's has no snapshot after its only statement;
 * with a parameter it would keep one: `id` is a literal.
 */
export async function withAdvisoryLock<T>(db: Db, id: RawBuilder<unknown>, work: () => Promise<T>, onWaiting?: () => void): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const turn = await directOf(db)
      .transaction()
      .execute(async (tx) => {
        const { rows } = await sql<{ isFree: boolean }>`select pg_try_advisory_xact_lock(${id}) as "isFree"`.execute(tx)
        return rows[0]!.isFree ? { result: await work() } : null
      })
    if (turn) return turn.result
    if (attempt === 1) onWaiting?.()
    await sleep(TURN_MS)
  }
}
