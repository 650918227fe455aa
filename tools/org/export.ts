/** All data of one organization as files: to read, and to import into another installation. */
import pg from 'pg'
import type { Installation } from '../backup/command.ts'
import { beginFolder, finishFolder, ORG_FORMAT, type Manifest } from '../backup/layout.ts'
import type { Progress } from '../backup/progress.ts'
import { takeSnapshot } from '../backup/snapshot.ts'
import { tablesOf, withClient, type Table } from '../backup/tables.ts'
import { aboutBackup, ownMigrations } from '../backup/take.ts'
import { findOrganization, forOrg, unfinishedOf, userColumns, type Organization } from './organization.ts'
import { ORG_TABLES, USERS, type OrgTable } from './tables.ts'

export interface OrgManifest extends Manifest {
  readonly organization: Organization
  /** Work that had not ended; such an export can be read, but not imported. */
  readonly unfinished: readonly string[]
}

export async function exportOrganization(
  installation: Installation,
  idOrSlug: string,
  folder: string,
  progress: Progress,
): Promise<OrgManifest> {
  const migrations = await ownMigrations(installation.database.db)
  const organization = await withClient(installation.database.direct, (client) => findOrganization(client, idOrSlug))
  await beginFolder(folder)
  let unfinished: string[] = []
  const taken = await takeSnapshot(
    installation,
    folder,
    {
      async tables(client) {
        unfinished = await unfinishedOf(client, organization)
        return await exported(client, organization)
      },
      async buckets(client) {
        const { rows } = await client.query<{ bucket: string }>(
          forOrg('select bucket_name as bucket from project where org_id = {org} and bucket_name is not null order by 1', organization),
        )
        return rows.map(({ bucket }) => bucket)
      },
      references: forOrg(
        `select a.bucket, a.object_key as key from asset a join item i on i.seq = a.item_seq
         where a.org_id = {org} and a.bucket is not null and a.object_key is not null and i.deleted_at is null`,
        organization,
      ),
    },
    progress,
  )
  // Numbers that sequences count are those of this installation.
  const manifest = { ...aboutBackup(ORG_FORMAT), migrations, secrets_key: null, ...taken, sequences: [], organization, unfinished }
  await finishFolder(folder, manifest)
  progress.end()
  return manifest
}

async function exported(client: pg.Client, organization: Organization): Promise<{ table: Table; query: string }[]> {
  const known = new Map((await tablesOf(client)).map((table) => [table.name, table]))
  const moving = ORG_TABLES.filter(({ move }) => move !== 'stays')
  const users = (await userColumns(client)).flatMap(({ table, column }) => {
    const from = moving.find(({ name }) => name === table)
    return from ? [forOrg(`select ${pg.escapeIdentifier(column)} from ${table} where ${from.where}`, organization)] : []
  })
  return [{ ...USERS, where: USERS.where.replace('{users}', users.join(' union ')) }, ...moving].map((entry) => {
    const table = known.get(`public.${entry.name}`)!
    return { table, query: queryOf(entry, table, organization) }
  })
}

function queryOf({ name, where, instead = {} }: OrgTable, { columns }: Table, organization: Organization): string {
  const list = columns.map((column) => `${instead[column] ?? pg.escapeIdentifier(column)} as ${pg.escapeIdentifier(column)}`)
  return `select ${list.join(', ')} from ${name} where ${forOrg(where, organization)}`
}
