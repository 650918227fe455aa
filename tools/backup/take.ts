/** Takes a backup, while the service runs or not. */
import type pg from 'pg'
import { newId } from '#core/ids.ts'
import { MIGRATIONS } from '#db/migrate.ts'
import { schemaStatus } from '#db/migration-runner.ts'
import { requireRestored } from '#db/restore-mark.ts'
import type { Db } from '#db/tables.ts'
import { keyFingerprint, type Installation } from './command.ts'
import { BackupError, beginFolder, finishFolder, FORMAT, FORMAT_VERSION, type Manifest } from './layout.ts'
import type { Progress } from './progress.ts'
import { takeSnapshot, type Selection } from './snapshot.ts'
import { tablesOf } from './tables.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** Reports and invoices are in buckets of their own; those of projects are in the database. */
const COMMON_BUCKETS = ['invoices', 'reports']
const BUCKETS = `
  select bucket_name as bucket from project where bucket_name is not null union select bucket from kept_file
  union select bucket from asset where bucket is not null union select bucket from upload_session`

const EVERYTHING: Selection = {
  tables: async (client) => (await tablesOf(client)).map((table) => ({ table })),
  buckets: async (client: pg.Client) => {
    const { rows } = await client.query<{ bucket: string }>(BUCKETS)
    return [...new Set([...COMMON_BUCKETS, ...rows.map(({ bucket }) => bucket)])].toSorted()
  },
  // Files that items show; all others can be missing for a moment.
  references: `
    select a.bucket, a.object_key as key from asset a join item i on i.seq = a.item_seq
    where a.bucket is not null and a.object_key is not null and i.deleted_at is null`,
}

export async function takeBackup(installation: Installation, folder: string, progress: Progress): Promise<Manifest> {
  const { config, database } = installation
  const migrations = await ownMigrations(database.db)
  await beginFolder(folder)
  const taken = await takeSnapshot(installation, folder, EVERYTHING, progress)
  const manifest: Manifest = { ...aboutBackup(FORMAT), migrations, secrets_key: keyFingerprint(config), ...taken }
  await finishFolder(folder, manifest)
  progress.end()
  return manifest
}

export const aboutBackup = (format: string): Pick<Manifest, 'format' | 'version' | 'id' | 'created_at' | 'groundtrack'> => ({
  format,
  version: FORMAT_VERSION,
  id: newId(),
  created_at: new Date().toISOString(),
  groundtrack: packageJson.version,
})

/** A restore creates the schema with the migrations of its own version. */
export async function ownMigrations(db: Db): Promise<string[]> {
  await requireRestored(db)
  const { applied, unknown } = await schemaStatus(db, MIGRATIONS)
  if (applied.length === 0) throw new BackupError('The database is empty: there is nothing to back up')
  if (unknown.length > 0)
    throw new BackupError(`The database was migrated by a later version (${unknown.at(-1)}): back it up with that version`)
  return applied
}
