import { sql, type Kysely } from 'kysely'

/** Users, organizations, projects and their credentials. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table app_user (
      id uuid primary key,
      email text not null check (email = lower(email)),
      name text not null,
      password_hash text not null,
      is_active boolean not null default true,
      is_system_admin boolean not null default false,
      is_clip_user boolean not null default false,
      last_org_id uuid,
      created_at timestamptz not null
    );
    create unique index app_user_email on app_user (email);

    create table organization (
      id uuid primary key,
      name text not null check (length(name) between 1 and 200),
      slug text not null unique,
      description text,
      website text,
      industry text,
      size text,
      country text,
      abn text,
      tax_number text,
      billing_email text,
      billing_admin_id uuid references app_user (id),
      billing_address jsonb,
      enterprise_status text not null default 'none' check (enterprise_status in ('none', 'requested', 'confirmed')),
      plan_id text not null default 'free',
      rate_limit_per_hour integer not null default 10000 check (rate_limit_per_hour > 0),
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    alter table app_user add foreign key (last_org_id) references organization (id);

    create table organization_member (
      org_id uuid not null references organization (id),
      user_id uuid not null references app_user (id),
      role text not null check (role in ('owner', 'admin', 'member')),
      per_order_limit_credits bigint check (per_order_limit_credits >= 0),
      spend_limit_credits bigint check (spend_limit_credits >= 0),
      created_at timestamptz not null,
      primary key (org_id, user_id)
    );
    create index organization_member_user on organization_member (user_id);

    create table project (
      id uuid primary key,
      org_id uuid not null references organization (id),
      name text not null check (length(name) between 1 and 255),
      description text,
      visibility text not null default 'organization' check (visibility in ('organization', 'private')),
      region text,
      bucket_name text unique,
      item_count bigint not null default 0 check (item_count >= 0),
      storage_bytes bigint not null default 0 check (storage_bytes >= 0),
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      archived_at timestamptz,
      deleted_at timestamptz
    );
    create index project_org on project (org_id, created_at desc, id) where deleted_at is null;

    create table project_member (
      project_id uuid not null references project (id),
      user_id uuid not null references app_user (id),
      role text not null check (role in ('admin', 'editor', 'viewer')),
      created_at timestamptz not null,
      primary key (project_id, user_id)
    );
    create index project_member_user on project_member (user_id);

    create table invitation (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      email text not null check (email = lower(email)),
      role text not null check (role in ('admin', 'editor', 'viewer')),
      invited_by uuid references app_user (id),
      created_at timestamptz not null,
      expires_at timestamptz not null,
      closed_at timestamptz,
      outcome text check (outcome in ('accepted', 'withdrawn', 'expired')),
      check ((closed_at is null) = (outcome is null))
    );
    create unique index invitation_open on invitation (project_id, email) where closed_at is null;
    create index invitation_email on invitation (email) where closed_at is null;

    create table api_key (
      id uuid primary key,
      org_id uuid not null references organization (id),
      user_id uuid not null references app_user (id),
      name text not null check (length(name) between 1 and 200),
      prefix text not null,
      secret_hash bytea not null unique check (length(secret_hash) = 32),
      permissions text[] not null,
      explicit_scopes text[] not null default '{}',
      rate_limit_per_hour integer check (rate_limit_per_hour > 0),
      is_active boolean not null default true,
      expires_at timestamptz,
      created_at timestamptz not null,
      revoked_at timestamptz,
      last_used_at timestamptz,
      total_requests bigint not null default 0,
      check (is_active = (revoked_at is null))
    );
    create index api_key_org on api_key (org_id, created_at desc, id);

    create table user_session (
      id uuid primary key,
      user_id uuid not null references app_user (id),
      org_id uuid references organization (id),
      created_at timestamptz not null,
      expires_at timestamptz not null,
      ended_at timestamptz
    );
    create index user_session_user on user_session (user_id) where ended_at is null;
    create index user_session_expiry on user_session (expires_at);

    create table refresh_token (
      token_hash bytea primary key check (length(token_hash) = 32),
      session_id uuid not null references user_session (id) on delete cascade,
      created_at timestamptz not null,
      spent_at timestamptz
    );
    create index refresh_token_session on refresh_token (session_id);

    create table signing_key (
      kid text primary key,
      private_jwk jsonb not null,
      created_at timestamptz not null
    );
  `.execute(db)
}
