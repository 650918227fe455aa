import { sql, type Kysely } from 'kysely'

/** The requested form of a job's results, so that they have it whenever they are read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table processing_job
      add column response text not null default 'document' check (response in ('raw', 'document')),
      -- Null: all of them.
      add column requested_outputs text[]
  `.execute(db)
}
