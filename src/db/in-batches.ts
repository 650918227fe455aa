import { sql, type RawBuilder } from 'kysely'
import type { Db, Tables } from './tables.ts'

/** Rows that one statement of a sweep changes: few enough for the deadline of statements, even on a slow disk. */
const BATCH_ROWS = 5_000
/** Of one sweep; the next one continues. */
const MAX_BATCHES = 400

/**
 * Repeats a statement that changes at most `limit` rows, until none are left, so that no sweep exceeds the deadline of a statement,
 * however much has accumulated. Returns the number of rows.
 */
export async function inBatches(step: (limit: number) => Promise<number>, limit = BATCH_ROWS): Promise<number> {
  let total = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const changed = await step(limit)
    total += changed
    if (changed < limit) break
  }
  return total
}

/** Deletes the rows that a condition selects, found by their primary key. */
export async function deleteInBatches(
  db: Db,
  { table, key, where }: { table: keyof Tables; key: readonly string[]; where: RawBuilder<boolean> },
): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  return await inBatches(async (limit) => {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where (${columns}) in (select ${columns} from ${sql.table(table)} where ${where} limit ${limit})
        and ${where}
    `.execute(db)
    return Number(numAffectedRows)
  })
}
