/** Rows of tables as files, by PostgreSQL's own COPY: the same from and to any server, also one without `pg_dump`. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import pg from 'pg'
import { from, to } from 'pg-copy-streams'
import { RESTORE_TABLE } from '#db/restore-mark.ts'
import { BackupError, tableFile, type SequenceEntry, type TableEntry } from './layout.ts'

export interface Table {
  /** With its schema. */
  readonly name: string
  /** Without generated ones, which the server computes again. */
  readonly columns: readonly string[]
}

/** Ours, that of the queue, and those of the simulated card processor and vendors, where they are used. */
export const SCHEMAS = ['public', 'queue', 'sandbox_payments', 'sandbox_vendors']
/** Rate limits of the minute, marks of running processes, links of traces, and statistics of the queue in partitions of its own. */
const LEFT_OUT = new Set(['public.rate_window', 'public.replica_mark', 'public.trace_link', 'queue.queue_stats', RESTORE_TABLE])
/** Fast, and a third of the size: rows are text. */
const GZIP_LEVEL = 1
/** Texts of values do not depend on the settings of a server or a role. */
const SESSION = [
  'set timezone = UTC',
  "set datestyle = 'ISO, YMD'",
  'set intervalstyle = postgres',
  'set extra_float_digits = 1',
  'set bytea_output = hex',
  'set client_encoding = UTF8',
  'set statement_timeout = 0',
  'set lock_timeout = 0',
  'set idle_in_transaction_session_timeout = 0',
].join('; ')

export const quoted = (name: string): string => name.split('.').map(pg.escapeIdentifier).join('.')

/** A connection to the server itself, for as long as the work takes. */
export async function withClient<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...config, application_name: 'groundtrack backup' })
  client.on('error', () => {}) // The statement fails anyway.
  await client.connect()
  try {
    await client.query(SESSION)
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Every table of ours and of the queue; a partitioned one counts once. */
export async function tablesOf(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `
    select n.nspname || '.' || c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where n.nspname = any ($1) and c.relkind in ('r', 'p') and not c.relispartition
    group by 1 order by 1`,
    [SCHEMAS],
  )
  return rows.filter(({ name }) => !LEFT_OUT.has(name))
}

/** A sequence may be ahead of the rows of the snapshot, which is harmless; it is never behind. */
export async function sequencesOf(client: pg.Client): Promise<SequenceEntry[]> {
  const { rows } = await client.query<{ name: string }>(
    `
    select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any ($1) and c.relkind = 'S' order by 1`,
    [SCHEMAS],
  )
  const sequences: SequenceEntry[] = []
  for (const { name } of rows) {
    const { rows: values } = await client.query<{ last: string; is_called: boolean }>(
      `select last_value::text as last, is_called from ${quoted(name)}`,
    )
    sequences.push({ name, ...values[0]! })
  }
  return sequences
}

export async function queueVersion(client: pg.Client): Promise<number> {
  return (await client.query<{ version: number }>('select version from queue.version')).rows[0]!.version
}

/** Hashes and counts what passes. */
function meter(onBytes: (bytes: number) => void): Transform & { hash: Hash; bytes: number } {
  const hash = createHash('sha256')
  const through = Object.assign(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk)
        through.bytes += chunk.length
        onBytes(chunk.length)
        done(null, chunk)
      },
    }),
    { hash, bytes: 0 },
  )
  return through
}

/** Writes the rows of a query in the text format of COPY; `query` returns the columns of the table. */
export async function dumpTable(
  client: pg.Client,
  folder: string,
  { name, columns }: Table,
  { query, onBytes }: { query?: string; onBytes: (bytes: number) => void },
): Promise<TableEntry> {
  const all = query ?? `select ${columns.map((column) => pg.escapeIdentifier(column)).join(', ')} from ${quoted(name)}`
  const rows = client.query(to(`copy (${all}) to stdout`))
  const through = meter(onBytes)
  await pipeline(rows, through, createGzip({ level: GZIP_LEVEL }), createWriteStream(tableFile(folder, name), { flush: true, mode: 0o600 }))
  return { name, columns, rows: rows.rowCount, bytes: through.bytes, sha256: through.hash.digest('hex') }
}

/** Adds the rows of a file to a table, and fails if they are not those of the manifest. */
export async function loadTable(
  client: pg.Client,
  folder: string,
  entry: TableEntry,
  { into = entry.name, onBytes }: { into?: string; onBytes: (bytes: number) => void },
): Promise<void> {
  const columns = entry.columns.map((column) => pg.escapeIdentifier(column)).join(', ')
  const rows = client.query(from(`copy ${quoted(into)} (${columns}) from stdin`))
  const through = meter(onBytes)
  await pipeline(createReadStream(tableFile(folder, entry.name)), createGunzip(), through, rows)
  const difference = differenceOf(entry, { rows: rows.rowCount, bytes: through.bytes, sha256: through.hash.digest('hex') })
  if (difference) throw new BackupError(difference)
}

/** Reads a file again; null if it is what the manifest states. */
export async function checkTable(folder: string, entry: TableEntry, onBytes: (bytes: number) => void): Promise<string | null> {
  const through = meter(onBytes)
  let rows = 0
  try {
    await pipeline(createReadStream(tableFile(folder, entry.name)), createGunzip(), through, async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) rows++
    })
  } catch (error) {
    return `${entry.name}: ${(error as Error).message}`
  }
  return differenceOf(entry, { rows, bytes: through.bytes, sha256: through.hash.digest('hex') })
}

function differenceOf(entry: TableEntry, found: Pick<TableEntry, 'rows' | 'bytes' | 'sha256'>): string | null {
  if (found.sha256 === entry.sha256 && found.rows === entry.rows) return null
  return `${entry.name}: ${found.rows} rows in ${found.bytes} bytes instead of ${entry.rows} in ${entry.bytes}, or others`
}
