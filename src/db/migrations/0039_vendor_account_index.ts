import { sql, type Kysely } from 'kysely'

export const isTransactional = false

/** By which the order groups of an account are found. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An interrupted build leaves an invalid index.
  await sql`
    -- squawk-ignore require-lock-timeout
    drop index concurrently if exists order_group_vendor_account
  `.execute(db)
  await sql`
    create index concurrently if not exists order_group_vendor_account on order_group (vendor_account_id)
    where vendor_account_id is not null
  `.execute(db)
}
