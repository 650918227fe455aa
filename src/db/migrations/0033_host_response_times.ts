import { sql, type Kysely } from 'kysely'

/** How long a host took for its last successful probe: searches wait longer for a host that is known to be slow. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table vendor_host add column response_ms integer`.execute(db)
}
