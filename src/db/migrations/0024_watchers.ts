import { sql, type Kysely } from 'kysely'

/**
 * The creator of a webhook or share link, also if a key created it or another user's access counts for it. The queue of deliveries is
 * limited per organization; what does not fit waits in the backlog.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table event_subscription add column creator_id uuid references app_user (id);
    update event_subscription set creator_id = coalesce(created_by, user_id);
    alter table share_link add column creator_id uuid references app_user (id);
    update share_link set creator_id = created_by;

    -- One row for an event whose deliveries have no room in the queue yet: 16 bytes a delivery instead of several hundred.
    create table webhook_backlog (
      org_id uuid not null,
      event_seq bigint not null references event (seq),
      subscription_ids uuid[] not null,
      created_at timestamptz not null,
      primary key (org_id, event_seq)
    );
    create index webhook_delivery_held on webhook_delivery (endpoint_key) where state = 'held';
  `.execute(db)
}
