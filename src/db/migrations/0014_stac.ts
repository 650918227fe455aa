import { sql, type Kysely } from 'kysely'

/** Most items have the same ID here and in STAC; a small index covers the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index item_stac_id on item (stac_id, org_id) where stac_id <> id and deleted_at is null`.execute(db)
}
