/** Access logs of the object store that have been counted: each once, whatever happens in between. */
import type { Db, Tx } from '#db/tables.ts'

/** The last log that was counted, of those whose names begin with `prefix`. */
export async function last(db: Db, prefix: string): Promise<string | null> {
  const row = await db
    .selectFrom('access_log')
    .select((e) => e.fn.max('name').as('name'))
    .where('name', '^@', prefix)
    .executeTakeFirst()
  return (row?.name as string | null | undefined) ?? null
}

export async function uncounted(db: Db, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const rows = await db.selectFrom('access_log').select('name').where('name', 'in', names).execute()
  const counted = new Set(rows.map((row) => row.name))
  return names.filter((name) => !counted.has(name))
}

/** False if the log was counted before; the caller then counts nothing. */
export async function claim(tx: Tx, log: { name: string; downloads: number; bytes: number }, now: Date): Promise<boolean> {
  const result = await tx
    .insertInto('access_log')
    .values({ ...log, read_at: now })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Forgets logs that are never listed again. */
export async function forgetBefore(db: Db, prefix: string, name: string): Promise<void> {
  await db.deleteFrom('access_log').where('name', '^@', prefix).where('name', '<', name).execute()
}
