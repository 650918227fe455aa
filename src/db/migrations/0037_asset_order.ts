import { sql, type Kysely } from 'kysely'

/**
 * The place of an asset among those that its item was created with. The bands of a stack are numbered in this order. Null for assets
 * from before and for those added later: they come last, by key.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table asset add column ordinal integer`.execute(db)
}
