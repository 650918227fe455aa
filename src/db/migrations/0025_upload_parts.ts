import { sql, type Kysely } from 'kysely'

/** A file that goes to S3 in parts: the multipart upload, the length of its parts but the last, and the length of the file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_file add column parts_id text, add column part_bytes bigint, add column parts_total_bytes bigint`.execute(db)
}
