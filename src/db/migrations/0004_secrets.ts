import { sql, type Kysely } from 'kysely'

/** Secrets that all processes of an installation share, such as the key that signs URLs of stored objects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table shared_secret (
      name text primary key,
      value bytea not null check (length(value) = 32),
      created_at timestamptz not null
    );
  `.execute(db)
}
