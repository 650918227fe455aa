import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Uploads in parts have a key of their own, and each access log of the object store is read once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- The key is never signed for a whole file, so that the object need not be copied when it is complete.
    alter table upload_file add column parts_key text, add column parts_have_md5 boolean;

    create table access_log (
      -- The key of the log object.
      name text collate "C" primary key,
      read_at timestamptz not null,
      -- What was counted from it.
      downloads bigint not null check (downloads >= 0),
      bytes bigint not null check (bytes >= 0)
    );
  `.execute(db)
}
