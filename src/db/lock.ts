import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { directOf } from './connections.ts'
import type { Db, Tx } from './tables.ts'

/** How often a process asks whether another one has finished. */
const TURN_MS = 100

/**
 * Runs one piece of work at a time across all processes on this database. The lock is held by a transaction that does nothing else, so
 * that a killed process releases it, and a pooler does not give its connection to others meanwhile.
 */
export async function withLock<T>(db: Db, name: string, work: () => Promise<T>): Promise<T> {
  return await directOf(db)
    .transaction()
    .execute(async (tx) => {
      await waitForLock(tx, sql`hashtextextended(${sql.lit(name)}, 0)`)
      return await work()
    })
}

/**
 * Takes an advisory lock for the rest of the transaction. It asks again and again: a statement that waited for the lock would keep its
 * snapshot, and an index that is built concurrently would wait for the end of that snapshot. So would a statement with parameters,
 * even when it has ended, until the next one: `id` is a literal.
 */
export async function waitForLock(tx: Tx, id: RawBuilder<unknown>, onWaiting?: () => void): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await sql<{ isFree: boolean }>`select pg_try_advisory_xact_lock(${id}) as "isFree"`.execute(tx)
    if (rows[0]!.isFree) return
    if (attempt === 1) onWaiting?.()
    await sleep(TURN_MS)
  }
}
