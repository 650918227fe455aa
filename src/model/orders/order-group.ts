/** The groups of an order: what goes to one vendor as one order there. */
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { OrderGroupStatus, OrderSubStatus } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { DecisionStep, OrderedCapture } from '#db/tables/orders.ts'
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
  // Its price as far as it is known; what of the order's reservation is for it; and what of that was taken.
  'credits',
  'reserved_credits as reservedCredits',
  'captured_credits as capturedCredits',
  'failure_reason as failureReason',
  'vendor_order_id as vendorOrderId',
  'vendor_option_id as vendorOptionId',
  'vendor_quotation_id as vendorQuotationId',
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
}

export async function listOf(db: Db, orderIds: readonly string[]): Promise<Map<string, Group[]>> {
  const found = new Map<string, Group[]>(orderIds.map((id) => [id, []]))
  if (orderIds.length === 0) return found
  const rows = await db
    .selectFrom('order_group')
    .select(COLUMNS)
    .where(sql<boolean>`order_id = any(${orderIds}::uuid[])`)
    .orderBy('order_id')
    .orderBy('ordinal')
    .execute()
  for (const row of rows) found.get(row.orderId)!.push(row)
  return found
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
      groups.map((one, ordinal) => ({
        id: newId(),
        order_id: orderId,
        org_id: organizationId,
        ordinal,
        host_name: one.hostName,
        product_id: one.productId,
        product_name: one.productName,
        status: one.status,
        sub_status: one.subStatus,
        steps: [...one.steps],
        captures: one.captures && JSON.stringify(one.captures),
        feature_collection: one.featureCollection && JSON.stringify(one.featureCollection),
        params: JSON.stringify(one.params),
        area: JSON.stringify(one.area),
        area_km2: one.areaKm2,
        credits: one.credits,
        reserved_credits: one.reservedCredits,
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

/** One conditional UPDATE; false: it is not in a state from which this move leads. */
export async function move(tx: Db | Tx, id: string, name: GroupMove, change: GroupChange, now: Date): Promise<boolean> {
  const { from, to } = GROUP_MOVES[name]
  const done = await tx
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
  return done.numUpdatedRows > 0n
}

interface Terms {
  credits?: number
  reservedCredits?: number
  vendorOptionId?: string | null
  vendorQuotationId?: string | null
}

/** The same for how far the two sides agree. */
export async function agree(tx: Tx, id: string, name: SubMove, terms: Terms, now: Date): Promise<boolean> {
  const { from, to } = SUB_MOVES[name]
  const done = await tx
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
  return done.numUpdatedRows > 0n
}

/** Another try that the vendor did not answer; how many that were. */
export async function countAttempt(db: Db, id: string): Promise<number> {
  const { attempts } = await db
    .updateTable('order_group')
    .set({ attempts: sql<number>`attempts + 1` })
    .where('id', '=', id)
    .returning('attempts')
    .executeTakeFirstOrThrow()
  return attempts
}

/** The next try is arranged for that time: until then nobody takes the work for lost. */
export async function postpone(tx: Tx, id: string, until: Date): Promise<void> {
  await tx.updateTable('order_group').set({ heartbeat_at: until }).where('id', '=', id).execute()
}

/** Its work is queued anew. */
export async function touch(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.updateTable('order_group').set({ updated_at: now }).where('id', '=', id).execute()
}

/** The vendor has answered again. */
export async function resetAttempts(db: Db, id: string): Promise<void> {
  await db.updateTable('order_group').set({ attempts: 0 }).where('id', '=', id).execute()
}

/** A run that has given no sign of life for so long is taken to be dead. */
const SILENT_MS = 30_000

export type Run = Group & { runId: string }

/** Takes a delivery on. Null: it is done, or somebody works on it. */
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

/** Notes that a delivery goes on. False: it is no longer this run's. */
export async function beat(db: Db, { id, runId }: { id: string; runId: string }, now: Date): Promise<boolean> {
  const done = await ofRun(db, id, runId).set({ heartbeat_at: now }).executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Lets go of a delivery, so that the next try need not wait. */
export async function free(db: Db, { id, runId }: { id: string; runId: string }): Promise<void> {
  await ofRun(db, id, runId).set({ heartbeat_at: null }).execute()
}

const ofRun = (db: Db, id: string, runId: string) =>
  db.updateTable('order_group').where('id', '=', id).where('run_id', '=', runId).where('status', '=', 'delivering')

/** Whether a group is this run's still; it then stays so until the transaction ends. */
export async function holdRun(tx: Tx, { id, runId }: { id: string; runId: string }): Promise<boolean> {
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
