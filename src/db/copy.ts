/** Bulk inserts with PostgreSQL's `COPY`: one stream of text, without statements or JSON to parse. */
import { CompiledQuery } from 'kysely'
import type pg from 'pg'
import { from } from 'pg-copy-streams'
import type { Tx } from './tables.ts'

/** Prefix of a statement whose only parameter is the data to send after it. */
export const COPY = 'copy '

type Cell = string | number | boolean | Date | null
/** A list of strings or numbers for an array column. */
type Value = Cell | readonly (string | number)[]

/** Appends rows to a table; `columns` are our own names separated by spaces, in the order of each row. */
export async function copyInto(tx: Tx, table: string, columns: string, rows: readonly (readonly Value[])[]): Promise<void> {
  if (rows.length === 0) return
  const timeText = timeTexts()
  let text = ''
  for (const row of rows) {
    for (let i = 0; i < row.length; i++) text += i === 0 ? cellText(row[i]!, timeText) : `\t${cellText(row[i]!, timeText)}`
    text += '\n'
  }
  await tx.executeQuery(CompiledQuery.raw(`${COPY}${table} (${columns.replaceAll(' ', ', ')}) from stdin`, [Buffer.from(text)]))
}

/** Most timestamps of an import are the same: the time of the import. */
function timeTexts(): (time: Date) => string {
  const texts = new Map<number, string>()
  return (time) => {
    const cached = texts.get(time.getTime())
    if (cached !== undefined) return cached
    const isoText = time.toISOString()
    if (texts.size < MAX_KNOWN_TIMES) texts.set(time.getTime(), isoText)
    return isoText
  }
}
const MAX_KNOWN_TIMES = 100

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const SPECIAL = /[\\\t\n\r]/
const escaped = (text: string): string => (SPECIAL.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character]!) : text)

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

/** How the connection wrapper runs such a statement. */
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
