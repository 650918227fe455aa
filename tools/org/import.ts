/** Imports an organization that another installation has exported; others in this one are not affected. */
import pg from 'pg'
import type { Storage } from '#ports/storage.ts'
import type { Installation } from '../backup/command.ts'
import { BackupError, openObjects, ORG_FORMAT, readManifest, type TableEntry } from '../backup/layout.ts'
import { objectsOf, putBack } from '../backup/objects.ts'
import type { Progress } from '../backup/progress.ts'
import { loadTable, quoted, tablesOf, withClient } from '../backup/tables.ts'
import { ownMigrations } from '../backup/take.ts'
import type { OrgManifest } from './export.ts'
import { forOrg, userColumns, type UserColumn } from './organization.ts'
import { COUNTED, ORG_TABLES } from './tables.ts'

export interface Imported {
  readonly manifest: OrgManifest
  readonly newUsers: number
  readonly knownUsers: number
}

const PROJECT_BUCKET = /^svc-[0-9a-f-]{36}$/

/** Files first, which nothing refers to yet; then all rows in one transaction. If it fails, the files are removed again. */
export async function importOrganization({ database, storage }: Installation, folder: string, progress: Progress): Promise<Imported> {
  const manifest = (await readManifest(folder, [ORG_FORMAT])) as OrgManifest
  requireImportable(manifest, await ownMigrations(database.db))
  return await withClient(database.direct, async (client) => {
    await requireAbsent(client, storage, manifest)
    try {
      progress.step('Files')
      for (const bucket of manifest.buckets) await storage.createBucket(bucket)
      await putBack({ folder, backup: await openObjects(folder), buckets: manifest.buckets }, storage, (bytes) => progress.add(bytes))
      await client.query('begin')
      const users = await importRows(client, folder, manifest, progress)
      await requireOwn(client, manifest)
      await client.query('commit')
      progress.end()
      return { manifest, ...users }
    } catch (error) {
      await client.query('rollback')
      for (const bucket of manifest.buckets) await storage.deleteBucket(bucket)
      throw error
    }
  })
}

function requireImportable({ migrations, unfinished, groundtrack }: OrgManifest, own: readonly string[]): void {
  if (unfinished.length > 0)
    throw new BackupError(
      `Work of the organization had not ended when it was exported: ${unfinished.join(', ')}. End it there, and export again.`,
    )
  const others = migrations.filter((name) => !own.includes(name)).concat(own.filter((name) => !migrations.includes(name)))
  if (others.length > 0)
    throw new BackupError(
      `The export is of another version of the schema (${groundtrack}; ${others.join(', ')}): upgrade the older installation first`,
    )
}

async function requireAbsent(client: pg.Client, storage: Storage, { organization, buckets }: OrgManifest): Promise<void> {
  const { rows } = await client.query('select from organization where id = $1 union all select from erasure where org_id = $1', [
    organization.id,
  ])
  if (rows.length > 0)
    throw new BackupError(`This installation has, or has erased, the organization ${organization.id}: it cannot be imported`)
  const { rowCount: taken } = await client.query('select from project where bucket_name = any ($1)', [buckets])
  if (taken! > 0 || !buckets.every((bucket) => PROJECT_BUCKET.test(bucket)))
    throw new BackupError("The export names buckets that are not the organization's")
  for await (const { bucket } of objectsOf(storage, buckets)) throw new BackupError(`The object store has files in ${bucket} already`)
}

/** Rows are staged as they were, and inserted with the accounts and numbers of this installation. */
async function importRows(
  client: pg.Client,
  folder: string,
  manifest: OrgManifest,
  progress: Progress,
): Promise<Pick<Imported, 'newUsers' | 'knownUsers'>> {
  progress.step('Rows')
  const known = new Map((await tablesOf(client)).map(({ name, columns }) => [name, columns]))
  const entries = new Map(manifest.tables.map((entry) => [entry.name, entry]))
  const users = await userColumns(client)
  const stage = async (name: string): Promise<TableEntry> => {
    const entry = entries.get(`public.${name}`)
    if (!entry || entry.columns.toSorted().join() !== known.get(entry.name)?.toSorted().join())
      throw new BackupError(`public.${name}: missing, or with other columns than in this version`)
    await client.query(`create temp table moved_${name} (like ${name}) on commit drop`)
    // Generated columns are not part of the rows.
    await client.query(
      (
        await client.query<{ line: string }>(
          `select coalesce(string_agg(format('alter table moved_${name} alter column %I drop not null', attname), '; '), '') as line
         from pg_attribute where attrelid = '${name}'::regclass and attgenerated <> ''`,
        )
      ).rows[0]!.line,
    )
    await loadTable(client, folder, entry, { into: `pg_temp.moved_${name}`, onBytes: (bytes) => progress.add(bytes, 0) })
    await client.query(`analyze moved_${name}`)
    progress.add(0)
    return entry
  }

  const counts = await importUsers(client, await stage('app_user'))
  for (const { name, move } of ORG_TABLES) {
    if (move !== 'moves') continue
    const { columns } = await stage(name)
    await countAnew(client, name)
    const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
    const values = columns.map((column) => valueOf(name, column, users)).join(', ')
    await client.query(`insert into ${name} (${list}) overriding system value select ${values} from moved_${name} m`)
  }
  return counts
}

