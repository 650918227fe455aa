import { sql, type Kysely } from 'kysely'

/** Checks existing rows without blocking writers, which the statement that added the constraint could not. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table order_group validate constraint order_group_vendor_account_id_fkey`.execute(db)
}
