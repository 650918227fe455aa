import { sql, type Kysely } from 'kysely'

/** Collections, items, their assets, and the side table that item search reads. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table collection (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      name text not null check (length(name) between 1 and 255),
      description text,
      color text,
      show_on_map boolean not null default true,
      layer_order integer not null default 0,
      -- Set for collections that the platform opens itself, such as a project's Mosaics; renaming does not lose them.
      system_key text,
      source_type text,
      source_id text,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      deleted_at timestamptz
    );
    create index collection_project on collection (project_id, layer_order, created_at desc, id) where deleted_at is null;
    create unique index collection_system_key on collection (project_id, system_key) where system_key is not null and deleted_at is null;

    create table item (
      seq bigint generated always as identity primary key,
      id text collate "C" not null check (length(id) between 1 and 256),
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      collection_id uuid references collection (id),
      stac_id text not null check (length(stac_id) between 1 and 256),
      type text not null check (type in (
        'satellite_capture', 'derived_raster', 'derived_vector', 'clip', 'user_raster', 'user_vector', 'external_reference', 'mosaic')),
      name text not null check (length(name) between 1 and 500),
      description text,
      geometry jsonb,
      bbox float8[] check (cardinality(bbox) = 4),
      -- The geometry as simple parts, cut at the date line, holes slit open: what a search is held against.
      footprint polygon[],
      -- The rows of item_cell that belong to this item, so that they can be found again without an index of their own.
      cells integer[] not null default '{}',
      datetime timestamptz,
      start_datetime timestamptz,
      end_datetime timestamptz,
      cloud_cover float8 check (cloud_cover between 0 and 100),
      gsd float8 check (gsd > 0),
      properties jsonb not null default '{}' check (jsonb_typeof(properties) = 'object'),
      stac_extensions text[] not null default '{}',
      lifecycle_state text not null default 'active' check (lifecycle_state in ('active', 'expiring', 'archived', 'expired', 'deleted')),
      expires_at timestamptz,
      archived_at timestamptz,
      last_accessed_at timestamptz,
      previous_version_id text,
      duplicated_from_id text,
      order_id text,
      upload_id text,
      job_id text,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      deleted_at timestamptz,
      check ((lifecycle_state = 'deleted') = (deleted_at is not null)),
      check (lifecycle_state <> 'archived' or archived_at is not null),
      check (start_datetime <= end_datetime)
    );
    create unique index item_id on item (id, org_id);
    create index item_project on item (project_id, seq) where deleted_at is null;
    create index item_collection on item (collection_id, seq) where deleted_at is null and collection_id is not null;
    create index item_org_time on item (org_id, datetime desc nulls last, seq) where deleted_at is null;
    create index item_project_time on item (project_id, datetime desc nulls last, seq) where deleted_at is null;
    create index item_due on item (expires_at) where expires_at is not null and deleted_at is null;

    -- One row per item and cell of about 1.4 or 22.5 degrees. An item without a datetime sorts as the oldest. The box is
    -- a key column, not INCLUDEd: PostgreSQL then tests it inside the index.
    create table item_cell (
      org_id uuid not null,
      cell integer not null,
      datetime timestamptz not null,
      seq bigint not null,
      x0 smallint not null,
      y0 smallint not null,
      x1 smallint not null,
      y1 smallint not null
    );
    create index item_cell_order on item_cell (org_id, cell, datetime desc, seq, x0, y0, x1, y1);

    create table asset (
      id uuid primary key,
      org_id uuid not null, -- The item's; its row is what holds it to an organization.
      item_seq bigint not null references item (seq),
      key text not null check (length(key) between 1 and 255),
      title text,
      media_type text,
      roles text[] not null default '{}',
      bucket text,
      object_key text,
      href text,
      file_size_bytes bigint check (file_size_bytes >= 0),
      sha256 bytea check (length(sha256) = 32),
      band_names text[],
      raster jsonb,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      -- A file of ours or an address elsewhere, never both and never neither.
      check ((bucket is null) = (object_key is null)),
      check ((object_key is null) <> (href is null)),
      check (object_key is null or file_size_bytes is not null)
    );
    create unique index asset_key on asset (item_seq, key);
    create index asset_object on asset (bucket, object_key) where object_key is not null;
  `.execute(db)
}
