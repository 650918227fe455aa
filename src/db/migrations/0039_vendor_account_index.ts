import { sql, type Kysely } from 'kysely'

export const isTransactional = false

/** What order groups of an account are found by, without blocking writers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table order_group validate constraint order_group_vendor_account_id_fkey`.execute(db)
  // An interrupted build leaves an invalid index.
  await sql`drop index concurrently if exists order_group_vendor_account`.execute(db)
  await sql`
    create index concurrently if not exists order_group_vendor_account on order_group (vendor_account_id) where vendor_account_id is not null
  `.execute(db)
}
