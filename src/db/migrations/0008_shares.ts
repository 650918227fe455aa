import { sql, type Kysely } from 'kysely'

/** Share links, which give access to one item or collection by token and password. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table share_link (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      token_hash bytea not null unique check (length(token_hash) = 32),
      password_hash text not null,
      target_type text not null check (target_type in ('item', 'collection')),
      target_id text not null,
      item_seq bigint references item (seq),
      collection_id uuid references collection (id),
      permission text not null check (permission in ('view', 'download')),
      expires_at timestamptz not null,
      revoked_at timestamptz,
      access_count bigint not null default 0 check (access_count >= 0),
      last_accessed_at timestamptz,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      check ((target_type = 'item') = (item_seq is not null)),
      check ((target_type = 'collection') = (collection_id is not null))
    );
    create index share_link_project on share_link (project_id, created_at desc, id desc);
    create index share_link_org on share_link (org_id, created_at desc, id desc);
  `.execute(db)
}
