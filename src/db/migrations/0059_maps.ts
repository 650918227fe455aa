import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Named maps of a project, and share links to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table map (
      org_id uuid not null,
      id uuid not null,
      project_id uuid not null,
      name text not null check (length(name) between 1 and 200),
      description text check (length(description) <= 2000),
      -- Layers, groups, camera and annotations. Layers name items and collections, which may be deleted later.
      content jsonb not null check (jsonb_typeof(content) = 'object'),
      -- Raised by every change, so that a member who was late does not undo what another one did.
      version integer not null,
      -- The user, or null for an API key.
      created_by uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (org_id, id)
    );
    create index map_project on map (project_id, updated_at desc, id desc);
    create index map_organization on map (org_id, updated_at desc, id desc);

    -- A link to a map ends with it.
    alter table share_link add column map_id uuid;
    -- The one that follows allows more.
    -- squawk-ignore ban-drop-constraint
    alter table share_link drop constraint share_link_target_type_check;
    alter table share_link add constraint share_link_target_type_check check (target_type in ('item', 'collection', 'map')) not valid;
    alter table share_link add constraint share_link_map_check check ((target_type = 'map') = (map_id is not null)) not valid;
  `.execute(db)
}
