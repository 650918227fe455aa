import { sql, type Kysely } from 'kysely'

/** Processing jobs: their parameters, progress, worker and outputs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table processing_job (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      job_type text not null,
      version text not null default '1',
      status text not null default 'pending'
        check (status in ('pending', 'dispatched', 'running', 'completed', 'failed', 'cancelled')),
      input_params jsonb not null,
      target_collection_id uuid,
      source_item_ids text[] not null default '{}',
      reserved_credits bigint not null check (reserved_credits >= 0),
      captured_credits bigint check (captured_credits >= 0),
      output_item_ids text[] not null default '{}',
      output_artifacts jsonb,
      error text,
      -- Percent of the whole, and what is being done.
      progress real not null default 0 check (progress between 0 and 100),
      stage text not null default 'waiting',
      timeout_seconds integer not null check (timeout_seconds > 0),
      created_by uuid references app_user (id),
      api_key_id uuid references api_key (id),
      -- Who works on it: a run of ours or a worker from outside, how often it was begun, and when it last gave a sign of life.
      run_id uuid,
      worker text,
      attempts integer not null default 0,
      heartbeat_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      dispatched_at timestamptz,
      started_at timestamptz,
      completed_at timestamptz,
      check ((status = 'running') <= (run_id is not null)),
      check ((completed_at is not null) = (status in ('completed', 'failed', 'cancelled'))),
      check ((status = 'failed') = (error is not null))
    );
    create index processing_job_organization on processing_job (org_id, created_at desc, id desc);
    create index processing_job_project on processing_job (project_id, created_at desc, id desc);
    create index processing_job_open on processing_job (status, updated_at) where completed_at is null;
    create index processing_job_waiting on processing_job (job_type, dispatched_at) where status = 'dispatched';
  `.execute(db)
}
