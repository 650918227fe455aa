import { sql, type Kysely } from 'kysely'

/** The price of an approval, who agreed to which part of a purchase, and whose free quotas an organization uses. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- The price of the described call when the approval was requested; null where no operation estimates it.
    alter table approval add column price_credits bigint check (price_credits >= 0);

    -- Members' limits count what each member agreed to. An order is one reservation, but several members can accept its parts:
    -- a part is a group of a tasking order, and '' is everything at once.
    create table agreed_spend (
      reservation_id uuid not null references reservation (id),
      part text not null,
      org_id uuid not null,
      user_id uuid references app_user (id),
      credits bigint not null check (credits >= 0),
      captured_credits bigint not null default 0 check (captured_credits between 0 and credits),
      agreed_at timestamptz not null,
      primary key (reservation_id, part)
    );
    create index agreed_spend_member on agreed_spend (org_id, user_id, agreed_at);

    insert into agreed_spend (reservation_id, part, org_id, user_id, credits, captured_credits, agreed_at)
    select r.id, g.id::text, r.org_id, r.user_id, g.reserved_credits,
      case when r.state in ('capturing', 'captured') then least(g.captured_credits, g.reserved_credits) else 0 end, r.created_at
    from reservation r
    join imagery_order o on r.reference_type = 'order' and o.id::text = r.reference_id and o.order_type = 'tasking'
    join order_group g on g.order_id = o.id and g.reserved_credits > 0
    where r.counts_for_caps;

    insert into agreed_spend (reservation_id, part, org_id, user_id, credits, captured_credits, agreed_at)
    select r.id, '', r.org_id, r.user_id, r.credits, r.captured_credits, r.created_at
    from reservation r
    where r.counts_for_caps and not exists (select 1 from agreed_spend a where a.reservation_id = r.id);

    drop index reservation_caps;

    -- Quotas of the free plan are the founder's: an organization that is deleted takes what it used of them along.
    alter table organization add column founded_by uuid references app_user (id);
    update organization o set founded_by = first.changed_by from (
      select distinct on (org_id) org_id, changed_by from organization_plan order by org_id, started_at
    ) first where first.org_id = o.id;
    create index organization_founder on organization (founded_by, deleted_at) where deleted_at is not null;
  `.execute(db)
}
