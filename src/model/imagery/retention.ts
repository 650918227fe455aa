/** The internal process that ages items: batch by batch, each move once, with its accounting and its event in one transaction. */
import { sql } from 'kysely'
import type { LifecycleState } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as item from './item-read.ts'
import { softDeleteMany } from './item-delete.ts'
import * as outbox from '#model/platform/outbox.ts'
import { requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import * as project from '#model/identity/project.ts'
import { nextMove, REVIVED_BY_UPGRADE } from '#model/plans/retention-rules.ts'

const COLUMNS = [
  'seq',
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'collection_id as collectionId',
  'name',
  'type',
  'datetime',
  'bbox',
  'lifecycle_state as lifecycleState',
  'created_at as createdAt',
  'last_accessed_at as lastAccessedAt',
  'due_at as dueAt',
] as const

type AgingItem = Row<'item', typeof COLUMNS>

interface Rules {
  plan: Plan
  since: Date
}

/** An item whose state or next date has been found to be another. */
interface Turn {
  item: AgingItem
  to: LifecycleState
  dueAt: Date | null
}

export interface Moved {
  item: AgingItem
  previousState: LifecycleState
}

/** Items that retention has to look at, the longest due first, by organization. */
export async function findDue(db: Db, options: { now: Date; limit: number; without?: readonly string[] }): Promise<Map<string, number[]>> {
  const { rows } = await sql<{ seq: number; organizationId: string }>`
    select seq, org_id as "organizationId" from item
    where due_at <= ${options.now} and deleted_at is null and org_id <> all(${options.without ?? []}::uuid[]) order by due_at,
      seq limit ${options.limit}
  `.execute(db)
  const found = new Map<string, number[]>()
  for (const { seq, organizationId } of rows) found.set(organizationId, [...(found.get(organizationId) ?? []), seq])
  return found
}

/** Moves those of these items that are due one step on. What somebody else moved meanwhile is left alone. */
export async function moveOn(tx: Tx, seqs: readonly number[], now: Date): Promise<Moved[]> {
  const rules = await rulesOf(tx, seqs)
  await sql`select 1 from project where id in (select project_id from item where seq = any(${seqs}::bigint[]))
    order by id for no key update`.execute(tx)
  const rows = await tx
    .selectFrom('item')
    .select(COLUMNS)
    .where(sql<boolean>`seq = any(${seqs}::bigint[])`)
    .where('deleted_at', 'is', null)
    .where('due_at', '<=', now)
    .orderBy('seq')
    .forUpdate()
    .execute()
  return await turn(
    tx,
    rows.map((each) => next(each, rules.get(each.organizationId)!, now)),
    now,
  )
}

function next(each: AgingItem, { plan, since }: Rules, now: Date): Turn {
  const move = nextMove(each, plan.retention, since)
  if (!move || move.at > now) return { item: each, to: each.lifecycleState, dueAt: move?.at ?? null }
  const following = nextMove({ ...each, lifecycleState: move.to }, plan.retention, since)
  return { item: each, to: move.to, dueAt: following?.at ?? null }
}

/** Shared until the end of the transaction, so that the plan is what it is read as. */
async function rulesOf(tx: Tx, seqs: readonly number[]): Promise<Map<string, Rules>> {
  const { rows } = await sql<{ id: string; planId: string; since: Date }>`
    select id, plan_id as "planId", retention_since as since from organization where id in (select org_id from item
      where seq = any(${seqs}::bigint[])) order by id for share
  `.execute(tx)
  return new Map(rows.map((row) => [row.id, { plan: requireKnownPlan(row.planId), since: row.since }]))
}

async function turn(tx: Tx, turns: readonly Turn[], now: Date): Promise<Moved[]> {
  const kept = turns.filter(
    ({ item: { lifecycleState, dueAt: before }, to, dueAt }) =>
      to !== 'deleted' && (to !== lifecycleState || before?.getTime() !== dueAt?.getTime()),
  )
  if (kept.length > 0) {
    await sql`
      update item i set due_at = t.due_at, expires_at = t.due_at, lifecycle_state = t.state, archived_at = case when t.state = 'archived'
        then coalesce(i.archived_at, ${now}) end,
        updated_at = case when t.state = i.lifecycle_state then i.updated_at else ${now} end
      from unnest(${kept.map((each) => each.item.seq)}::bigint[],
        ${kept.map(({ to }) => to)}::text[], ${kept.map(({ dueAt }) => dueAt)}::timestamptz[]) as t (seq, state, due_at) where i.seq = t.seq
    `.execute(tx)
  }
  const deleted = turns.filter(({ to }) => to === 'deleted')
  for (const [projectId, gone] of await softDeleteMany(
    tx,
    deleted.map((each) => each.item.seq),
    now,
  ))
    await project.account(tx, projectId, { items: -gone.items, bytes: -gone.bytes }, now, { evenArchived: true })
  return turns
    .filter((each) => each.to !== each.item.lifecycleState)
    .map(({ item: before, to }) => ({ item: { ...before, lifecycleState: to }, previousState: before.lifecycleState }))
}

/** Tells of moves, each to the organization that it happened in. */
export async function report(tx: Tx, moves: readonly Moved[], invocationId: string, now: Date): Promise<void> {
  for (const organizationId of new Set(moves.map((move) => move.item.organizationId))) {
    await outbox.write(
      tx,
      organizationId,
      invocationId,
      moves.filter((move) => move.item.organizationId === organizationId).map((move) => eventOf(move, now)),
      now,
    )
  }
}

function eventOf({ item: each, previousState }: Moved, now: Date): outbox.PendingEvent {
  const data = item.summary(each, previousState)
  if (each.lifecycleState === 'deleted')
    return { type: 'item.deleted', entityId: each.id, data: { ...data, deleted_at: now.toISOString() } }
  return { type: 'item.updated', entityId: each.id, data: { ...data, changed_fields: ['lifecycle_state'] } }
}

/** Where a walk over an organization's items stands; null after the last one. */
export interface Place {
  projectId: string
  seq: number
}

/**
 * Dates items anew after the plan has changed, and brings back what an upgrade brings back: a stretch of the organization's
 * items, project by project. Dating twice changes nothing.
 */
export async function dateAnew(
  tx: Tx,
  organizationId: string,
  options: { from: Place | null; limit: number; revive: boolean; now: Date },
): Promise<{ moved: Moved[]; next: Place | null }> {
  const {
    rows: [organization],
  } = await sql<{
    planId: string
    since: Date
  }>`select plan_id as "planId", retention_since as since from organization where id = ${organizationId} for share`.execute(tx)
  const rules = { plan: requireKnownPlan(organization!.planId), since: organization!.since }
  const { rows: projects } = await sql<{
    id: string
  }>`select id from project where org_id = ${organizationId} and deleted_at is null
    and id >= ${options.from?.projectId ?? '00000000-0000-0000-0000-000000000000'}::uuid order by id`.execute(tx)
  const moved: Moved[] = []
  let left = options.limit
  for (const { id: projectId } of projects) {
    const afterSeq = projectId === options.from?.projectId ? options.from.seq : 0
    await sql`select 1 from project where id = ${projectId} for no key update`.execute(tx)
    const rows = await tx
      .selectFrom('item')
      .select(COLUMNS)
      .where('project_id', '=', projectId)
      .where('seq', '>', afterSeq)
      .where('deleted_at', 'is', null)
      .orderBy('seq')
      .limit(left)
      .forUpdate()
      .execute()
    moved.push(
      ...(await turn(
        tx,
        rows.map((each) => dated(each, rules, options.revive)),
        options.now,
      )),
    )
    left -= rows.length
    if (left === 0) return { moved, next: { projectId, seq: rows.at(-1)!.seq } }
  }
  return { moved, next: null }
}

function dated(each: AgingItem, { plan, since }: Rules, revive: boolean): Turn {
  const to = revive && REVIVED_BY_UPGRADE.includes(each.lifecycleState) ? 'active' : each.lifecycleState
  return { item: each, to, dueAt: nextMove({ ...each, lifecycleState: to }, plan.retention, since)?.at ?? null }
}

export interface Expiring {
  id: string
  organizationId: string
  projectId: string
  name: string
  lifecycleState: LifecycleState
  nextState: LifecycleState | null
  dueAt: Date
}

/** What retention will look at until then, over all organizations, soonest first. */
export async function listDue(db: Db, until: Date, limit: number): Promise<{ items: Expiring[]; total: number }> {
  const due = db.selectFrom('item as i').where('i.due_at', '<=', until).where('i.deleted_at', 'is', null)
  const rows = await due
    .innerJoin('organization as o', 'o.id', 'i.org_id')
    .select([
      'i.id',
      'i.org_id as organizationId',
      'i.project_id as projectId',
      'i.name',
      'i.lifecycle_state as lifecycleState',
      'i.created_at as createdAt',
      'i.last_accessed_at as lastAccessedAt',
      'i.due_at as dueAt',
      'o.plan_id as planId',
      'o.retention_since as since',
    ])
    .orderBy('i.due_at')
    .orderBy('i.seq')
    .limit(limit)
    .execute()
  const { total } = await due.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const items = rows.map(({ id, organizationId, projectId, name, dueAt, planId, since, ...aging }) => ({
    id,
    organizationId,
    projectId,
    name,
    lifecycleState: aging.lifecycleState,
    nextState: nextMove(aging, requireKnownPlan(planId).retention, since)?.to ?? null,
    dueAt: dueAt!,
  }))
  return { items, total }
}

/** Batches over many organizations take rows of all of them: two at once would meet in the middle. */
export async function oneAtATime(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('retention', 0))`.execute(tx)
}
