import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Notifications of changed access rights name the table: reads from replicas depend on some, and only sign-in on others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function tell_access_changed() returns trigger language plpgsql as $$
    begin
      perform pg_notify('groundtrack_access', tg_table_name);
      return null;
    end $$;
  `.execute(db)
}
