/** Orders: access, lists, and the only way to change their state. */
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import type { OrderStatus, OrderSubStatus, OrderType } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { BillingMode } from '#db/tables/money.ts'
import type { Change } from '#effects.ts'
import * as projects from '#model/identity/project.ts'
import * as groups from './order-group.ts'
import type { Group, NewGroup } from './order-group.ts'
import { FIRST_STATUS, OPEN_STATUSES, ORDER_MOVES, subStatusOf } from './states.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'order_type as orderType',
  'status',
  'sub_status as subStatus',
  'billing_mode as billingMode',
  'display_name as displayName',
  'license_type as licenseType',
  'tags',
  'estimated_credits as estimatedCredits',
  'captured_credits as capturedCredits',
  'simulated',
  'failure_reason as failureReason',
  'history',
  'created_by as createdBy',
  'api_key_id as apiKeyId',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'fulfilled_at as fulfilledAt',
  'cancelled_at as cancelledAt',
] as const

type OrderRow = Row<'imagery_order', typeof COLUMNS>

export interface Order extends OrderRow {
  groups: Group[]
}

/** The ledger reference of an order's reservation. */
export const referenceOf = ({ id }: { id: string }) => ({ type: 'order', id })

const rows = (db: Db) => db.selectFrom('imagery_order').select(COLUMNS)

async function withGroups(db: Db, selected: readonly OrderRow[]): Promise<Order[]> {
  const byOrder = await groups.listOf(
    db,
    selected.map(({ id }) => id),
  )
  return selected.map((row) => ({ ...row, groups: byOrder.get(row.id)! }))
}

export async function find(db: Db, id: string): Promise<Order | null> {
  const row = isUuid(id) ? await rows(db).where('id', '=', id).executeTakeFirst() : undefined
  return row ? (await withGroups(db, [row]))[0]! : null
}

export async function get(db: Db, id: string): Promise<Order> {
  return (await find(db, id))!
}

/** For readers of its project, even a deleted one; 404 for everyone else. */
export async function requireReader(db: Db, principal: Principal, id: string, what = 'order'): Promise<Order> {
  const order = await find(db, id)
  if (!order) throw notFound(what)
  await projects.unlessHidden(what, () => projects.requireReader(db, principal, order.projectId, { evenDeleted: true }))
  return order
}

/** For editors of its project who act for the organization that pays. */
export async function requireBuyer(db: Db, principal: Principal, id: string, what = 'order'): Promise<Order> {
  const order = await requireReader(db, principal, id, what)
  await projects.unlessHidden(what, () => projects.requireBuyer(db, principal, order.projectId))
  return order
}

export interface OrderFilter {
  projectId: string | null
  orderType: OrderType | null
  statuses: readonly OrderStatus[] | null
  subStatuses: readonly OrderSubStatus[] | null
  displayName: string | null
  products: readonly string[] | null
  ids: readonly string[] | null
  /** The order must have all of them. */
  tags: readonly string[] | null
}

export interface PageOf {
  page: number
  size: number
  sort: 'createdAt' | 'updatedAt' | 'status' | 'displayName' | 'type'
  direction: 'asc' | 'desc'
}

const SORT_COLUMNS = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  status: 'status',
  displayName: 'display_name',
  type: 'order_type',
} as const

/** Orders of the caller's organization, except those in projects the caller cannot read. */
export async function list(
  db: Db,
  principal: Principal,
  organizationId: string,
  filter: OrderFilter,
  { page, size, sort, direction }: PageOf,
): Promise<{ orders: Order[]; total: number }> {
  const hidden = await projects.hiddenFrom(db, principal)
  const matching = rows(db)
    .where('org_id', '=', organizationId)
    .$if(hidden.length > 0, (query) => query.where('project_id', 'not in', hidden))
    .$if(filter.projectId !== null, (query) => query.where('project_id', '=', filter.projectId!))
    .$if(filter.orderType !== null, (query) => query.where('order_type', '=', filter.orderType!))
    .$if(filter.statuses !== null, (query) => query.where('status', 'in', [...filter.statuses!]))
    .$if(filter.subStatuses !== null, (query) => query.where('sub_status', 'in', [...filter.subStatuses!]))
    .$if(filter.displayName !== null, (query) =>
      query.where(sql<boolean>`position(lower(${filter.displayName}) in lower(display_name)) > 0`),
    )
    .$if(filter.ids !== null, (query) => query.where(sql<boolean>`id = any(${filter.ids}::uuid[])`))
    .$if(filter.tags !== null, (query) => query.where(sql<boolean>`tags @> ${filter.tags}::text[]`))
    .$if(filter.products !== null, (query) =>
      query.where(
        sql<boolean>`exists (select 1 from order_group g where g.order_id = imagery_order.id
          and (g.product_id = any(${filter.products}::text[]) or g.product_name = any(${filter.products}::text[])))`,
      ),
    )
  const { total } = await db
    .selectFrom(matching.as('w'))
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const selected = await matching
    .orderBy(SORT_COLUMNS[sort], direction)
    .orderBy('id', direction)
    .limit(size)
    .offset(page * size)
    .execute()
  return { orders: await withGroups(db, selected), total }
}

