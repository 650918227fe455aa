import { sql, type Kysely } from 'kysely'

/** Who accepted which licence document, with its exact text. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table licence_acceptance (
      org_id uuid not null references organization (id),
      document_id uuid not null,
      licence_id uuid not null,
      document_sha256 bytea not null check (length(document_sha256) = 32),
      accepted_by uuid references app_user (id),
      accepted_at timestamptz not null,
      withdrawn_at timestamptz,
      primary key (org_id, document_id)
    );
  `.execute(db)
}
