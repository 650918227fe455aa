import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Parts of large jobs, which any worker can claim. Their keys begin with the organization, so that they stay on its shard. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- One computation of a job that was divided: what to compute, for whoever claims a part of it.
    create table job_step (
      org_id uuid not null,
      job_id uuid not null,
      step smallint not null,
      request jsonb not null,
      -- Of the request: another attempt of the job continues the parts of the same computation only.
      digest text not null,
      created_at timestamptz not null,
      primary key (org_id, job_id, step)
    );

    -- Phase 0 computes rows at full resolution, phase 1 their first overviews.
    create table job_part (
      org_id uuid not null,
      job_id uuid not null,
      step smallint not null,
      phase smallint not null check (phase in (0, 1)),
      number integer not null,
      from_row integer not null,
      to_row integer not null check (to_row > from_row),
      state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
      run_id uuid,
      attempts integer not null default 0,
      started_at timestamptz,
      heartbeat_at timestamptz,
      result jsonb,
      error text,
      primary key (org_id, job_id, step, phase, number),
      check ((state = 'done') = (result is not null)),
      check ((state = 'failed') = (error is not null))
    );
    create index job_part_open on job_part (org_id, state) where state in ('waiting', 'running');
  `.execute(db)
}
