import { sql, type Kysely } from 'kysely'

/** Invoices, commitments, approvals and results of reconciliation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create sequence invoice_number;

    -- One for each organization and month: a month cannot be closed twice.
    create table invoice (
      id uuid primary key,
      org_id uuid not null references organization (id),
      number text not null unique,
      period text not null check (period ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'),
      status text not null check (status in ('open', 'paid', 'past_due')),
      lines jsonb not null,
      commitments jsonb not null,
      subtotal_cents bigint not null check (subtotal_cents >= 0),
      gst_cents bigint not null check (gst_cents >= 0),
      total_cents bigint not null,
      due_cents bigint not null check (due_cents between 0 and total_cents),
      customer jsonb not null,
      processor_invoice_id text,
      failure text,
      reference text,
      note text,
      issued_at timestamptz not null,
      due_at timestamptz not null,
      paid_at timestamptz,
      unique (org_id, period),
      check (total_cents = subtotal_cents + gst_cents),
      check ((status = 'paid') = (paid_at is not null))
    );
    create index invoice_unpaid on invoice (due_at) where status <> 'paid';

    create table commitment (
      id uuid primary key,
      org_id uuid not null references organization (id),
      name text not null,
      products text[] not null,
      period_start date not null,
      period_end date not null,
      minimum_cents bigint check (minimum_cents > 0),
      minimum_km2 double precision check (minimum_km2 > 0),
      rates jsonb not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (period_end > period_start),
      check ((minimum_cents is null) <> (minimum_km2 is null))
    );
    create index commitment_org on commitment (org_id, period_start);

    create table approval (
      id uuid primary key,
      org_id uuid not null references organization (id),
      requested_by uuid not null references app_user (id),
      credits bigint check (credits > 0),
      operation text,
      input jsonb,
      reason text,
      status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'used')),
      decided_by uuid references app_user (id),
      decision_reason text,
      created_at timestamptz not null,
      decided_at timestamptz,
      expires_at timestamptz not null,
      used_at timestamptz,
      check ((operation is null) = (input is null)),
      check (credits is not null or operation is not null),
      check ((status = 'pending') = (decided_at is null)),
      check (decided_by is distinct from requested_by)
    );
    create index approval_org on approval (org_id, created_at desc, id);
    create index approval_usable on approval (org_id, requested_by) where status = 'approved';

    create table reconciliation (
      id uuid primary key,
      org_id uuid not null references organization (id),
      stored_bytes bigint not null,
      counted_bytes bigint not null,
      available bigint not null,
      counted_available bigint not null,
      reserved bigint not null,
      counted_reserved bigint not null,
      has_drift boolean not null,
      created_at timestamptz not null
    );
    create index reconciliation_org on reconciliation (org_id, created_at desc);
  `.execute(db)
}
