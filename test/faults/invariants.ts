/** What must hold in the database after whatever happened to the processes that wrote it. Each query returns what breaks its rule. */
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { operations } from '#registry.ts'
import { moneyViolations } from '../money/invariants.ts'

interface Violation {
  rule: string
  what: string
}

interface Rule {
  rule: string
  /** One column, `what`, with a row for each violation. */
  find: (db: Db) => Promise<string[]>
}

const query = (rule: string, text: string): Rule => ({
  rule,
  find: async (db) => (await sql<{ what: string }>`${sql.raw(text)}`.execute(db)).rows.map((row) => row.what),
})

const LINEAGE: readonly Rule[] = [
  query(
    'every project has its lineage node',
    `
    select p.id::text as what from project p
    where not exists (select from lineage_node n where n.org_id = p.org_id and n.entity_type = 'project' and n.entity_id = p.id::text)`,
  ),
  query(
    'every lineage node of a project has its project',
    `
    select n.entity_id as what from lineage_node n
    where n.entity_type = 'project' and not exists (select from project p where p.org_id = n.org_id and p.id::text = n.entity_id)`,
  ),
  query(
    'every node has an edge, unless it heads its line',
    `
    select n.entity_type || ' ' || n.entity_id as what from lineage_node n
    where n.entity_type <> 'project' and not exists (select from lineage_edge e where e.src_seq = n.seq)`,
  ),
  query(
    'no edge lacks an end or leaves its organization',
    `
    select e.src_seq || ' to ' || e.dst_seq as what from lineage_edge e
    left join lineage_node s on s.seq = e.src_seq left join lineage_node d on d.seq = e.dst_seq
    where s.seq is null or d.seq is null or s.org_id <> d.org_id`,
  ),
  { rule: 'lineage has no cycle', find: cycles },
  query(
    'every node and edge was made by a call that the audit shows as done',
    `
    select made.what from (
      select invocation_id, 'node ' || seq as what from lineage_node
      union all select invocation_id, 'edge ' || src_seq || ' to ' || dst_seq from lineage_edge
    ) made left join audit a using (invocation_id)
    where a.status is distinct from 200`,
  ),
  { rule: 'every call that makes artifacts and was done shows them, and they are in the lineage', find: artifactsWithoutLineage },
]

const CALLS: readonly Rule[] = [
  query(
    'every event was made by a call that the audit shows as done',
    `
    select e.type || ' ' || e.id as what from event e left join audit a using (invocation_id) where a.status is distinct from 200`,
  ),
  query(
    'an event is there once',
    `
    select type || ' of ' || entity_id as what from event group by type, entity_id, invocation_id having count(*) > 1`,
  ),
  query(
    'every project has one event of its creation',
    `
    select p.id::text as what from project p left join event e on e.type = 'project.created' and e.entity_id = p.id::text
      and e.org_id = p.org_id
    group by p.id having count(e.id) <> 1`,
  ),
  query(
    'an audit entry belongs to the organization of what the call made',
    `
    select a.invocation_id::text as what from audit a join lineage_node n using (invocation_id) where a.org_id is distinct from n.org_id`,
  ),
]

/** After a process had a wrong clock, this holds only once another has counted in the window: it brings the window back. */
export const RATE_WINDOWS = 'a rate window counts nothing below zero and began in the past'

const CLAIMS: readonly Rule[] = [
  query(
    'a claim that is done has a stored answer that succeeded, and no other has one',
    `
    select key as what from idempotency_claim
    where (state = 'done') <> (response_body is not null and response_type is not null and response_status between 200 and 299)`,
  ),
  query(
    'a claim that is done was done by a call that the audit shows',
    `
    select key as what from idempotency_claim c left join audit a using (invocation_id) where c.state = 'done'
      and a.status is distinct from c.response_status`,
  ),
  query(
    'a running claim holds a lease that ends soon',
    `
    select key as what from idempotency_claim where state = 'running' and lease_until > clock_timestamp() + interval '11 seconds'`,
  ),
  query(
    RATE_WINDOWS,
    `
    select subject as what from rate_window where used < 0 or started_at > clock_timestamp() + interval '1 second'`,
  ),
]

const IDENTITY: readonly Rule[] = [
  query(
    'an open session belongs to an active user, who is in its organization',
    `
    select s.id::text as what from user_session s left join app_user u on u.id = s.user_id and u.is_active
    left join organization_member m on m.org_id = s.org_id and m.user_id = s.user_id
    where s.ended_at is null and (u.id is null or (s.org_id is not null and m.user_id is null))`,
  ),
  query(
    'an open session has exactly one refresh token that is not spent',
    `
    select s.id::text as what from user_session s left join refresh_token r on r.session_id = s.id and r.spent_at is null
    where s.ended_at is null group by s.id having count(r.token_hash) <> 1`,
  ),
  query(
    'every organization has an owner',
    `
    select o.id::text as what from organization o where o.deleted_at is null
      and not exists (select from organization_member m where m.org_id = o.id and m.role = 'owner')`,
  ),
  query(
    'every project has an admin',
    `
    select p.id::text as what from project p where p.deleted_at is null and not exists (select from project_member m
      where m.project_id = p.id and m.role = 'admin')`,
  ),
  query(
    'an accepted invitation made its member',
    `
    select i.id::text as what from invitation i where i.outcome = 'accepted'
      and not exists (select from organization_member m where m.org_id = i.org_id and m.user_id = i.accepted_by)`,
  ),
  query(
    'one signing key stands at the beginning',
    `
    select count(*) || ' keys' as what from signing_key having count(*) <> 1`,
  ),
]

