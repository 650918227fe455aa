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
  const text = timeTexts()
  let lines = ''
  for (const row of rows) {
    for (let i = 0; i < row.length; i++) lines += i === 0 ? cellText(row[i]!, text) : `\t${cellText(row[i]!, text)}`
    lines += '\n'
  }
  await tx.executeQuery(CompiledQuery.raw(`${COPY}${table} (${columns.replaceAll(' ', ', ')}) from stdin`, [Buffer.from(lines)]))
}

/** Most times of an import are the same one: that of the import. */
function timeTexts(): (time: Date) => string {
  const known = new Map<number, string>()
  return (time) => {
    const found = known.get(time.getTime())
    if (found !== undefined) return found
    const made = time.toISOString()
    if (known.size < MAX_KNOWN_TIMES) known.set(time.getTime(), made)
    return made
  }
}
const MAX_KNOWN_TIMES = 100

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const SPECIAL = /[\\\t\n\r]/
const escaped = (text: string): string => (SPECIAL.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (found) => ESCAPES[found]!) : text)

function cellText(value: Value, timeText: (time: Date) => string): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') return escaped(value)
  if (typeof value !== 'object') return String(value)
  return value instanceof Date ? timeText(value) : listText(value)
}

function listText(values: readonly (string | number)[]): string {
  let list = '{'
  for (const [index, each] of values.entries()) {
    if (index > 0) list += ','
    list += typeof each === 'number' ? each : `"${QUOTED.test(each) ? each.replaceAll(/["\\]/g, '\\$&') : each}"`
  }
  return escaped(`${list}}`)
}
const QUOTED = /["\\]/

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
