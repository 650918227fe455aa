import { sql, type Kysely } from 'kysely'

/** Saved band formulas, with names that are unique per organization regardless of case; and an index from a job to its outputs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table band_formula (
      id uuid primary key,
      org_id uuid not null references organization (id),
      name text not null check (length(name) between 2 and 50),
      display_name text,
      formula text not null check (length(formula) <= 1000),
      description text,
      required_bands text[] not null,
      colormap text not null,
      range_low double precision not null,
      range_high double precision not null check (range_high > range_low),
      category text not null,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create unique index band_formula_name on band_formula (org_id, lower(name));
    create index item_job on item (job_id) where job_id is not null;
  `.execute(db)
}
