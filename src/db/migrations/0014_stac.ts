import { sql, type Kysely } from 'kysely'

/** Most items are called the same by us and by STAC; for the others there is a narrow way from the latter. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index item_stac_id on item (stac_id, org_id) where stac_id <> id and deleted_at is null`.execute(db)
}
