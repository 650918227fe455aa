/** PostgreSQL's own way of taking in many rows: one stream of text, no statement to parse and no JSON to take apart. */
import { CompiledQuery } from 'kysely'
import type pg from 'pg'
import { from } from 'pg-copy-streams'
import type { Tx } from './tables.ts'

/** Begins a statement whose only parameter is what follows it down the wire. */
export const COPY = 'copy '

type Cell = string | number | boolean | Date | null
/** A list of texts or numbers; what is an array in a column. */
type Value = Cell | readonly (string | number)[]

/** Appends rows to a table; `columns` are names of ours with spaces between, in the order of each row. */
export async function copyInto(tx: Tx, table: string, columns: string, rows: readonly (readonly Value[])[]): Promise<void> {
  if (rows.length === 0) return
  const lines = rows.map((row) => row.map(cellText).join('\t'))
  await tx.executeQuery(
    CompiledQuery.raw(`${COPY}${table} (${columns.replaceAll(' ', ', ')}) from stdin`, [Buffer.from(`${lines.join('\n')}\n`)]),
  )
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const escaped = (text: string): string => (/[\\\t\n\r]/.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (found) => ESCAPES[found]!) : text)

function cellText(value: Value): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') return escaped(value)
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object') return String(value)
  return escaped(`{${value.map((each) => (typeof each === 'number' ? each : `"${each.replaceAll(/["\\]/g, '\\$&')}"`)).join(',')}}`)
}

/** What the wrapper around a connection does with such a statement. */
export async function runCopy(
  client: pg.PoolClient,
  text: string,
  data: Buffer,
): Promise<{ command: 'COPY'; rowCount: number; rows: never[] }> {
  const stream = client.query(from(text))
  await new Promise<void>((resolve, reject) => {
    stream.once('error', reject)
    stream.once('finish', () => resolve())
    stream.end(data)
  })
  return { command: 'COPY', rowCount: stream.rowCount, rows: [] }
}
