import { sql, type Kysely } from 'kysely'

/** What all processes share about the hosts of imagery: whether they respond, and the access tokens that they issued. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table vendor_host (
      host_name text primary key,
      -- Null until the first probe ends.
      status text check (status in ('reachable', 'unreachable')),
      since timestamptz,
      checked_at timestamptz,
      error text,
      next_probe_at timestamptz not null
    );

    create table vendor_token (
      host_name text not null,
      -- Which of the host's tokens: one for the API, or one for each container of files.
      name text not null,
      -- Null while the first one is being requested.
      value text,
      version uuid,
      obtained_at timestamptz,
      expires_at timestamptz,
      -- The process that requests the next token does so alone until then.
      renewing_until timestamptz,
      primary key (host_name, name)
    );
  `.execute(db)
}
