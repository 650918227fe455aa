import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** An audit entry can stand for several reads of the same subject, such as the tiles of an item within a minute. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table audit add column calls integer not null default 1;
    -- The item, collection or scene that was read; null for calls that have an entry of their own.
    alter table audit add column subject text;
  `.execute(db)
}
