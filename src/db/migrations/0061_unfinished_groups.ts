import { sql, type Kysely } from 'kysely'

export const isTransactional = false

/** By which every worker looks every few seconds for order groups whose run has died. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An interrupted build leaves an invalid index.
  await sql`
    -- squawk-ignore require-lock-timeout
    drop index concurrently if exists order_group_unfinished
  `.execute(db)
  await sql`
    create index concurrently if not exists order_group_unfinished on order_group (updated_at)
    where status in ('waiting', 'delivering')
  `.execute(db)
}