/** An export can come from anybody: its rows are those of its organization, and lead neither to rows nor to files of others. */
async function requireOwn(client: pg.Client, { organization, buckets }: OrgManifest): Promise<void> {
  const refuse = (what: string) => new BackupError(`${what}: the export contains what is not the organization's`)
  for (const { name, move, where } of ORG_TABLES) {
    if (move !== 'moves' || name === 'lineage_edge') continue // Edges are between nodes of the export, by their new numbers.
    const { rowCount } = await client.query(forOrg(`select from moved_${name} where (${where}) is not true limit 1`, organization))
    if (rowCount! > 0) throw refuse(name)
  }
  const { rows: keys } = await client.query<{ child: string; column: string; parent: string; key: string }>(`
    select c.relname::text as child, a.attname::text as "column", p.relname::text as parent, b.attname::text as key
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    join pg_attribute b on b.attrelid = p.oid and b.attnum = k.confkey[1]
    where k.contype = 'f' and k.conparentid = 0
      and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'org_id')
      and exists (select from pg_attribute o where o.attrelid = p.oid and o.attname = 'org_id')`)
  for (const { child, column, parent, key } of keys) {
    const others = `select from ${child} c join ${parent} p on p.${quoted(key)} = c.${quoted(column)}
      where c.org_id = {org} and p.org_id <> {org} limit 1`
    if ((await client.query(forOrg(others, organization))).rowCount! > 0) throw refuse(`${child}.${column}`)
  }
  for (const [table, column] of [
    ['project', 'bucket_name'],
    ['asset', 'bucket'],
    ['upload_session', 'bucket'],
  ] as const) {
    const { rowCount } = await client.query(`select from moved_${table} where not ${column} = any ($1) limit 1`, [buckets])
    if (rowCount! > 0) throw refuse(`${table}.${column}`)
  }
}

/** A person who has an account here keeps it; others get one without a password, which they reset by email. */
async function importUsers(client: pg.Client, { columns }: TableEntry): Promise<Pick<Imported, 'newUsers' | 'knownUsers'>> {
  const list = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
  const { rowCount } = await client.query(`insert into app_user (${list}) select ${list} from moved_app_user on conflict do nothing`)
  await client.query(`
    create temp table same_user on commit drop as
    select m.id as old, u.id as new from moved_app_user m join app_user u on u.email = m.email`)
  await client.query('create unique index on same_user (old)')
  const { rows } = await client.query<{ moved: number; same: number }>(
    'select (select count(*)::int from moved_app_user) as moved, (select count(*)::int from same_user) as same',
  )
  if (rows[0]!.moved !== rows[0]!.same) throw new BackupError('An account of the export has the ID of another person here')
  return { newUsers: rowCount ?? 0, knownUsers: rows[0]!.moved - (rowCount ?? 0) }
}

/** New numbers in the same order, for tables that count their rows. */
async function countAnew(client: pg.Client, name: string): Promise<void> {
  if (COUNTED[name]?.['seq'] !== name) return
  await client.query(`
    create temp table same_${name} on commit drop as
    select seq as old, nextval(pg_get_serial_sequence('${name}', 'seq')) as new
    from (select seq from moved_${name} order by seq) as counted`)
  await client.query(`create unique index on same_${name} (old)`)
  await client.query(`analyze same_${name}`)
}

function valueOf(table: string, column: string, users: readonly UserColumn[]): string {
  const from = `m.${pg.escapeIdentifier(column)}`
  const counter = COUNTED[table]?.[column]
  if (counter) return `(select s.new from same_${counter} s where s.old = ${from})`
  if (users.some((each) => each.table === table && each.column === column)) return `(select s.new from same_user s where s.old = ${from})`
  const key = `${table}.${column}`
  // Slugs are unique here, too.
  if (key === 'organization.slug')
    return `${from} || case when exists (select from organization o where o.slug = ${from}) then '-' || left(m.id::text, 8) else '' end`
  // The next invoices of this installation would get the same numbers.
  if (key === 'invoice.number') return `${from} || '.' || left(m.org_id::text, 8)`
  return from
}
