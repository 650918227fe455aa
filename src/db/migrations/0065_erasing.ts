import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/**
 * Erasures that have begun: what was deleted so far, and the identifiers to search for in the end. Rows are deleted in many transactions,
 * and a command that was interrupted continues from here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table erasing (
      org_id uuid primary key,
      begun_at timestamptz not null,
      keep_until timestamptz not null,
      -- Of projects, whose rows are deleted before their files.
      buckets text[] not null,
      -- Rows by table.
      deleted jsonb not null default '{}',
      deleted_accounts integer not null default 0,
      remaining_accounts integer not null default 0
    );

    create table erasing_id (
      org_id uuid not null,
      kind text not null check (kind in ('id', 'user', 'address')),
      id text not null,
      primary key (org_id, kind, id)
    );
  `.execute(db)
}
