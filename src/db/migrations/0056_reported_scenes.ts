import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Saved searches can report new scenes without adding them, and keep what the console needs to show them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Display settings by name, for clients; the service does not read them.
    alter table saved_search add column display jsonb;

    -- One row for each scene that a search has reported, so that nobody is told twice. Kept until the search is deleted.
    create table reported_scene (
      org_id uuid not null,
      saved_search_id uuid not null,
      host_name text not null,
      collection text not null,
      scene_id text not null,
      created_at timestamptz not null,
      primary key (org_id, saved_search_id, host_name, collection, scene_id)
    );
    create index reported_scene_day on reported_scene (org_id, saved_search_id, created_at);
  `.execute(db)
}