export interface NewOrder {
  id: string
  organizationId: string
  projectId: string
  orderType: OrderType
  billingMode: BillingMode
  displayName: string
  licenseType: string
  tags: readonly string[]
  simulated: boolean
  createdBy: string | null
  apiKeyId: string | null
  groups: readonly NewGroup[]
}

export const newOrderId = newId

/** Stores an order with its lineage and event; the caller handles money and the vendor. */
export async function insert({ tx, clock, lineage, events }: Change, request: NewOrder): Promise<Order> {
  const now = clock.now()
  const { id, organizationId, projectId, orderType } = request
  const status = FIRST_STATUS[orderType]
  await tx
    .insertInto('imagery_order')
    .values({
      id,
      org_id: organizationId,
      project_id: projectId,
      order_type: orderType,
      status,
      sub_status: subStatusOf(request.groups),
      billing_mode: request.billingMode,
      display_name: request.displayName,
      license_type: request.licenseType,
      tags: [...request.tags],
      estimated_credits: request.groups.reduce((sum, { credits }) => sum + credits, 0),
      simulated: request.simulated,
      history: JSON.stringify([{ timestamp: now.toISOString(), status, reason: null }]),
      next_poll_at: now,
      created_by: request.createdBy,
      api_key_id: request.apiKeyId,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await groups.insert(tx, { orderId: id, organizationId, now }, request.groups)
  const order = await get(tx, id)
  lineage.record('order', id, 'ordered', { kind: 'project', id: projectId })
  events.emit('order.created', id, summary(order, null))
  return order
}

/** Locks the order, so that decisions on it are serialized. */
export async function lock(tx: Tx, id: string): Promise<Order> {
  const row = await rows(tx).where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
  return (await withGroups(tx, [row]))[0]!
}

export type OrderMoveName = keyof typeof ORDER_MOVES

/**
 * Changes an order's state and emits the event. One conditional UPDATE: null means that the current state does not allow the move,
 * because a concurrent change came first.
 */
export async function move(
  { tx, clock, events }: Change,
  before: Order,
  name: OrderMoveName,
  { reason = null, capturedCredits, more = {} }: { reason?: string | null; capturedCredits?: number; more?: Record<string, unknown> } = {},
): Promise<Order | null> {
  const now = clock.now()
  const { from, to, event } = ORDER_MOVES[name]
  const step = { timestamp: now.toISOString(), status: to, reason }
  const moved = await tx
    .updateTable('imagery_order')
    .set({
      status: to,
      history: sql<string>`history || ${JSON.stringify([step])}::jsonb`,
      updated_at: now,
      ...(to === 'failed' || to === 'cancelled' ? { failure_reason: reason } : {}),
      ...(to === 'fulfilled' ? { fulfilled_at: now, captured_credits: capturedCredits ?? 0, failure_reason: reason } : {}),
      ...(to === 'cancelled' ? { cancelled_at: now } : {}),
    })
    .where('id', '=', before.id)
    .where('status', 'in', [...from])
    .where('order_type', 'in', [...ORDER_MOVES[name].of])
    .returning('id')
    .executeTakeFirst()
  if (!moved) return null
  const after = await get(tx, before.id)
  events.emit(event, after.id, { ...summary(after, before.status), ...more })
  return after
}

/** Called after its groups have changed. */
export async function setSubStatus(tx: Tx, id: string, now: Date): Promise<void> {
  const changed = (await groups.listOf(tx, [id])).get(id)!
  await tx
    .updateTable('imagery_order')
    .set({ sub_status: subStatusOf(changed), updated_at: now })
    .where('id', '=', id)
    .where('order_type', '=', 'tasking')
    .execute()
}

export async function setTags(tx: Tx, id: string, tags: readonly string[], now: Date): Promise<Order> {
  await tx
    .updateTable('imagery_order')
    .set({ tags: [...tags], updated_at: now })
    .where('id', '=', id)
    .execute()
  return await get(tx, id)
}

/** The data of an order's events. */
export function summary(order: Order, previousStatus: OrderStatus | null): Record<string, unknown> {
  return {
    id: order.id,
    project_id: order.projectId,
    display_name: order.displayName,
    order_type: order.orderType,
    billing_mode: order.billingMode,
    status: order.status,
    previous_status: previousStatus,
    total_credits: totalCreditsOf(order),
    created_at: order.createdAt.toISOString(),
  }
}

/** Credits that are or were reserved for it; a tasking order reserves nothing before its price is accepted. */
export const totalCreditsOf = (order: Order): number => order.groups.reduce((sum, { reservedCredits }) => sum + reservedCredits, 0)

/** Without duplicates: one delivery can belong to several groups. */
export const itemIdsOf = (order: Order): string[] => [...new Set(order.groups.flatMap(({ itemIds }) => itemIds))]

/** Claims the next poll of an order. False if it is not due or the order has ended. */
export async function takePoll(db: Db, id: string, nextAt: Date, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('imagery_order')
    .set({ next_poll_at: nextAt })
    .where('id', '=', id)
    .where('status', 'in', [...OPEN_STATUSES])
    .where('next_poll_at', '<=', now)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** The vendor may have news, so the order is polled now. Returns its ID; null if no open order has this group. */
export async function hint(db: Db, groupId: string, now: Date): Promise<string | null> {
  if (!isUuid(groupId)) return null
  const row = await db
    .updateTable('imagery_order')
    .set({ next_poll_at: sql<Date>`least(next_poll_at, ${now})` })
    .where('id', '=', (where) => where.selectFrom('order_group').select('order_id').where('id', '=', groupId))
    .where('status', 'in', [...OPEN_STATUSES])
    .where('next_poll_at', '>', now)
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Orders whose next poll is overdue, because its task was lost. */
export async function overdue(db: Db, before: Date, limit: number): Promise<string[]> {
  const overdueOrders = await db
    .selectFrom('imagery_order')
    .select('id')
    .where('status', 'in', [...OPEN_STATUSES])
    .where('next_poll_at', '<=', before)
    .orderBy('next_poll_at')
    .limit(limit)
    .execute()
  return overdueOrders.map(({ id }) => id)
}

/**
 * Claims the polls of orders that a dead process has left behind: their next poll is overdue, or a group waits for a task that nobody
 * runs. They are due now, and each is returned once until it is overdue again.
 */
export async function takeAbandoned(tx: Tx, { overdueSince, silentSince, now }: Record<'overdueSince' | 'silentSince' | 'now', Date>) {
  const open = sql.join(OPEN_STATUSES.map((status) => sql.lit(status)))
  const { rows } = await sql<{ id: string }>`
    with abandoned as (
      (
        select id from imagery_order where status in (${open}) and next_poll_at <= ${overdueSince}
        order by next_poll_at limit ${MAX_ABANDONED}
      )
      union
      (
        select o.id from order_group g join imagery_order o on o.id = g.order_id
        where g.status in ('waiting', 'delivering') and g.updated_at <= ${silentSince}
          and (g.heartbeat_at is null or g.heartbeat_at <= ${silentSince}) and (g.placing_until is null or g.placing_until <= ${now})
          and o.status in (${open}) and o.next_poll_at > ${now}
        order by g.updated_at limit ${MAX_ABANDONED}
      )
    )
    update imagery_order o set next_poll_at = ${now}
    where o.id in (select id from abandoned) and o.status in (${open}) and (o.next_poll_at <= ${overdueSince} or o.next_poll_at > ${now})
    returning o.id
  `.execute(tx)
  return rows.map(({ id }) => id)
}

const MAX_ABANDONED = 100
