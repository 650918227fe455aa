/** What must hold between orders, money, items and lineage after whatever happened. Each query returns what breaks its rule. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { moneyViolations } from '../money/invariants.ts'

const RULES: Record<string, string> = {
  'an order that goes on or was fulfilled has a reservation, and one that ended badly has none that lives': `
    select o.id || ' ' || o.status || ' ' || coalesce(r.state, 'without a reservation') as what from imagery_order o
    left join reservation r on r.reference_type = 'order' and r.reference_id = o.id::text and r.org_id = o.org_id
    where case o.status
      when 'processing' then r.state is distinct from 'live'
      when 'awaiting_data' then r.state is distinct from 'live'
      when 'fulfilled' then r.state is null or r.state not in ('captured', 'capturing')
      when 'failed' then r.state is null or r.state not in ('released', 'releasing')
      when 'cancelled' then r.state is not null and r.state not in ('released', 'releasing')
      else r.state is not null and r.state <> 'live' end`,
  'what is reserved for an order is what its groups cost': `
    select o.id::text as what from imagery_order o
    join reservation r on r.reference_type = 'order' and r.reference_id = o.id::text and r.org_id = o.org_id
    join (select order_id, sum(reserved_credits) as credits from order_group group by order_id) g on g.order_id = o.id
    where r.credits <> g.credits`,
  'what was captured is what was delivered': `
    select o.id::text as what from imagery_order o
    join reservation r on r.reference_type = 'order' and r.reference_id = o.id::text and r.org_id = o.org_id
    join (select order_id, sum(captured_credits) as credits from order_group group by order_id) g on g.order_id = o.id
    where o.status = 'fulfilled' and (r.captured_credits <> g.credits or o.captured_credits <> g.credits)`,
  'a reservation for an order has its order': `
    select r.id::text as what from reservation r left join imagery_order o on o.id::text = r.reference_id
    where r.reference_type = 'order' and o.id is null`,
  'an order ended when its groups did, and not before': `
    select o.id::text as what from imagery_order o where (o.status in ('fulfilled', 'failed', 'cancelled')) <>
      (not exists (select 1 from order_group g where g.order_id = o.id and g.status not in ('delivered', 'part', 'failed', 'cancelled')))`,
  'delivered items exist, in the project of their order, with a file': `
    select g.id || ' ' || item_id as what from order_group g join imagery_order o on o.id = g.order_id
    cross join unnest(g.item_ids) as item_id
    left join item i on i.id = item_id and i.org_id = g.org_id and i.project_id = o.project_id and i.order_id = o.id::text
    left join asset a on a.item_seq = i.seq where a.id is null`,
  'an item of an order is in one of its groups': `
    select i.id as what from item i where i.order_id is not null and i.duplicated_from_id is null and not exists
      (select 1 from order_group g where g.order_id::text = i.order_id and i.id = any(g.item_ids))`,
  'each delivered item leads to its order, and each order to its project': `
    select entity_id as what from lineage_node n where entity_type = 'order' and not exists
      (select 1 from lineage_edge e join lineage_node d on d.seq = e.dst_seq where e.src_seq = n.seq and d.entity_type = 'project')
    union all
    select o.id::text from imagery_order o where not exists
      (select 1 from lineage_node n where n.entity_type = 'order' and n.entity_id = o.id::text and n.org_id = o.org_id)
    union all
    select i.id from item i where i.order_id is not null and i.duplicated_from_id is null and not exists
      (select 1 from lineage_node n join lineage_edge e on e.src_seq = n.seq join lineage_node d on d.seq = e.dst_seq
        where n.entity_type = 'item' and n.entity_id = i.id and n.org_id = i.org_id and e.relation = 'delivered_for'
        and d.entity_type = 'order' and d.entity_id = i.order_id)`,
  'history ends with the present state, and each state of it was told once': `
    select o.id::text as what from imagery_order o where o.history -> -1 ->> 'status' <> o.status
    union all
    select o.id || ' ' || e.type from imagery_order o join event e on e.entity_id = o.id::text and e.type like 'order.%'
      group by o.id, e.type having count(*) > 1`,
}

export async function orderViolations(db: Db): Promise<string[]> {
  const violations = await moneyViolations(db)
  for (const [rule, text] of Object.entries(RULES))
    for (const { what } of (await sql<{ what: string }>`${sql.raw(text)}`.execute(db)).rows) violations.push(`${rule}: ${what}`)
  return violations
}
