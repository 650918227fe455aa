import { sql, type Kysely } from 'kysely'

/** Visualization profiles: saved styles of items. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table visualization_profile (
      id uuid primary key,
      org_id uuid not null, -- The item's; its row is what holds it to an organization.
      item_seq bigint not null references item (seq),
      name text not null check (length(name) between 1 and 255),
      layer text not null check (layer in ('sensor', 'auto', 'user')),
      type text not null check (type in ('rgb', 'singleband', 'multiband', 'expression')),
      is_default boolean not null default false,
      sort_order integer not null default 0,
      config jsonb not null check (jsonb_typeof(config) = 'object'),
      asset_key text,
      version integer not null default 1 check (version >= 1),
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index visualization_profile_item on visualization_profile (item_seq, sort_order, created_at, id);
    create unique index visualization_profile_default on visualization_profile (item_seq) where is_default;
  `.execute(db)
}
