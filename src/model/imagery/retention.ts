/** Retention: changes the lifecycle state of items in batches, each change once, with its accounting and event in one transaction. */
import { sql } from 'kysely'
import type { LifecycleState } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as items from './item-read.ts'
import { softDeleteMany } from './item-delete.ts'
import * as outbox from '#model/platform/outbox.ts'
import { requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import * as projects from '#model/identity/project.ts'
import { nextTransition, RESTORED_BY_UPGRADE } from '#model/plans/retention-rules.ts'

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

/** An item that gets another state or another due date. */
interface Transition {
  item: AgingItem
  to: LifecycleState
  dueAt: Date | null
}

export interface Moved {
  item: AgingItem
  previousState: LifecycleState
}

/** Items due for retention, the longest due first, by organization. */
export async function findDue(db: Db, options: { now: Date; limit: number; without?: readonly string[] }): Promise<Map<string, number[]>> {
  const { rows } = await sql<{ seq: number; organizationId: string }>`
    select seq, org_id as "organizationId" from item
    where due_at <= ${options.now} and deleted_at is null and org_id <> all(${options.without ?? []}::uuid[]) order by due_at,
      seq limit ${options.limit}
  `.execute(db)
  const byOrganization = new Map<string, number[]>()
  for (const { seq, organizationId } of rows) byOrganization.set(organizationId, [...(byOrganization.get(organizationId) ?? []), seq])
  return byOrganization
}

/** Moves those of these items that are due to their next state. Skips items changed concurrently. */
export async function advance(tx: Tx, seqs: readonly number[], now: Date): Promise<Moved[]> {
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
  return await applyTransitions(
    tx,
    rows.map((item) => next(item, rules.get(item.organizationId)!, now)),
    now,
  )
}

function next(item: AgingItem, { plan, since }: Rules, now: Date): Transition {
  const move = nextTransition(item, plan.retention, since)
  if (!move || move.at > now) return { item, to: item.lifecycleState, dueAt: move?.at ?? null }
  const following = nextTransition({ ...item, lifecycleState: move.to }, plan.retention, since)
  return { item, to: move.to, dueAt: following?.at ?? null }
}

/** Locked for sharing until the end of the transaction, so that the plan cannot change. */
async function rulesOf(tx: Tx, seqs: readonly number[]): Promise<Map<string, Rules>> {
  const { rows } = await sql<{ id: string; planId: string; since: Date }>`
    select id, plan_id as "planId", retention_since as since from organization where id in (select org_id from item
      where seq = any(${seqs}::bigint[])) order by id for share
  `.execute(tx)
  return new Map(rows.map((row) => [row.id, { plan: requireKnownPlan(row.planId), since: row.since }]))
}

async function applyTransitions(tx: Tx, transitions: readonly Transition[], now: Date): Promise<Moved[]> {
  const changed = transitions.filter(
    ({ item: { lifecycleState, dueAt: before }, to, dueAt }) =>
      to !== 'deleted' && (to !== lifecycleState || before?.getTime() !== dueAt?.getTime()),
  )
  if (changed.length > 0) {
    await sql`
      update item i set due_at = t.due_at, expires_at = t.due_at, lifecycle_state = t.state, archived_at = case when t.state = 'archived'
        then coalesce(i.archived_at, ${now}) end,
        updated_at = case when t.state = i.lifecycle_state then i.updated_at else ${now} end
      from unnest(${changed.map(({ item }) => item.seq)}::bigint[],
        ${changed.map(({ to }) => to)}::text[],
        ${changed.map(({ dueAt }) => dueAt)}::timestamptz[]) as t (seq, state, due_at) where i.seq = t.seq
    `.execute(tx)
  }
  const deleted = transitions.filter(({ to }) => to === 'deleted')
  for (const [projectId, freed] of await softDeleteMany(
    tx,
    deleted.map(({ item }) => item.seq),
    now,
  ))
    await projects.account(tx, projectId, { items: -freed.items, bytes: -freed.bytes }, now, { evenArchived: true })
  return transitions
    .filter(({ item, to }) => to !== item.lifecycleState)
    .map(({ item: before, to }) => ({ item: { ...before, lifecycleState: to }, previousState: before.lifecycleState }))
}

/** Emits the events of state changes, each to its organization. */
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

function eventOf({ item, previousState }: Moved, now: Date): outbox.PendingEvent {
  const data = items.summary(item, previousState)
  if (item.lifecycleState === 'deleted')
    return { type: 'item.deleted', entityId: item.id, data: { ...data, deleted_at: now.toISOString() } }
  return { type: 'item.updated', entityId: item.id, data: { ...data, changed_fields: ['lifecycle_state'] } }
}

/** The position in a pass over an organization's items; null after the last one. */
export interface Place {
  projectId: string
  seq: number
}

/**
 * Recalculates the dates of items after a plan change, and restores what an upgrade restores: part of the organization's items, project
 * by project. Idempotent.
 */
export async function recalculateDates(
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
  const { rows: remainingProjects } = await sql<{
    id: string
  }>`select id from project where org_id = ${organizationId} and deleted_at is null
    and id >= ${options.from?.projectId ?? '00000000-0000-0000-0000-000000000000'}::uuid order by id`.execute(tx)
  const moved: Moved[] = []
  let remaining = options.limit
  for (const { id: projectId } of remainingProjects) {
    const afterSeq = projectId === options.from?.projectId ? options.from.seq : 0
    await sql`select 1 from project where id = ${projectId} for no key update`.execute(tx)
    const rows = await tx
      .selectFrom('item')
      .select(COLUMNS)
      .where('project_id', '=', projectId)
      .where('seq', '>', afterSeq)
      .where('deleted_at', 'is', null)
      .orderBy('seq')
      .limit(remaining)
      .forUpdate()
      .execute()
    moved.push(
      ...(await applyTransitions(
        tx,
        rows.map((item) => dated(item, rules, options.revive)),
        options.now,
      )),
    )
    remaining -= rows.length
    if (remaining === 0) return { moved, next: { projectId, seq: rows.at(-1)!.seq } }
  }
  return { moved, next: null }
}

function dated(item: AgingItem, { plan, since }: Rules, revive: boolean): Transition {
  const to = revive && RESTORED_BY_UPGRADE.includes(item.lifecycleState) ? 'active' : item.lifecycleState
  return { item, to, dueAt: nextTransition({ ...item, lifecycleState: to }, plan.retention, since)?.at ?? null }
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

/** Items due for retention until a time, in all organizations, soonest first. */
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
  const expiring = rows.map(({ id, organizationId, projectId, name, dueAt, planId, since, ...aging }) => ({
    id,
    organizationId,
    projectId,
    name,
    lifecycleState: aging.lifecycleState,
    nextState: nextTransition(aging, requireKnownPlan(planId).retention, since)?.to ?? null,
    dueAt: dueAt!,
  }))
  return { items: expiring, total }
}

/** Serializes batches, which lock rows of many organizations and could deadlock. */
export async function lockBatch(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('retention', 0))`.execute(tx)
}
