/** Takes a backup, while the service runs or not. */
import type pg from 'pg'
import { newId } from '#core/ids.ts'
import { MIGRATIONS } from '#db/migrate.ts'
import { schemaStatus } from '#db/migration-runner.ts'
import { requireRestored } from '#db/restore-mark.ts'
import type { Db } from '#db/tables.ts'
import type { FileStore } from '#adapters/storage/files.ts'
import { keyFingerprint, type Installation } from './command.ts'
import { BackupError, beginFolder, finishFolder, FORMAT, FORMAT_VERSION, openObjects, type Manifest, type TableEntry } from './layout.ts'
import { collect, listObjects, objectsOf } from './objects.ts'
import type { Progress } from './progress.ts'
import { dumpTable, queueVersion, sequencesOf, tablesOf, withClient } from './tables.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** Reports and invoices are in buckets of their own; those of projects are in the database. */
const COMMON_BUCKETS = ['invoices', 'reports']
const BUCKETS = `
  select bucket_name as bucket from project where bucket_name is not null union select bucket from kept_file
  union select bucket from asset where bucket is not null union select bucket from upload_session`
/** Files that items show; all others can be missing for a moment. */
const REFERENCES = `
  select a.bucket, a.object_key as key from asset a join item i on i.seq = a.item_seq
  where a.bucket is not null and a.object_key is not null and i.deleted_at is null`
const REFERENCES_A_FETCH = 5_000
/** How often the rows are read again because a file that they refer to was removed before it was copied. */
const MAX_SNAPSHOTS = 5
const MAX_PROBLEMS = 1_000

interface Snapshot {
  readonly tables: TableEntry[]
  readonly sequences: Manifest['sequences']
  readonly queueVersion: number
  readonly buckets: string[]
  /** Objects that rows refer to and the backup does not have. */
  readonly missing: string[]
}

/**
 * Most files are copied before the rows are read, and those that came meanwhile afterwards. So the snapshot of the database is open only
 * for as long as reading the rows takes, and a file that a row refers to is in the backup even if it was removed since.
 */
export async function takeBackup({ config, database, storage }: Installation, folder: string, progress: Progress): Promise<Manifest> {
  await requireOwnSchema(database.db)
  await beginFolder(folder)
  const backup = await openObjects(folder)
  const onObject = (bytes: number) => progress.add(bytes)
  return await withClient(database.direct, async (client) => {
    progress.step('Files')
    const damaged = new Set(await collect(storage, backup, objectsOf(storage, await bucketsOf(client)), onObject))
    let snapshot: Snapshot
    for (let nth = 1; ; nth++) {
      snapshot = await takeSnapshot(client, folder, progress, async ({ buckets }) => {
        progress.step('Files since')
        for (const name of await collect(storage, backup, objectsOf(storage, buckets), onObject)) damaged.add(name)
        return await missingOf(client, backup)
      })
      if (snapshot.missing.length === 0 || nth === MAX_SNAPSHOTS) break
    }
    progress.step('List of files')
    const { tables, sequences, buckets } = snapshot
    const manifest: Manifest = {
      format: FORMAT,
      version: FORMAT_VERSION,
      id: newId(),
      created_at: new Date().toISOString(),
      groundtrack: packageJson.version,
      migrations: (await schemaStatus(database.db, MIGRATIONS)).applied,
      queue_version: snapshot.queueVersion,
      secrets_key: keyFingerprint(config),
      tables,
      sequences,
      buckets,
      objects: await listObjects(folder, backup, buckets),
      problems: [
        ...snapshot.missing.map((name) => `${name}: an item refers to it, and the store does not have it`),
        ...[...damaged].map((name) => `${name}: damaged in the store`),
      ],
    }
    await finishFolder(folder, manifest)
    progress.end()
    return manifest
  })
}

/** A restore creates the schema with the migrations of its own version. */
async function requireOwnSchema(db: Db): Promise<void> {
  await requireRestored(db)
  const { applied, unknown } = await schemaStatus(db, MIGRATIONS)
  if (applied.length === 0) throw new BackupError('The database is empty: there is nothing to back up')
  if (unknown.length > 0)
    throw new BackupError(`The database was migrated by a later version (${unknown.at(-1)}): back it up with that version`)
}

async function bucketsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ bucket: string }>(BUCKETS)
  return [...new Set([...COMMON_BUCKETS, ...rows.map(({ bucket }) => bucket)])].toSorted()
}

async function takeSnapshot(
  client: pg.Client,
  folder: string,
  progress: Progress,
  afterRows: (snapshot: { buckets: string[] }) => Promise<string[]>,
): Promise<Snapshot> {
  await client.query('begin isolation level repeatable read read only')
  try {
    progress.step('Rows')
    const tables: TableEntry[] = []
    for (const table of await tablesOf(client)) {
      tables.push(await dumpTable(client, folder, table, { onBytes: (bytes) => progress.add(bytes, 0) }))
      progress.add(0)
    }
    const buckets = await bucketsOf(client)
    const missing = await afterRows({ buckets })
    return { tables, sequences: await sequencesOf(client), queueVersion: await queueVersion(client), buckets, missing }
  } finally {
    await client.query('rollback')
  }
}

/** By the rows of the snapshot, a few at a time. */
async function missingOf(client: pg.Client, backup: FileStore): Promise<string[]> {
  const missing: string[] = []
  await client.query(`declare referenced no scroll cursor for ${REFERENCES}`)
  for (;;) {
    const { rows } = await client.query<{ bucket: string; key: string }>(`fetch ${REFERENCES_A_FETCH} from referenced`)
    if (rows.length === 0) return missing
    for (const at of rows) {
      if (missing.length >= MAX_PROBLEMS) return missing
      if (!(await backup.stat(at))) missing.push(`${at.bucket}/${at.key}`)
    }
  }
}
