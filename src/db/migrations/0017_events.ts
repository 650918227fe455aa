import { sql, type Kysely } from 'kysely'

/** Receivers of events: webhooks, alert rules and inboxes; and the tokens in emails. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- The transaction that wrote an event orders the stream: once every older transaction has ended, nothing can appear
    -- before a place that a reader has passed. A sequence alone cannot promise that.
    alter table event add column txid xid8 not null default pg_current_xact_id();
    alter table event add column project_id uuid;
    alter table event disable trigger event_append_only;
    update event set project_id = case when entity_type = 'project' then entity_id else data ->> 'project_id' end::uuid;
    alter table event enable trigger event_append_only;
    create index event_stream on event (org_id, txid, seq);
    drop index event_org;

    create table event_subscription (
      id uuid primary key,
      org_id uuid not null references organization (id),
      -- Whose reading rights count at delivery: the person, or the owner of the key.
      user_id uuid references app_user (id),
      created_by uuid references app_user (id),
      event_type text not null,
      endpoint_url text not null,
      endpoint_key bigint not null generated always as (hashtextextended(endpoint_url, 0) # hashtextextended(org_id::text, 1)) stored,
      filter_config jsonb not null default '{}' check (jsonb_typeof(filter_config) = 'object'),
      headers jsonb not null default '{}' check (jsonb_typeof(headers) = 'object'),
      description text,
      secret text not null check (secret like 'whsec\\_%'),
      previous_secret text,
      previous_secret_until timestamptz,
      is_active boolean not null default true,
      last_delivery_at timestamptz,
      last_status text check (last_status in ('delivered', 'failed')),
      consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check ((previous_secret is null) = (previous_secret_until is null))
    );
    create index event_subscription_match on event_subscription (org_id, event_type) where is_active;
    create index event_subscription_org on event_subscription (org_id, created_at desc, id desc);

    create table webhook_delivery (
      id uuid primary key default gen_random_uuid(),
      subscription_id uuid not null references event_subscription (id) on delete cascade,
      event_seq bigint not null references event (seq),
      endpoint_key bigint not null,
      state text not null default 'pending' check (state in ('pending', 'held', 'delivered', 'dead')),
      -- Steps of the schedule that are used up; sending one again by hand starts anew.
      tries integer not null default 0 check (tries >= 0),
      -- When the schedule began: with the event, when it was sent again by hand, or when a pause ended.
      since timestamptz not null,
      due_at timestamptz not null,
      lease uuid,
      lease_until timestamptz,
      created_at timestamptz not null,
      ended_at timestamptz,
      reason text,
      unique (subscription_id, event_seq),
      check ((state in ('delivered', 'dead')) = (ended_at is not null)),
      check ((state = 'dead') = (reason is not null))
    );
    create index webhook_delivery_due on webhook_delivery (endpoint_key, due_at) where state = 'pending';
    create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;

    create table webhook_attempt (
      id uuid primary key,
      delivery_id uuid not null references webhook_delivery (id) on delete cascade,
      at timestamptz not null,
      duration_ms integer not null check (duration_ms >= 0),
      http_status integer,
      error text,
      response_start text,
      check ((http_status is null) <= (error is not null))
    );
    create index webhook_attempt_delivery on webhook_attempt (delivery_id, at);

    create table alert_rule (
      id uuid primary key,
      org_id uuid not null references organization (id),
      user_id uuid references app_user (id),
      created_by uuid references app_user (id),
      name text not null,
      description text,
      collection_id uuid references collection (id),
      event_types text[] not null,
      expression text not null,
      comparison text not null check (comparison in ('lt', 'gt', 'eq', 'between')),
      threshold double precision not null,
      threshold_upper double precision,
      asset_key text not null,
      band_mapping jsonb not null default '{}' check (jsonb_typeof(band_mapping) = 'object'),
      aoi_geometry jsonb,
      notification_channels text[] not null,
      cooldown_minutes integer not null check (cooldown_minutes >= 0),
      is_active boolean not null default true,
      last_triggered_at timestamptz,
      last_error text,
      last_error_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (comparison <> 'between' or threshold_upper >= threshold),
      check ((last_error is null) = (last_error_at is null))
    );
    create index alert_rule_org on alert_rule (org_id, created_at desc, id desc);
    create index alert_rule_watching on alert_rule (org_id) where is_active;

    -- One open question a rule and item; a null due_at waits for the item's pixels.
    create table alert_evaluation (
      rule_id uuid not null references alert_rule (id) on delete cascade,
      org_id uuid not null,
      item_id text not null,
      version integer not null default 0,
      tries integer not null default 0 check (tries >= 0),
      due_at timestamptz,
      lease_until timestamptz,
      created_at timestamptz not null,
      primary key (rule_id, item_id)
    );
    create index alert_evaluation_due on alert_evaluation (due_at) where due_at is not null;
    create index alert_evaluation_item on alert_evaluation (org_id, item_id);

    create table alert_event (
      id uuid primary key,
      org_id uuid not null references organization (id),
      rule_id uuid not null,
      project_id uuid not null references project (id),
      item_id text not null,
      computed_value double precision not null,
      triggered_at timestamptz not null,
      acknowledged_at timestamptz,
      acknowledged_by uuid references app_user (id)
    );
    create index alert_event_org on alert_event (org_id, triggered_at desc, id desc);
    create index alert_event_rule on alert_event (rule_id, triggered_at desc, id desc);

    create table notification (
      id uuid primary key,
      user_id uuid not null references app_user (id),
      org_id uuid not null references organization (id),
      kind text not null check (kind in ('alert', 'decision', 'approval', 'payment', 'webhook', 'retention', 'invitation')),
      title text not null,
      body text not null,
      -- The same news told again within its time is one notification.
      dedupe_key text,
      created_at timestamptz not null,
      read_at timestamptz,
      dismissed_at timestamptz,
      mailed_at timestamptz
    );
    create index notification_inbox on notification (user_id, created_at desc, id desc) where dismissed_at is null;
    create unique index notification_once on notification (user_id, dedupe_key) where dedupe_key is not null;
    create index notification_unmailed on notification (user_id, created_at) where mailed_at is null;

    alter table app_user add column email_confirmed_at timestamptz;
    alter table app_user add column notification_mail text not null default 'daily'
      check (notification_mail in ('none', 'instant', 'daily'));

    -- The link of a mail has a token of its own: using it also shows that its reader has the address.
    alter table invitation add column mailed_token_hash bytea unique check (length(mailed_token_hash) = 32);

    create table mail_token (
      token_hash bytea primary key check (length(token_hash) = 32),
      user_id uuid not null references app_user (id),
      purpose text not null check (purpose in ('reset', 'confirm')),
      email text not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz
    );
    create index mail_token_user on mail_token (user_id, purpose);
  `.execute(db)
}
