import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Sign-in at OpenID Connect providers: of organizations, and the people whom any provider knows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sso_connection (
      org_id uuid primary key references organization (id),
      issuer text not null,
      client_id text not null,
      -- Encrypted with a key that is not in the database; null for a client without a secret.
      secret text,
      name text not null,
      scopes text not null,
      -- The claim whose values give roles; null: everybody gets the default role.
      role_claim text,
      role_rules jsonb not null,
      -- For people whose claims match no rule; null: they have no access.
      default_role text check (default_role in ('admin', 'member')),
      -- After this time people sign in at the provider again, so that it can say who has left.
      session_hours int not null check (session_hours between 1 and 720),
      status text not null check (status in ('verified', 'failed')),
      detail text,
      checked_at timestamptz not null,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null
    );

    create table sso_rules (
      org_id uuid primary key references organization (id),
      is_required boolean not null,
      -- For people of a verified domain who sign in at the installation's provider; null: they do not join by themselves.
      domain_role text check (domain_role in ('admin', 'member')),
      updated_at timestamptz not null
    );

    -- Two organizations of one company can both prove a domain, each with its own token.
    create table sso_domain (
      org_id uuid not null references organization (id),
      domain text not null,
      token text not null,
      verified_at timestamptz,
      checked_at timestamptz,
      created_at timestamptz not null,
      primary key (org_id, domain)
    );
    create index sso_domain_verified on sso_domain (domain) where verified_at is not null;

    -- A person at a provider, as one connection knows them; org_id is null for the installation's provider.
    create table sso_identity (
      org_id uuid references organization (id),
      issuer text not null,
      subject text not null,
      user_id uuid not null references app_user (id),
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      unique nulls not distinct (org_id, issuer, subject)
    );
    create index sso_identity_user on sso_identity (user_id);

    -- How a session came about; sessions that began with a password have no row.
    create table sso_session (
      session_id uuid not null,
      -- The organization whose connection was used: the session acts for no other. Null: the installation's provider.
      org_id uuid,
      signed_in_at timestamptz not null,
      -- Encrypted: names the session at the provider when the user signs out.
      id_token text,
      unique nulls not distinct (org_id, session_id)
    );
    create index sso_session_id on sso_session (session_id);
  `.execute(db)
}
