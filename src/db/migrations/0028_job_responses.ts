import { sql, type Kysely } from 'kysely'

/** How the outputs of a job were asked for, so that its results have that form whenever they are read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table processing_job
      add column response text not null default 'document' check (response in ('raw', 'document')),
      -- Null: all of them.
      add column requested_outputs text[]
  `.execute(db)
}
