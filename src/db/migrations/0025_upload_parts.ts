import { sql, type Kysely } from 'kysely'

/** Multipart uploads to S3: the upload's ID, the size of its parts, and the size of the file. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table upload_file add column parts_id text, add column part_bytes bigint, add column parts_total_bytes bigint`.execute(db)
}
