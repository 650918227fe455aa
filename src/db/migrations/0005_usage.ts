import { sql, type Kysely } from 'kysely'

/** Plans and their start, storage per organization, meters, downloads, and when retention next checks an item. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Since when the present retention rules hold: nobody's items age faster than the rules that they were told.
    alter table organization add column retention_since timestamptz;
    update organization set retention_since = now();
    alter table organization alter column retention_since set not null;

    create table organization_plan (
      org_id uuid not null references organization (id),
      plan_id text not null,
      started_at timestamptz not null,
      changed_by uuid references app_user (id),
      invocation_id uuid,
      primary key (org_id, started_at)
    );
    insert into organization_plan (org_id, plan_id, started_at) select id, plan_id, created_at from organization;

    -- Hot rows: half-empty pages let them be rewritten in place.
    create table storage_account (
      org_id uuid primary key references organization (id),
      used_bytes bigint not null default 0 check (used_bytes >= 0),
      reserved_bytes bigint not null default 0 check (reserved_bytes >= 0),
      recalculated_at timestamptz
    ) with (fillfactor = 50);
    insert into storage_account (org_id, used_bytes)
    select o.id, coalesce(sum(p.storage_bytes) filter (where p.deleted_at is null), 0)
      from organization o left join project p on p.org_id = o.id group by o.id;

    create table usage_day (
      org_id uuid not null references organization (id),
      day date not null,
      meter text not null check (meter in ('egress_bytes', 'tiles', 'compute_jobs', 'api_calls', 'storage_bytes')),
      amount bigint not null check (amount >= 0),
      primary key (org_id, day, meter)
    ) with (fillfactor = 70);

    create table egress_account (
      org_id uuid primary key references organization (id),
      window_started_at timestamptz,
      window_starts integer not null default 0 check (window_starts >= 0),
      paused_until timestamptz
    ) with (fillfactor = 50);
    insert into egress_account (org_id) select id from organization;

    create table egress_minute (
      org_id uuid not null references organization (id),
      minute timestamptz not null,
      bytes bigint not null check (bytes >= 0),
      starts integer not null check (starts > 0),
      primary key (org_id, minute)
    );
    create index egress_minute_age on egress_minute (minute);

    create table egress_log (
      id uuid primary key,
      org_id uuid not null references organization (id),
      kind text not null,
      item_id text,
      asset_id uuid,
      bytes bigint not null check (bytes >= 0),
      principal_kind text not null,
      user_id uuid,
      api_key_id uuid,
      invocation_id uuid not null,
      at timestamptz not null
    );
    create index egress_log_org on egress_log (org_id, at desc);

    -- When retention next looks at the item. It is expires_at, unless somebody set the state by hand: then it looks soon.
    alter table item add column due_at timestamptz;
    update item i set
      expires_at = case when i.lifecycle_state = 'archived' then null
        else greatest(i.created_at, o.retention_since) + interval '23 days' end,
      due_at = case when i.lifecycle_state = 'archived' then null else greatest(i.created_at, o.retention_since) + interval '23 days' end
    from organization o where o.id = i.org_id and i.deleted_at is null;
    drop index item_due;
    create index item_due on item (due_at, seq) where due_at is not null and deleted_at is null;
  `.execute(db)
}
