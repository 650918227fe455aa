import { sql, type Kysely } from 'kysely'

/** Wallets, the ledger of their credits, reservations, and card payments. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- Balances are kept beside the ledger, changed only together with it, and can never be negative. 2^53 - 1 is the largest
    -- number that every client can read. Half-empty pages let the hot row be rewritten in place.
    create table wallet (
      org_id uuid primary key references organization (id),
      available bigint not null default 0 check (available >= 0),
      reserved bigint not null default 0 check (reserved >= 0),
      is_funded boolean not null default false,
      customer_id text,
      auto_enabled boolean not null default false,
      auto_threshold bigint check (auto_threshold > 0),
      auto_amount bigint check (auto_amount > 0),
      auto_daily_cap_cents bigint check (auto_daily_cap_cents > 0),
      auto_attempted_at timestamptz,
      check (available + reserved <= 9007199254740991),
      check (not auto_enabled or (auto_threshold is not null and auto_amount is not null))
    ) with (fillfactor = 50);

    create index wallet_automatic on wallet (org_id) where auto_enabled;

    -- Reservations and transfers name an organization without a foreign key: they are written beside its wallet, which has
    -- one, and the check of a key would lock the organization's row for every spend.
    create table reservation (
      id uuid primary key,
      org_id uuid not null,
      user_id uuid references app_user (id),
      api_key_id uuid,
      mode text not null check (mode in ('credit', 'card', 'enterprise')),
      reference_type text not null,
      reference_id text not null,
      credits bigint not null check (credits >= 0),
      captured_credits bigint not null default 0 check (captured_credits between 0 and credits),
      refunded_credits bigint not null default 0 check (refunded_credits between 0 and captured_credits),
      state text not null default 'live' check (state in ('live', 'capturing', 'releasing', 'captured', 'released')),
      counts_for_caps boolean not null,
      lines jsonb not null default '[]',
      failure text,
      deadline_at timestamptz,
      approval_id uuid,
      invocation_id uuid not null,
      invoiced_reference text,
      invoiced_at timestamptz,
      created_at timestamptz not null,
      settled_at timestamptz,
      unique (org_id, reference_type, reference_id),
      check ((state in ('captured', 'released')) = (settled_at is not null)),
      check (state in ('capturing', 'captured') or captured_credits = 0),
      check (mode = 'card' or state not in ('capturing', 'releasing'))
    );
    create index reservation_caps on reservation (org_id, user_id, created_at)
      include (state, credits, captured_credits) where counts_for_caps;
    create index reservation_unsettled on reservation (created_at) where state in ('capturing', 'releasing');
    create index reservation_deadline on reservation (deadline_at) where state = 'live' and deadline_at is not null;
    create index reservation_settled on reservation (org_id, settled_at) where state = 'captured';

    -- One row moves credits from one account of an organization to another, so that every transfer sums to zero by its form.
    create table ledger_transfer (
      seq bigint generated always as identity primary key,
      id uuid not null,
      org_id uuid not null,
      type text not null,
      source text not null,
      target text not null,
      credits bigint not null check (credits > 0),
      available_after bigint not null check (available_after >= 0),
      reserved_after bigint not null check (reserved_after >= 0),
      reservation_id uuid,
      reference_type text,
      reference_id text,
      payment_intent_id text,
      description text,
      invocation_id uuid not null,
      created_at timestamptz not null,
      check ((type, source, target) in (
        ('grant', 'granted', 'available'), ('topup', 'purchased', 'available'), ('bonus', 'bonus', 'available'),
        ('reservation', 'available', 'reserved'), ('release', 'reserved', 'available'), ('capture', 'reserved', 'captured'),
        ('capture', 'available', 'captured'), ('refund', 'captured', 'available'),
        ('adjustment', 'adjusted', 'available'), ('adjustment', 'available', 'adjusted'))),
      check ((type in ('topup', 'bonus')) = (payment_intent_id is not null))
    );
    create index ledger_transfer_org on ledger_transfer (org_id, seq desc);
    create unique index ledger_transfer_payment on ledger_transfer (payment_intent_id, type) where payment_intent_id is not null;
    create trigger ledger_transfer_append_only before update or delete or truncate on ledger_transfer
      for each statement execute function refuse_change();

    create table payment_method (
      id uuid primary key,
      org_id uuid not null references organization (id),
      processor_id text not null,
      brand text not null,
      last4 text not null,
      exp_month integer not null,
      exp_year integer not null,
      is_default boolean not null,
      created_at timestamptz not null,
      detached_at timestamptz,
      check (detached_at is null or not is_default)
    );
    create unique index payment_method_default on payment_method (org_id) where is_default;
    create unique index payment_method_saved on payment_method (org_id, processor_id) where detached_at is null;

    -- Written before the processor is asked for anything, so that whatever happens to us, nothing it did is forgotten.
    create table payment_attempt (
      id uuid primary key,
      org_id uuid not null references organization (id),
      kind text not null check (kind in ('topup', 'auto_topup', 'hold')),
      request_key text not null,
      aud_cents bigint not null check (aud_cents > 0),
      credits bigint not null check (credits > 0),
      bonus_credits bigint not null default 0 check (bonus_credits >= 0),
      status text not null check (status in ('created', 'pending', 'authorized', 'held', 'succeeded', 'captured', 'voided', 'failed')),
      payment_intent_id text unique,
      confirm_count integer not null default 0,
      captured_cents bigint not null default 0 check (captured_cents between 0 and aud_cents),
      failure text,
      reservation_id uuid references reservation (id),
      user_id uuid,
      invocation_id uuid not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (org_id, kind, request_key),
      check (status in ('created', 'failed') or payment_intent_id is not null),
      check (status <> 'held' or reservation_id is not null)
    );
    create unique index payment_attempt_hold on payment_attempt (reservation_id) where status = 'held';
    create index payment_attempt_open on payment_attempt (updated_at) where status in ('created', 'pending', 'authorized');
    create index payment_attempt_automatic on payment_attempt (org_id, created_at) where kind = 'auto_topup';

    create table processor_event (
      id text primary key,
      type text not null,
      payment_intent_id text,
      received_at timestamptz not null
    );
    create index processor_event_age on processor_event (received_at);
  `.execute(db)
}
