import { sql, type Kysely } from 'kysely'

/** Invitations by token, the creator of each API key, and deleted organizations. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table invitation
      alter column project_id drop not null,
      alter column role drop not null,
      add column organization_role text not null default 'member' check (organization_role in ('admin', 'member')),
      add column token_hash bytea unique check (length(token_hash) = 32),
      add column accepted_by uuid references app_user (id),
      add check ((project_id is null) = (role is null));

    -- An invitation of before has no token, so nobody can use it: whoever is still wanted is invited anew.
    update invitation set closed_at = greatest(created_at, now()), outcome = 'withdrawn' where closed_at is null;

    alter table invitation add check (token_hash is not null or closed_at is not null);
    drop index invitation_open;
    drop index invitation_email;
    create unique index invitation_open on invitation (org_id, project_id, email) nulls not distinct where closed_at is null;
    create index invitation_inviter on invitation (invited_by) where closed_at is null;

    alter table api_key add column created_by_key uuid references api_key (id);
    create index api_key_maker on api_key (created_by_key) where created_by_key is not null;
    create index api_key_user on api_key (user_id) where is_active;

    alter table organization add column deleted_at timestamptz;
  `.execute(db)
}
