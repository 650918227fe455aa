import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** What a team writes about a map or one of its annotations, and its notifications. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table map_comment (
      org_id uuid not null,
      map_id uuid not null,
      id uuid not null,
      -- Of the map; it may be removed later.
      annotation_id uuid,
      text text not null check (length(text) between 1 and 2000),
      -- The user, or null for an API key.
      author_id uuid references app_user (id),
      created_at timestamptz not null,
      -- When the text was changed last.
      edited_at timestamptz,
      resolved_at timestamptz,
      primary key (org_id, map_id, id),
      foreign key (org_id, map_id) references map (org_id, id) on delete cascade
    );
    create index map_comment_author on map_comment (author_id) where author_id is not null;

    -- Wider than the constraint before, which all rows satisfy, so that there is nothing to validate.
    -- squawk-ignore ban-drop-constraint
    alter table notification drop constraint notification_kind_check;
    alter table notification add constraint notification_kind_check
      check (kind in ('alert', 'decision', 'approval', 'payment', 'webhook', 'retention', 'invitation', 'search', 'comment')) not valid;
  `.execute(db)
}