const USAGE: readonly Rule[] = [
  query(
    'a project counts its items and their stored bytes',
    `
    select p.id::text as what from project p left join (
      select i.project_id, count(*) as items, sum(coalesce(a.bytes, 0) + greatest(0, i.metadata_bytes - 4096)) as bytes
      from item i left join (
        select item_seq, sum(file_size_bytes) as bytes from asset where object_key is not null group by item_seq
      ) a on a.item_seq = i.seq where i.deleted_at is null group by i.project_id
    ) c on c.project_id = p.id
    where (p.item_count, p.storage_bytes) is distinct from (coalesce(c.items, 0), coalesce(c.bytes, 0))`,
  ),
  query(
    'an organization stores what its projects store, and files that are kept for a while',
    `
    select o.id::text as what from organization o left join storage_account s on s.org_id = o.id
    where s.used_bytes is distinct from (select coalesce(sum(p.storage_bytes), 0) from project p where p.org_id = o.id)
      + (select coalesce(sum(k.size_bytes), 0) from kept_file k where k.org_id = o.id)`,
  ),
  query(
    'what is promised of a quota is what open upload sessions and jobs hold',
    `
    select o.id::text as what from organization o left join storage_account s on s.org_id = o.id
    where s.reserved_bytes is distinct from (select coalesce(sum(u.reserved_bytes), 0) from upload_session u where u.org_id = o.id
      and u.closed_at is null) + (select coalesce(sum(j.reserved_bytes), 0) from processing_job j where j.org_id = o.id
      and j.completed_at is null)`,
  ),
  query(
    'downloads by the minute and by the day agree',
    `
    select org_id::text as what from (select org_id, sum(bytes) as bytes from egress_minute group by org_id) l
    full join (select org_id, sum(amount) as bytes from usage_day where meter = 'egress_bytes' group by org_id) d using (org_id)
    where l.bytes is distinct from d.bytes`,
  ),
  query(
    'an organization is on the plan that its history ends with',
    `
    select o.id::text as what from organization o where o.plan_id is distinct from (select h.plan_id from organization_plan h
      where h.org_id = o.id order by h.started_at desc limit 1)`,
  ),
]

export async function violations(db: Db): Promise<Violation[]> {
  const violations: Violation[] = []
  for (const { rule, find } of [...LINEAGE, ...CALLS, ...CLAIMS, ...IDENTITY, ...USAGE]) {
    for (const what of await find(db)) violations.push({ rule, what })
  }
  for (const what of await moneyViolations(db)) violations.push({ rule: 'money', what })
  return violations
}

/** Takes away nodes that lead nowhere until none is left; what cannot be taken away is a cycle. */
async function cycles(db: Db): Promise<string[]> {
  const edges = await db.selectFrom('lineage_edge').select(['src_seq', 'dst_seq']).execute()
  let left = edges
  for (;;) {
    const sources = new Set(left.map((edge) => edge.src_seq))
    const next = left.filter((edge) => sources.has(edge.dst_seq))
    if (next.length === left.length) return left.map((edge) => `${edge.src_seq} to ${edge.dst_seq}`)
    left = next
  }
}

/** A call whose stored response was replayed made nothing: the first call with this input did. */
async function artifactsWithoutLineage(db: Db): Promise<string[]> {
  const producing = [...operations.values()].filter((op) => op.produces).map((op) => op.id)
  // Two queries, so that each is one join, however much a campaign has written.
  const { rows } = await sql<{ what: string }>`
    select a.operation || ' ' || a.invocation_id as what from audit a
    where a.status = 200 and a.operation = any(${producing}::text[]) and cardinality(a.artifacts) = 0
      and not exists (select from audit made join idempotency_claim c on c.invocation_id = made.invocation_id and c.state = 'done'
        where made.operation = a.operation and made.org_id = a.org_id and made.input_hash = a.input_hash and made.status = 200
          and cardinality(made.artifacts) > 0)
    union
    select made.what from (
      select a.operation || ' ' || a.invocation_id as what, a.org_id, unnest(a.artifacts) as artifact from audit a
      where a.status = 200 and a.operation = any(${producing}::text[])) made
    where not exists (select from lineage_node n where n.org_id = made.org_id and n.entity_type || ' ' || n.entity_id = made.artifact)
  `.execute(db)
  return rows.map((row) => row.what)
}
