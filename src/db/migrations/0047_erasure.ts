import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Erasures of organizations, with their proofs. Only a transaction that erases one can delete from tables that are append-only. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table erasure (
      org_id uuid primary key,
      erased_at timestamptz not null,
      -- Until then the law requires what was kept.
      keep_until timestamptz not null,
      -- Buckets whose files are still to be removed.
      buckets text[] not null,
      proof jsonb not null
    );

    create or replace function refuse_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('groundtrack.erasing', true) = 'on' then
        return null;
      end if;
      raise exception '% is append-only', tg_table_name;
    end $$;
  `.execute(db)
}
