import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Which trace queued work continues: a task of the queue or an event, by its ID. Empty unless traces are recorded. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table trace_link (
      id uuid primary key,
      -- W3C Trace Context: random numbers, nothing of what the work is about.
      traceparent text not null check (length(traceparent) = 55),
      -- The server's own time, as for leases: links expire, whatever the platform's clock says.
      created_at timestamptz not null default now()
    );
    create index trace_link_created_at on trace_link (created_at);
  `.execute(db)
}
