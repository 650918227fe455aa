import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** What a member sees behind the imagery of every map. Ends with the membership. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table map_backdrop (
      org_id uuid not null,
      user_id uuid not null,
      kind text not null check (kind in ('map', 'item', 'collection')),
      -- The name of a base map, or the ID of an item or a collection, which may be deleted later.
      target text not null check (length(target) between 1 and 255),
      updated_at timestamptz not null,
      primary key (org_id, user_id),
      foreign key (org_id, user_id) references organization_member (org_id, user_id) on delete cascade
    );
  `.execute(db)
}
