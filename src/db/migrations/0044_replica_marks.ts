import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Rows by which a process recognizes replicas of the primary that it writes to: see src/db/replicas/write-log.ts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table replica_mark (
      id uuid primary key,
      -- Of the server process whose connection wrote it; the next mark removes those of connections that are gone.
      pid integer not null
    );
  `.execute(db)
}
