/** Groups of an order: each goes to one vendor as one order there. */
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { OrderGroupStatus, OrderSubStatus } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { DecisionStep, OrderedCapture } from '#db/tables/orders.ts'
import type { ExchangeRate } from '#ports/vendors/source.ts'
import { GROUP_MOVES, SUB_MOVES, type GroupMove, type SubMove } from './states.ts'

const COLUMNS = [
  'id',
  'order_id as orderId',
  'org_id as organizationId',
  'ordinal',
  'host_name as hostName',
  'product_id as productId',
  'product_name as productName',
  'status',
  'sub_status as subStatus',
  'steps',
  'captures',
  'feature_collection as featureCollection',
  'params',
  'area',
  'area_km2 as areaKm2',
  // The price, once known; the part of the order's reservation for this group; and the part of that which was captured.
  'credits',
  'reserved_credits as reservedCredits',
  'captured_credits as capturedCredits',
  'failure_reason as failureReason',
  'vendor_order_id as vendorOrderId',
  'vendor_option_id as vendorOptionId',
  'vendor_quotation_id as vendorQuotationId',
  // What the vendor charges, in cents of its currency, and how that became credits.
  'vendor_currency as vendorCurrency',
  'vendor_cents as vendorCents',
  'vendor_charged_cents as vendorChargedCents',
  'exchange_rate as exchangeRate',
  sql<string | null>`exchange_day::text`.as('exchangeDay'),
  'exchange_margin_percent as exchangeMarginPercent',
  'markup_percent as markupPercent',
  'vendor_account_id as vendorAccountId',
  'is_billed_by_vendor as isBilledByVendor',
  'item_ids as itemIds',
  'attempts',
  'heartbeat_at as heartbeatAt',
  'updated_at as updatedAt',
] as const

export type Group = Row<'order_group', typeof COLUMNS>

export interface NewGroup {
  hostName: string
  productId: string
  productName: string
  status: OrderGroupStatus
  subStatus: OrderSubStatus | null
  steps: readonly DecisionStep[]
  captures: readonly OrderedCapture[] | null
  featureCollection: Record<string, unknown> | null
  params: Record<string, unknown>
  area: AreaGeometry
  areaKm2: number
  credits: number
  reservedCredits: number
  charge: VendorCharge
}

/** What the vendor charges, and how that became credits. */
export interface VendorCharge {
  /** The organization's account that the vendor bills; null: the operator's. */
  readonly accountId: string | null
  readonly currency: string
  /** Null: by contract. */
  readonly cents: number | null
  /** Null if nothing was converted, because the vendor bills the organization. */
  readonly exchange: ExchangeRate | null
  readonly markupPercent: number | null
}

export async function listOf(db: Db, orderIds: readonly string[]): Promise<Map<string, Group[]>> {
  const byOrder = new Map<string, Group[]>(orderIds.map((id) => [id, []]))
  if (orderIds.length === 0) return byOrder
  const rows = await db
    .selectFrom('order_group')
    .select(COLUMNS)
    .where(sql<boolean>`order_id = any(${orderIds}::uuid[])`)
    .orderBy('order_id')
    .orderBy('ordinal')
    .execute()
  for (const row of rows) byOrder.get(row.orderId)!.push(row)
  return byOrder
}

