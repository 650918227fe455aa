import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/**
 * Share links without a password, for organizations that allow them. Such a link still has the hash of a random password, which nobody
 * knows: grants are bound to it, and an older version of the service lets nobody in.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table organization add column allows_public_links boolean not null default false;
    alter table share_link add column is_public boolean not null default false;
  `.execute(db)
}
