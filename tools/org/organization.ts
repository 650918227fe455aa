/** The organization that a command is about. */
import pg from 'pg'
import { BackupError } from '../backup/layout.ts'
import { UNFINISHED } from './tables.ts'

export interface Organization {
  readonly id: string
  readonly name: string
  readonly slug: string
}

export async function findOrganization(client: pg.Client, idOrSlug: string): Promise<Organization> {
  const { rows } = await client.query<Organization>('select id, name, slug from organization where id::text = $1 or slug = $1', [idOrSlug])
  if (!rows[0]) throw new BackupError(`There is no organization with the ID or slug '${idOrSlug}'`)
  return rows[0]
}

/** COPY takes no parameters. */
export const forOrg = (text: string, { id }: Pick<Organization, 'id'>): string => text.replaceAll('{org}', `${pg.escapeLiteral(id)}::uuid`)

/** What has not ended, such as `2 orders`. */
export async function unfinishedOf(client: pg.Client, org: Organization): Promise<string[]> {
  const found: string[] = []
  for (const [what, query] of Object.entries(UNFINISHED)) {
    const { rows } = await client.query<{ count: string }>(forOrg(query, org))
    if (rows[0]!.count !== '0') found.push(`${rows[0]!.count} ${what}`)
  }
  return found
}

export interface UserColumn {
  readonly table: string
  readonly column: string
}

/** Columns that refer to the account of a person. */
export async function userColumns(client: pg.Client): Promise<UserColumn[]> {
  const { rows } = await client.query<UserColumn>(`
    select c.relname::text as "table", a.attname::text as "column"
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    where k.contype = 'f' and k.confrelid = 'app_user'::regclass and k.conparentid = 0 order by 1, 2`)
  return rows
}
