/** Rows and files as of one moment, in a folder. */
import type pg from 'pg'
import type { FileStore } from '#adapters/storage/files.ts'
import type { Installation } from './command.ts'
import { openObjects, type Manifest, type TableEntry } from './layout.ts'
import { collect, listObjects, objectsOf } from './objects.ts'
import type { Progress } from './progress.ts'
import { dumpTable, queueVersion, sequencesOf, withClient, type Table } from './tables.ts'

/** What to take. */
export interface Selection {
  /** Tables with the query of their rows; without one, all of them. */
  tables(client: pg.Client): Promise<{ table: Table; query?: string }[]>
  buckets(client: pg.Client): Promise<string[]>
  /** Selects `bucket` and `key` of files that must be there. */
  readonly references: string
}

type Taken = Pick<Manifest, 'tables' | 'sequences' | 'queue_version' | 'buckets' | 'objects' | 'problems'>

interface Rows {
  readonly tables: TableEntry[]
  readonly sequences: Manifest['sequences']
  readonly queueVersion: number
  readonly buckets: string[]
  /** Objects that rows refer to and the folder does not have. */
  readonly missing: string[]
}

const REFERENCES_A_FETCH = 5_000
/** How often the rows are read again because a file that they refer to was removed before it was copied. */
const MAX_ATTEMPTS = 5
const MAX_PROBLEMS = 1_000

/**
 * Most files are copied before the rows are read, and those that came meanwhile afterwards. So the snapshot of the database is open only
 * for as long as reading the rows takes, and a file that a row refers to is in the folder even if it was removed since.
 */
export async function takeSnapshot(
  { database, storage }: Installation,
  folder: string,
  selection: Selection,
  progress: Progress,
): Promise<Taken> {
  const files = await openObjects(folder)
  const onObject = (bytes: number) => progress.add(bytes)
  return await withClient(database.direct, async (client) => {
    progress.step('Files')
    const damaged = new Set(await collect(storage, files, objectsOf(storage, await selection.buckets(client)), onObject))
    const copyNewer = async (buckets: readonly string[]) => {
      progress.step('Files since')
      for (const name of await collect(storage, files, objectsOf(storage, buckets), onObject)) damaged.add(name)
    }
    let rows = await readRows(client, folder, { selection, files, copyNewer, progress })
    for (let nth = 1; rows.missing.length > 0 && nth < MAX_ATTEMPTS; nth++)
      rows = await readRows(client, folder, { selection, files, copyNewer, progress })
    progress.step('List of files')
    const { tables, sequences, buckets, missing } = rows
    return {
      tables,
      sequences,
      queue_version: rows.queueVersion,
      buckets,
      objects: await listObjects(folder, files, buckets),
      problems: [
        ...missing.map((name) => `${name}: an item refers to it, and the store does not have it`),
        ...[...damaged].map((name) => `${name}: damaged in the store`),
      ],
    }
  })
}

interface Reading {
  readonly selection: Selection
  readonly files: FileStore
  readonly copyNewer: (buckets: readonly string[]) => Promise<void>
  readonly progress: Progress
}

async function readRows(client: pg.Client, folder: string, { selection, files, copyNewer, progress }: Reading): Promise<Rows> {
  await client.query('begin isolation level repeatable read read only')
  try {
    progress.step('Rows')
    const tables: TableEntry[] = []
    for (const { table, query } of await selection.tables(client)) {
      const onBytes = (bytes: number) => progress.add(bytes, 0)
      tables.push(await dumpTable(client, folder, table, { onBytes, ...(query === undefined ? {} : { query }) }))
      progress.add(0)
    }
    const buckets = await selection.buckets(client)
    await copyNewer(buckets)
    const missing = await missingOf(client, selection.references, files)
    return { tables, sequences: await sequencesOf(client), queueVersion: await queueVersion(client), buckets, missing }
  } finally {
    await client.query('rollback')
  }
}

/** By the rows of the snapshot, a few at a time. */
async function missingOf(client: pg.Client, references: string, files: FileStore): Promise<string[]> {
  const missing: string[] = []
  await client.query(`declare referenced no scroll cursor for ${references}`)
  for (;;) {
    const { rows } = await client.query<{ bucket: string; key: string }>(`fetch ${REFERENCES_A_FETCH} from referenced`)
    if (rows.length === 0) return missing
    for (const at of rows) {
      if (missing.length >= MAX_PROBLEMS) return missing
      if (!(await files.stat(at))) missing.push(`${at.bucket}/${at.key}`)
    }
  }
}
