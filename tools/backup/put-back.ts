/** Restores a backup into an installation that is empty. */
import type pg from 'pg'
import { systemClock } from '#core/clock.ts'
import { MIGRATIONS } from '#db/migrate.ts'
import { runMigrations } from '#db/migration-runner.ts'
import { openQueue } from '#db/queue.ts'
import { END_OF_RESTORE, markRestore, unfinishedRestore } from '#db/restore-mark.ts'
import { epochOfRestore } from '#model/events/epoch.ts'
import { installationId } from '#model/platform/installation.ts'
import { claimStore, ownerOf } from '#services/store/owner.ts'
import { createSchema as preparePayments } from '../../sandbox/payments/store.ts'
import { createSchema as prepareVendors } from '../../sandbox/vendors/store.ts'
import { keyFingerprint, type Installation } from './command.ts'
import { BackupError, FORMAT, openObjects, readManifest, type Manifest } from './layout.ts'
import { objectsOf, putBack } from './objects.ts'
import type { Progress } from './progress.ts'
import { loadTable, queueVersion, quoted, SCHEMAS, tablesOf, withClient } from './tables.ts'

/** Tables whose secrets only the key of their installation opens. */
const WITH_SECRETS: readonly string[] = ['public.vendor_account', 'public.sso_connection']

export interface Restored {
  readonly manifest: Manifest
  /** The credentials in the database were encrypted with another key than the one of this installation. */
  readonly needsOtherKey: boolean
}

/**
 * First a mark in the database, with which no process starts. Then the schema and the files, which nothing refers to yet. Then all rows in
 * one transaction, which also removes the mark: whatever happens, the target is empty, marked or complete.
 */
export async function restoreBackup(installation: Installation, folder: string, progress: Progress): Promise<Restored> {
  const { config, database, storage } = installation
  const manifest = await readManifest(folder, [FORMAT])
  requireKnown(manifest)
  await requireEmpty(installation, manifest)
  const { db } = database
  if ((await unfinishedRestore(db)) === null) await markRestore(db, manifest.id)

  progress.step('Schema')
  await runMigrations(db, Object.fromEntries(manifest.migrations.map((name) => [name, MIGRATIONS[name]!])), { phase: 'all' })
  const queue = await openQueue(db, { worker: false, onError: () => {} })
  await queue.stop()
  const hasTablesIn = (schema: string) => manifest.tables.some(({ name }) => name.startsWith(`${schema}.`))
  if (hasTablesIn('sandbox_payments')) await preparePayments(db)
  if (hasTablesIn('sandbox_vendors')) await prepareVendors(db)

  progress.step('Files')
  for (const bucket of manifest.buckets) await storage.createBucket(bucket)
  await putBack({ folder, backup: await openObjects(folder), buckets: manifest.buckets }, storage, (bytes) => progress.add(bytes))

  await withClient(database.direct, async (client) => {
    await requireSameSchema(client, manifest)
    const epoch = await epochOfRestore(db, systemClock.now())
    await client.query('begin')
    try {
      await loadRows(client, folder, manifest, progress)
      await client.query(epoch.sql, [...epoch.parameters])
      await client.query(END_OF_RESTORE)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    }
    progress.step('Statistics')
    await client.query('analyze')
  })
  await claimStore(storage, await installationId(db))
  progress.end()
  const hasCredentials = manifest.tables.some(({ name, rows }) => WITH_SECRETS.includes(name) && rows > 0)
  return { manifest, needsOtherKey: hasCredentials && manifest.secrets_key !== keyFingerprint(config) }
}

function requireKnown({ migrations, groundtrack }: Manifest): void {
  const unknown = migrations.filter((name) => !Object.hasOwn(MIGRATIONS, name))
  if (unknown.length > 0)
    throw new BackupError(
      `The backup is of a later version of Groundtrack (${groundtrack}, with ${unknown.at(-1)}): restore it with that version`,
    )
}

/** What is there is never mixed with a backup. A restore of the same backup that was interrupted is continued. */
async function requireEmpty({ database, storage }: Installation, { id, buckets }: Manifest): Promise<void> {
  const begun = await unfinishedRestore(database.db)
  if (begun === id) return
  if (begun !== null)
    throw new BackupError(`The restore of another backup (${begun}) into this database has not ended: empty the database first`)
  const tables = await withClient(database.direct, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `
      select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any ($1) and c.relkind in ('r', 'p') order by 1`,
      [SCHEMAS],
    )
    return rows
  })
  if (tables.length > 0)
    throw new BackupError(
      `The database is not empty: it has ${tables.length} tables, such as ${tables[0]!.name}. Restore into an empty one.`,
    )
  if ((await ownerOf(storage)) !== null)
    throw new BackupError('The object store belongs to another installation. Set STORAGE_URL or DATA_DIR to an empty one.')
  for await (const { bucket, key } of objectsOf(storage, buckets))
    throw new BackupError(`The object store is not empty: it has ${bucket}/${key}. Set STORAGE_URL or DATA_DIR to an empty one.`)
}

async function requireSameSchema(client: pg.Client, manifest: Manifest): Promise<void> {
  const version = await queueVersion(client)
  if (version !== manifest.queue_version)
    throw new BackupError(
      `The backup has schema ${manifest.queue_version} of the queue, and this version ${version}: ` +
        `restore it with Groundtrack ${manifest.groundtrack}, then upgrade`,
    )
  const tables = new Map((await tablesOf(client)).map(({ name, columns }) => [name, columns]))
  for (const { name, columns } of manifest.tables)
    if (tables.get(name)?.toSorted().join() !== columns.toSorted().join())
      throw new BackupError(`${name}: other columns than in this version`)
}

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/** Rows come in any order, so foreign keys are added behind them, which also checks them. */
async function loadRows(client: pg.Client, folder: string, manifest: Manifest, progress: Progress): Promise<void> {
  const keys = await foreignKeys(client)
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${quoted(name)}`)
  // Rules against changes must not keep the rows that migrations inserted, and other triggers have run where the rows come from.
  for (const { name } of manifest.tables) await client.query(`alter table ${quoted(name)} disable trigger user`)
  for (const { name } of manifest.tables) await client.query(`delete from ${quoted(name)}`)
  progress.step('Rows')
  for (const entry of manifest.tables) {
    await loadTable(client, folder, entry, { onBytes: (bytes) => progress.add(bytes, 0) })
    progress.add(0)
  }
  progress.step('Foreign keys')
  for (const { table, name, definition } of keys) await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`)
  for (const { name } of manifest.tables) await client.query(`alter table ${quoted(name)} enable trigger user`)
  for (const { name, last, is_called } of manifest.sequences)
    await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), last, is_called])
}

async function foreignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `
    select k.conrelid::regclass::text as "table", k.conname::text as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_namespace n on n.oid = k.connamespace
    where k.contype = 'f' and k.conparentid = 0 and n.nspname = any ($1) order by 1, 2`,
    [SCHEMAS],
  )
  return rows
}