export async function find(db: Db, id: string): Promise<Group | null> {
  return (await db.selectFrom('order_group').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

export async function insert(
  tx: Tx,
  { orderId, organizationId, now }: { orderId: string; organizationId: string; now: Date },
  groups: readonly NewGroup[],
): Promise<void> {
  await tx
    .insertInto('order_group')
    .values(
      groups.map((group, ordinal) => ({
        id: newId(),
        order_id: orderId,
        org_id: organizationId,
        ordinal,
        host_name: group.hostName,
        product_id: group.productId,
        product_name: group.productName,
        status: group.status,
        sub_status: group.subStatus,
        steps: [...group.steps],
        captures: group.captures && JSON.stringify(group.captures),
        feature_collection: group.featureCollection && JSON.stringify(group.featureCollection),
        params: JSON.stringify(group.params),
        area: JSON.stringify(group.area),
        area_km2: group.areaKm2,
        credits: group.credits,
        reserved_credits: group.reservedCredits,
        vendor_currency: group.charge.currency,
        vendor_cents: group.charge.cents,
        exchange_rate: group.charge.exchange?.audPerUnit ?? null,
        exchange_day: group.charge.exchange?.day ?? null,
        exchange_margin_percent: group.charge.exchange?.marginPercent ?? null,
        markup_percent: group.charge.markupPercent,
        vendor_account_id: group.charge.accountId,
        is_billed_by_vendor: group.charge.accountId !== null,
        updated_at: now,
      })),
    )
    .execute()
}

interface GroupChange {
  failureReason?: string | null
  vendorOrderId?: string
  capturedCredits?: number
  itemIds?: readonly string[]
}

/** One conditional UPDATE. Returns false if the current state does not allow the move. */
export async function move(tx: Db | Tx, id: string, name: GroupMove, change: GroupChange, now: Date): Promise<boolean> {
  const { from, to } = GROUP_MOVES[name]
  const result = await tx
    .updateTable('order_group')
    .set({
      status: to,
      attempts: 0,
      heartbeat_at: null,
      updated_at: now,
      ...(change.failureReason === undefined ? {} : { failure_reason: change.failureReason }),
      ...(change.vendorOrderId === undefined ? {} : { vendor_order_id: change.vendorOrderId }),
      ...(change.capturedCredits === undefined ? {} : { captured_credits: change.capturedCredits }),
      ...(change.itemIds === undefined ? {} : { item_ids: [...change.itemIds] }),
    })
    .where('id', '=', id)
    .where('status', 'in', [...from])
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

interface Terms {
  credits?: number
  reservedCredits?: number
  vendorOptionId?: string | null
  vendorQuotationId?: string | null
}

/** The same for the sub-status of the negotiation. */
export async function agree(tx: Tx, id: string, name: SubMove, terms: Terms, now: Date): Promise<boolean> {
  const { from, to } = SUB_MOVES[name]
  const result = await tx
    .updateTable('order_group')
    .set({
      sub_status: to,
      updated_at: now,
      ...(terms.credits === undefined ? {} : { credits: terms.credits }),
      ...(terms.reservedCredits === undefined ? {} : { reserved_credits: terms.reservedCredits }),
      ...(terms.vendorOptionId === undefined ? {} : { vendor_option_id: terms.vendorOptionId }),
      ...(terms.vendorQuotationId === undefined ? {} : { vendor_quotation_id: terms.vendorQuotationId }),
    })
    .where('id', '=', id)
    .where('status', '=', 'deciding')
    .where('sub_status', 'in', [...from])
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Counts an attempt that the vendor did not respond to, and returns the total. */
export async function countAttempt(db: Db, id: string): Promise<number> {
  const { attempts } = await db
    .updateTable('order_group')
    .set({ attempts: sql<number>`attempts + 1` })
    .where('id', '=', id)
    .returning('attempts')
    .executeTakeFirstOrThrow()
  return attempts
}

/** The next attempt is scheduled for this time; until then the work does not count as lost. */
export async function postpone(tx: Tx, id: string, until: Date): Promise<void> {
  await tx.updateTable('order_group').set({ heartbeat_at: until }).where('id', '=', id).execute()
}

/** The work was queued again. */
export async function touch(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable('order_group').set({ updated_at: now }).where('id', '=', id).execute()
}

/** The vendor has responded again. */
export async function resetAttempts(db: Db, id: string): Promise<void> {
  await db.updateTable('order_group').set({ attempts: 0 }).where('id', '=', id).execute()
}

/** A run without a heartbeat for this long is considered dead: four are missing. */
export const SILENT_MS = 8_000
/** A run ends itself before it is considered dead. */
export const ALONE_MS = SILENT_MS - 2_000

/**
 * Claims the placement of a group: vendors do not recognize a repeated order, so that only one run at a time may look for it and place
 * it. Returns null if another run has it or the group was placed. The claim is stored before anything is sent and stays when it ends, so
 * that the first run knows that it is the first. A run that died holds it for `leaseMs` longer.
 */
export async function claimPlacing(db: Db, id: string, now: Date, leaseMs = SILENT_MS): Promise<PlacingRun | null> {
  const runId = newId()
  const claimAs = async (isFirst: boolean): Promise<PlacingRun | null> => {
    const row = await db
      .updateTable('order_group')
      .set({ placing_run_id: runId, placing_until: new Date(now.getTime() + leaseMs) })
      .where('id', '=', id)
      .where('status', '=', 'waiting')
      .where('placing_run_id', isFirst ? 'is' : 'is not', null)
      .where((where) => where.or([where('placing_until', 'is', null), where('placing_until', '<=', now)]))
      .returning(COLUMNS)
      .executeTakeFirst()
    return row ? { ...row, runId, isFirst } : null
  }
  return (await claimAs(true)) ?? (await claimAs(false))
}

export type PlacingRun = Run & { isFirst: boolean }

const ofPlacing = (db: Db, { id, runId }: { id: string; runId: string }) =>
  db.updateTable('order_group').where('id', '=', id).where('placing_run_id', '=', runId)

/** Extends a claim. Returns false if another run has taken over, or if this one has ended: its last heartbeat can arrive after its end. */
export async function keepPlacing(db: Db, run: { id: string; runId: string }, now: Date, leaseMs = SILENT_MS): Promise<boolean> {
  const result = await ofPlacing(db, run)
    .where('placing_until', 'is not', null)
    .set({ placing_until: new Date(now.getTime() + leaseMs) })
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function endPlacing(db: Db, run: { id: string; runId: string }): Promise<void> {
  await ofPlacing(db, run).set({ placing_until: null }).execute()
}

/** Whether a group is being sent to its vendor at this moment. */
export async function isBeingPlaced(db: Db, id: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('order_group')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'waiting')
    .where('placing_until', '>', now)
    .executeTakeFirst()
  return row !== undefined
}

/** What the vendor says it charged. */
export async function setCharged(tx: Db | Tx, id: string, cents: number): Promise<void> {
  await tx.updateTable('order_group').set({ vendor_charged_cents: cents }).where('id', '=', id).execute()
}

export type Run = Group & { runId: string }

/** Claims a delivery. Returns null if it is done or another run has it. */
export async function claim(db: Db, id: string, now: Date): Promise<Run | null> {
  const runId = newId()
  const row = await db
    .updateTable('order_group')
    .set({ run_id: runId, attempts: sql<number>`attempts + 1`, heartbeat_at: now, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'delivering')
    .where((where) => where.or([where('heartbeat_at', 'is', null), where('heartbeat_at', '<=', new Date(now.getTime() - SILENT_MS))]))
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ? { ...row, runId } : null
}

/** Records a heartbeat. Returns false if the delivery belongs to another run. */
export async function heartbeat(db: Db, { id, runId }: { id: string; runId: string }, now: Date): Promise<boolean> {
  const result = await ofRun(db, id, runId).set({ heartbeat_at: now }).executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Releases a delivery, so that the next attempt need not wait. */
export async function release(db: Db, { id, runId }: { id: string; runId: string }): Promise<void> {
  await ofRun(db, id, runId).set({ heartbeat_at: null }).execute()
}

const ofRun = (db: Db, id: string, runId: string) =>
  db.updateTable('order_group').where('id', '=', id).where('run_id', '=', runId).where('status', '=', 'delivering')

/** Whether the group still belongs to this run; locks it until the transaction ends. */
export async function lockRun(tx: Tx, { id, runId }: { id: string; runId: string }): Promise<boolean> {
  const row = await tx
    .selectFrom('order_group')
    .select('id')
    .where('id', '=', id)
    .where('run_id', '=', runId)
    .where('status', '=', 'delivering')
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}
