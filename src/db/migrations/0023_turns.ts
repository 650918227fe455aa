import { sql, type Kysely } from 'kysely'

/**
 * Jobs reserve storage for their outputs, organizations take turns at job slots and alert evaluations, and temporary files (reports,
 * analytics rasters) count as storage while they exist. Clips and other jobs are counted separately.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table processing_job add column reserved_bytes bigint not null default 0 check (reserved_bytes >= 0);
    create index processing_job_turns on processing_job (org_id, started_at desc) where started_at is not null;

    create index alert_evaluation_turns on alert_evaluation (org_id, due_at) where due_at is not null;

    alter table usage_day drop constraint usage_day_meter_check;
    alter table usage_day add constraint usage_day_meter_check
      check (meter in ('egress_bytes', 'tiles', 'compute_jobs', 'processing_jobs', 'api_calls', 'storage_bytes'));

    -- Of operations that wait a moment after their change: what is stored with the change is not yet what goes out.
    alter table idempotency_claim add column is_final boolean not null default true;

    create table kept_file (
      id uuid primary key,
      org_id uuid not null references organization (id),
      bucket text not null,
      object_key text not null,
      size_bytes bigint not null check (size_bytes >= 0),
      -- How a raster is drawn; null for documents.
      look jsonb,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index kept_file_org on kept_file (org_id);
    create index kept_file_expiry on kept_file (expires_at);
  `.execute(db)
}
