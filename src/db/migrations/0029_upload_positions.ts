import { sql, type Kysely } from 'kysely'

/** The position that a user states for an upload: the conversion writes it into the file, whichever attempt succeeds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_file add column position jsonb`.execute(db)
}
