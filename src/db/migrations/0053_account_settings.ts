import { sql, type Kysely } from 'kysely'

export const kind = 'expand'

/** How the console formats numbers for a user, where sessions are used, and changes of email addresses that await confirmation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Null: as the installation formats them.
    alter table app_user add column language text;
    alter table app_user add column units text;

    -- Of the last sign-in or renewal; null for sessions from before.
    alter table user_session add column user_agent text;
    alter table user_session add column client_address text;

    create table email_change (
      user_id uuid primary key references app_user (id),
      email text not null,
      -- Null until the email is sent.
      token_hash bytea unique check (length(token_hash) = 32),
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
  `.execute(db)
}
