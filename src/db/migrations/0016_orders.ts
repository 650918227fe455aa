import { sql, type Kysely } from 'kysely'

/** Imagery orders, their groups, and the studies and quotations of tasking orders. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- "order" is a word of SQL.
    create table imagery_order (
      id uuid primary key,
      org_id uuid not null references organization (id),
      project_id uuid not null references project (id),
      order_type text not null check (order_type in ('archive', 'tasking')),
      status text not null check (status in ('pending', 'processing', 'awaiting_data', 'fulfilled', 'failed', 'cancelled')),
      sub_status text check (sub_status in ('awaiting_feasibility', 'feasibility_ready', 'awaiting_quotation', 'quotation_ready',
        'accepted', 'rejected')),
      billing_mode text not null check (billing_mode in ('credit', 'card', 'enterprise')),
      display_name text not null,
      license_type text not null,
      tags text[] not null,
      estimated_credits bigint not null check (estimated_credits >= 0),
      captured_credits bigint not null default 0 check (captured_credits >= 0),
      simulated boolean not null,
      failure_reason text,
      history jsonb not null,
      next_poll_at timestamptz not null,
      created_by uuid references app_user (id),
      api_key_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      fulfilled_at timestamptz,
      cancelled_at timestamptz,
      check ((order_type = 'tasking') = (sub_status is not null)),
      check ((status = 'fulfilled') = (fulfilled_at is not null)),
      check ((status = 'cancelled') = (cancelled_at is not null)),
      check (captured_credits = 0 or status = 'fulfilled'),
      check (jsonb_array_length(history) > 0)
    );
    create index imagery_order_org on imagery_order (org_id, created_at desc, id desc);
    create index imagery_order_project on imagery_order (project_id);
    create index imagery_order_open on imagery_order (next_poll_at) where status in ('pending', 'processing', 'awaiting_data');

    -- What goes to one vendor as one order there; its id is our reference to it.
    create table order_group (
      id uuid primary key,
      order_id uuid not null references imagery_order (id),
      org_id uuid not null,
      ordinal integer not null,
      host_name text not null,
      product_id text not null,
      product_name text not null,
      status text not null check (status in ('deciding', 'waiting', 'placed', 'accepted', 'delivering', 'delivered', 'part', 'failed',
        'cancelled')),
      sub_status text check (sub_status in ('awaiting_feasibility', 'feasibility_ready', 'awaiting_quotation', 'quotation_ready',
        'accepted', 'rejected')),
      steps text[] not null,
      captures jsonb,
      feature_collection jsonb,
      params jsonb not null,
      area jsonb not null,
      area_km2 double precision not null check (area_km2 > 0),
      credits bigint not null check (credits >= 0),
      reserved_credits bigint not null check (reserved_credits >= 0),
      captured_credits bigint not null default 0 check (captured_credits between 0 and reserved_credits),
      failure_reason text,
      vendor_order_id text,
      vendor_option_id text,
      vendor_quotation_id text,
      item_ids text[] not null default '{}',
      attempts integer not null default 0,
      run_id uuid,
      heartbeat_at timestamptz,
      updated_at timestamptz not null,
      unique (order_id, ordinal),
      check ((captures is null) <> (feature_collection is null)),
      check (captured_credits = 0 or status in ('delivered', 'part')),
      check ((status in ('delivered', 'part')) = (item_ids <> '{}'))
    );

    create table feasibility_study (
      id uuid primary key,
      org_id uuid not null,
      project_id uuid not null,
      order_id uuid not null references imagery_order (id),
      group_id uuid not null references order_group (id),
      state text not null default 'waiting' check (state in ('waiting', 'answered', 'infeasible')),
      decision text not null default 'NOT_DECIDED' check (decision in ('NOT_DECIDED', 'ACCEPTED')),
      options jsonb not null default '[]',
      accepted_option_id text,
      vendor_id text,
      created_at timestamptz not null,
      decision_at timestamptz,
      expires_at timestamptz not null,
      check ((decision = 'ACCEPTED') = (accepted_option_id is not null)),
      check ((decision = 'ACCEPTED') = (decision_at is not null))
    );
    create index feasibility_study_org on feasibility_study (org_id, created_at desc, id desc);
    create unique index feasibility_study_group on feasibility_study (group_id);

    create table quotation (
      id uuid primary key,
      org_id uuid not null,
      project_id uuid not null,
      order_id uuid not null references imagery_order (id),
      group_id uuid not null references order_group (id),
      state text not null default 'waiting' check (state in ('waiting', 'issued', 'refused')),
      decision text not null default 'NOT_DECIDED' check (decision in ('NOT_DECIDED', 'ACCEPTED', 'REJECTED')),
      credits bigint check (credits >= 0),
      vendor_id text,
      created_at timestamptz not null,
      decision_at timestamptz,
      expires_at timestamptz not null,
      check ((state = 'issued') = (credits is not null)),
      check ((decision = 'NOT_DECIDED') = (decision_at is null))
    );
    create index quotation_org on quotation (org_id, created_at desc, id desc);
    create unique index quotation_group on quotation (group_id);

    create table tasking_template (
      id uuid primary key,
      org_id uuid not null references organization (id),
      name text not null,
      settings jsonb not null,
      created_by uuid references app_user (id),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (org_id, name)
    );

    create index item_order on item (org_id, order_id) where order_id is not null;
  `.execute(db)
}
