import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** The identity of this installation, which owns its object store, and how far the sweep of that store has come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- One row. A restored copy gets another identity, so that it never takes the store of the original for its own.
    create table installation (
      is_only boolean primary key default true check (is_only),
      id uuid not null,
      created_at timestamptz not null
    );
    insert into installation (id, created_at) values (gen_random_uuid(), now());

    -- One row once a round of the sweep has begun: objects up to this position have been compared with the database.
    create table sweep_round (
      is_only boolean primary key default true check (is_only),
      began_at timestamptz not null,
      ended_at timestamptz,
      bucket text not null,
      key text
    );
  `.execute(db)
}
