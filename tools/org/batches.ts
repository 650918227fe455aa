/**
 * Changes any number of rows in short transactions, so that nobody waits long for a lock and an interrupted command loses little.
 *
 * A cursor that outlives its transaction finds the rows once, wherever they are in a table; looking for the next ones again and again
 * would read past all those that were deleted before. The server keeps what it found, and only a batch at a time is in memory here.
 */
import type pg from 'pg'
import { quoted } from '../backup/tables.ts'

/** A batch with its foreign keys takes a fraction of a second, even on a slow disk. */
const BATCH_ROWS = 1_000

interface Batches {
  /** Each row is `t`, in the condition and in the statement. */
  readonly where: string
  /** The statement for rows of a table that the condition `rows` selects; it returns their number as `count`. */
  readonly statement: (table: string, rows: string) => string
  /** In the transaction of the batch. */
  readonly onBatch?: (count: number) => Promise<void>
}

export const deleting = (table: string, rows: string): string =>
  `with gone as (delete from ${table} t where ${rows} returning 1) select count(*)::int as count from gone`

/** Returns how many rows were changed. */
export async function inBatches(client: pg.Client, table: string, { where, statement, onBatch }: Batches): Promise<number> {
  let total = 0
  for (const leaf of await leavesOf(client, table)) {
    await client.query(`declare found_rows no scroll cursor with hold for select t.ctid::text as place from ${leaf} t where ${where}`)
    // A place can have another row since the cursor was opened: the condition is checked again.
    const text = statement(leaf, `t.ctid = any ($1::tid[]) and (${where})`)
    try {
      for (;;) {
        const { rows } = await client.query<{ place: string }>(`fetch ${BATCH_ROWS} from found_rows`)
        if (rows.length === 0) break
        total += await inTransaction(client, async () => {
          const { rows: changed } = await client.query<{ count: number }>(text, [rows.map(({ place }) => place)])
          const { count } = changed[0]!
          if (count > 0) await onBatch?.(count)
          return count
        })
      }
    } finally {
      await client.query('close found_rows').catch(() => {}) // The connection may have ended, and the cursor with it.
    }
  }
  return total
}

/** A transaction that can delete from tables which are append-only. */
export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    await client.query('set local groundtrack.erasing = on')
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {}) // What failed first is what the operator must know.
    throw error
  }
}

/** The tables that have the rows: places of rows are unique only within a partition. */
export async function leavesOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_partition_tree($1::regclass) p
     join pg_class c on c.oid = p.relid join pg_namespace n on n.oid = c.relnamespace where p.isleaf order by 1`,
    [quoted(table)],
  )
  return rows.length > 0 ? rows.map(({ name }) => name) : [quoted(table)]
}
