import { sql, type Kysely } from 'kysely'

/** Tables of the nine stages: rate windows, idempotency claims, lineage, events, audit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Unlogged: counted on every call, worth nothing after an hour. A crash of the server forgives the current window.
    create unlogged table rate_window (
      subject text primary key,
      started_at timestamptz not null,
      used bigint not null check (used >= 0)
    );

    create table idempotency_claim (
      owner_id uuid not null,
      path text not null,
      key text not null,
      body_hash bytea not null check (length(body_hash) = 32),
      state text not null check (state in ('running', 'free', 'done')),
      lease uuid not null,
      lease_until timestamptz not null,
      invocation_id uuid not null,
      response_status integer,
      response_type text,
      response_body bytea,
      expires_at timestamptz not null,
      primary key (owner_id, path, key),
      check ((state = 'done') = (response_body is not null))
    );
    create index idempotency_claim_expiry on idempotency_claim (expires_at);

    -- An edge leads from a newer node to an older one, so the graph cannot hold a cycle.
    create table lineage_node (
      seq bigint generated always as identity primary key,
      org_id uuid not null references organization (id),
      project_id uuid,
      entity_type text not null check (
        entity_type in ('order', 'item', 'asset', 'processing_job', 'report', 'share_link', 'collection', 'project')),
      entity_id text not null,
      invocation_id uuid not null,
      created_at timestamptz not null
    );
    create unique index lineage_node_entity on lineage_node (org_id, entity_type, entity_id);

    create table lineage_edge (
      src_seq bigint not null references lineage_node (seq),
      dst_seq bigint not null references lineage_node (seq),
      relation text not null,
      invocation_id uuid not null,
      created_at timestamptz not null,
      primary key (src_seq, dst_seq, relation),
      check (src_seq > dst_seq)
    );
    create index lineage_edge_dst on lineage_edge (dst_seq, src_seq);

    create table event (
      seq bigint generated always as identity primary key,
      id uuid not null unique,
      org_id uuid not null references organization (id),
      type text not null,
      entity_type text not null,
      entity_id text not null,
      data jsonb not null,
      invocation_id uuid not null,
      occurred_at timestamptz not null
    );
    create index event_org on event (org_id, seq desc);

    create table audit (
      invocation_id uuid primary key,
      org_id uuid,
      principal_kind text not null,
      principal_id text not null,
      user_id uuid,
      api_key_id uuid,
      operation text not null,
      input_hash bytea,
      status integer not null,
      duration_ms integer not null,
      artifacts text[] not null default '{}',
      at timestamptz not null
    );
    create index audit_org on audit (org_id, at desc, invocation_id);

    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only', tg_table_name;
    end $$;
    create trigger audit_append_only before update or delete or truncate on audit for each statement execute function refuse_change();
    create trigger event_append_only before update or delete or truncate on event for each statement execute function refuse_change();
    create trigger lineage_node_append_only before update or delete or truncate on lineage_node
      for each statement execute function refuse_change();
    create trigger lineage_edge_append_only before update or delete or truncate on lineage_edge
      for each statement execute function refuse_change();
  `.execute(db)
}
