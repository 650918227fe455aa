import { sql, type Kysely } from 'kysely'

/** Open scenes that were saved to projects, and searches that save new ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table saved_search (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      -- Whose access counts in the background: the user who changed it last. Null for a deleted user.
      user_id uuid references app_user (id),
      created_by uuid references app_user (id),
      name text not null,
      area jsonb not null check (jsonb_typeof(area) = 'object'),
      source_ids text[],
      collections text[],
      max_cloud_cover double precision check (max_cloud_cover between 0 and 100),
      date_from timestamptz not null,
      -- Null: scenes are not added automatically.
      auto_add jsonb check (jsonb_typeof(auto_add) = 'object'),
      is_active boolean not null default true,
      -- Per source: the acquisition time up to which all scenes were seen, and the error of the last run.
      sources jsonb not null default '{}' check (jsonb_typeof(sources) = 'object'),
      last_run_at timestamptz,
      last_error text,
      -- When it is due. A run that was killed is repeated then, too.
      next_run_at timestamptz not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index saved_search_project on saved_search (project_id, created_at desc, id desc);
    create index saved_search_org on saved_search (org_id, created_at desc, id desc);
    create index saved_search_due on saved_search (next_run_at) where is_active and auto_add is not null;

    -- One row for each scene and way of saving it: however often and by whomever it is saved, a project gets it once.
    create table saved_scene (
      project_id uuid not null references project (id),
      host_name text not null,
      collection text not null,
      scene_id text not null,
      -- 'reference', or 'copy' with a hash of the area and files that were copied.
      variant text not null,
      org_id uuid not null references organization (id),
      -- One of the two: the item, or the job that creates it.
      item_id text,
      job_id uuid,
      saved_search_id uuid references saved_search (id) on delete set null,
      created_at timestamptz not null,
      primary key (project_id, host_name, collection, scene_id, variant),
      check ((item_id is null) <> (job_id is null))
    );
    create index saved_scene_search on saved_scene (saved_search_id, created_at) where saved_search_id is not null;

    alter table notification drop constraint notification_kind_check;
    alter table notification add constraint notification_kind_check
      check (kind in ('alert', 'decision', 'approval', 'payment', 'webhook', 'retention', 'invitation', 'search'));
  `.execute(db)
}
