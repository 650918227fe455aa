import { sql, type Kysely } from 'kysely'

/** Upload sessions with their files, assets whose file is being converted, and orphaned objects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table asset add column state text not null default 'ready' check (state in ('ready', 'converting'));

    create table upload_session (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      bucket text not null,
      state text not null default 'initiated' check (state in ('initiated', 'uploading', 'completed', 'failed')),
      file_count integer not null check (file_count >= 1),
      -- As announced; what of it the session still holds of the quota is reserved_bytes.
      total_bytes bigint not null check (total_bytes >= 0),
      reserved_bytes bigint not null check (reserved_bytes >= 0),
      bytes_uploaded bigint not null default 0 check (bytes_uploaded >= 0),
      target_collection_id uuid,
      target_item_id text,
      asset_key text,
      is_categorical boolean not null,
      item_ids text[] not null default '{}',
      error_step text,
      error_message text,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      progress_at timestamptz not null,
      closed_at timestamptz,
      check ((closed_at is not null) = (state in ('completed', 'failed'))),
      check (closed_at is null or reserved_bytes = 0),
      check ((state = 'failed') = (error_message is not null))
    );
    create index upload_session_open on upload_session (progress_at) where closed_at is null;
    create index upload_session_project on upload_session (project_id) where closed_at is null;

    create table upload_file (
      id uuid primary key,
      upload_id uuid not null references upload_session (id),
      ordinal integer not null,
      -- As the caller wrote it, which tells one file of a session from another; shown is only the cleaned one.
      given_name text not null,
      name text not null,
      content_type text not null,
      -- Where signed addresses lead. Nothing is ever served from there.
      object_key text not null,
      state text not null default 'awaiting' check (state in ('awaiting', 'refused', 'converting', 'ready', 'failed')),
      step text not null,
      fraction real check (fraction between 0 and 1),
      error text,
      size_bytes bigint check (size_bytes >= 0),
      item_id text,
      asset_id uuid,
      -- The copy that is being converted.
      source_key text,
      -- Of the conversion: who works on it, how often it was begun, and when it last gave a sign of life.
      run_id uuid,
      attempts integer not null default 0,
      heartbeat_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (upload_id, given_name),
      unique (upload_id, ordinal),
      check ((state in ('refused', 'failed')) = (error is not null))
    );
    create index upload_file_object on upload_file (object_key);
    create index upload_file_converting on upload_file (updated_at) where state = 'converting';

    -- An object without an owner is removed only when it was seen without one some hours apart: it may be on its way to one.
    create table orphan_object (
      bucket text not null,
      key text not null,
      seen_at timestamptz not null,
      last_seen_at timestamptz not null,
      primary key (bucket, key)
    );
  `.execute(db)
}
