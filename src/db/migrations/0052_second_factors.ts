import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** Second factors of accounts, challenges of sign-ins in progress, and the rule of organizations that require two factors. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Encrypted. The pending secret replaces the other once a code has shown that it was saved.
    create table totp_factor (
      user_id uuid primary key references app_user (id),
      secret text,
      pending_secret text,
      pending_until timestamptz,
      created_at timestamptz not null,
      -- The time step of the last accepted code: a code is accepted once.
      last_step bigint
    );

    create table passkey (
      id uuid primary key,
      user_id uuid not null references app_user (id),
      name text not null,
      credential_id text not null unique,
      public_key bytea not null,
      counter bigint not null,
      transports text[] not null,
      is_synced boolean not null,
      created_at timestamptz not null,
      last_used_at timestamptz
    );
    create index passkey_user on passkey (user_id);

    create table recovery_code (
      user_id uuid not null references app_user (id),
      code_hash bytea not null check (length(code_hash) = 32),
      created_at timestamptz not null,
      used_at timestamptz,
      primary key (user_id, code_hash)
    );

    create table sign_in_challenge (
      token_hash bytea primary key check (length(token_hash) = 32),
      -- Null: a passkey will say whose sign-in it is.
      user_id uuid references app_user (id),
      purpose text not null check (purpose in ('second_factor', 'passkey', 'new_passkey', 'proof')),
      -- The organization that was asked for at sign-in.
      wanted_organization uuid,
      -- What a passkey has to sign.
      challenge text,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index sign_in_challenge_user on sign_in_challenge (user_id);
    create index sign_in_challenge_expiry on sign_in_challenge (expires_at);

    alter table organization add column requires_two_factors boolean not null default false;

    create trigger access_changed after insert or delete or update of secret
      on totp_factor for each statement execute function tell_access_changed();
    create trigger access_changed after insert or delete
      on passkey for each statement execute function tell_access_changed();
    create trigger access_changed_by_rule after update of requires_two_factors
      on organization for each statement execute function tell_access_changed();
  `.execute(db)
}
