import { startHeartbeat } from '#core/heartbeat.ts'
import { Problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import * as items from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import * as projects from '#model/identity/project.ts'
import * as settlement from '#model/orders/settlement.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Run } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { deliverTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { refusalOf } from '#raster/ingest/refusal.ts'
import { ingestDelivery, type DeliveredItem } from '#services/ingest/delivery.ts'
import { discard } from '#services/ingest/intake.ts'
import { task, type TaskContext } from '#task.ts'
import { assessDelivery, itemsOf, requireOrdered, requireShown, WrongDelivery } from './delivery.lib.ts'
import { wrongCharge } from './charge.lib.ts'
import { download } from './download.lib.ts'
import { shopOf } from './vendor.lib.ts'

const MAX_ATTEMPTS = 5

/**
 * Ingests a vendor's delivery for a group. Files go to the project's bucket first; then one transaction writes the items and
 * their lineage, ends the group and, after the last group, ends and settles the order.
 */
export default task({
  ...deliverTask,
  produces: ['item:delivered_for>order'],
  events: ['item.created', 'order.being_fulfilled', 'order.fulfilled', 'order.failed'],
  concurrency: 2,
  timeoutSeconds: 4 * 3_600,
}).handle(async (context, { group_id }) => {
  const run = await groups.claim(context.db, group_id, context.clock.now())
  if (!run) return
  const { db, clock, signal } = context
  const beat = () => groups.heartbeat(db, run, clock.now())
  const heartbeat = startHeartbeat({ signal, firstStep: 'deliver', beat, aloneAfterMs: groups.ALONE_MS })
  try {
    await deliver({ ...context, signal: heartbeat.signal }, run)
  } catch (error) {
    await heartbeat.stop()
    const reason = heartbeat.signal.aborted ? null : reasonOf(error, run) // The delivery of another run has not failed.
    await groups.release(context.db, run)
    if (reason === null) throw error
    await context.change(run.organizationId, async (change) => {
      change.lineage.nothingProduced()
      await settlement.failGroup(change, run, reason)
    })
  } finally {
    await heartbeat.stop()
  }
})

/** Why a delivery failed for good; null if it will be retried. */
function reasonOf(error: unknown, { attempts, hostName }: Run): string | null {
  const unreadable = refusalOf(error)
  if (unreadable) return `'${hostName}' delivered a file that cannot be read: ${unreadable}`
  if (error instanceof WrongDelivery) return error.message
  if (error instanceof Problem) return error.message // The project was archived or deleted.
  if (error instanceof VendorError && (error.code === 'refused' || error.code === 'not-found')) return error.message
  if (attempts < MAX_ATTEMPTS) return null
  return error instanceof VendorError ? error.message : `Delivery failed ${attempts} times because of an internal error`
}

async function deliver(context: TaskContext, run: Run): Promise<void> {
  const { db, vendors, signal, storage } = context
  const order = await orders.get(db, run.orderId)
  const { bucketName } = await projects.get(db, order.projectId)
  const shop = shopOf(vendors, run)
  const vendorOrder = await shop.order(run.vendorOrderId!, { signal })
  const { files } = vendorOrder
  const wrong = wrongCharge(run, vendorOrder)
  if (wrong !== null) throw new WrongDelivery(wrong)
  if (files.length === 0) throw new VendorError('invalid-response', run.hostName, `'${run.hostName}' reports a delivery without files`)
  requireOrdered(run, files)
  const ingested: DeliveredItem[] = []
  let isKept = false
  try {
    const byItem = itemsOf(files)
    for (const ofItem of byItem) {
      const bodies = ofItem.map((file) => ({
        file,
        body: () => download(shop, { hostName: run.hostName, orderId: run.vendorOrderId!, file }, signal),
      }))
      const { sceneId } = ofItem[0]!
      const acquiredAt = run.captures?.find(({ id }) => id === sceneId)?.acquiredAt ?? null
      const name = nameOf(order, sceneId, byItem.length)
      ingested.push(await ingestDelivery(context, bodies, { bucket: bucketName!, orderId: order.id, name, acquiredAt }))
      await requireShown(context, run, ingested.at(-1)!)
    }
    const assessed = await assessDelivery(
      context,
      run,
      vendorOrder,
      ingested.map(({ item }) => item),
    )
    isKept = await context.change(run.organizationId, (change) => keep(change, order, run, { ingested, ...assessed }))
  } finally {
    if (!isKept)
      await discard(
        { storage },
        ingested.flatMap(({ places }) => places),
      )
  }
}

const nameOf = ({ displayName }: Order, sceneId: string, count: number): string =>
  (count === 1 && displayName !== sceneId ? displayName : `${displayName === sceneId ? '' : `${displayName}, `}${sceneId}`).slice(0, 500)

interface Outcome {
  ingested: readonly DeliveredItem[]
  /** What is missing; null if the delivery is complete. */
  reason: string | null
  credits: number
}

/** Returns false if another run was faster or the order has ended; the caller then discards the files. */
async function keep(
  change: Change,
  { id, projectId, createdBy }: Order,
  run: Run,
  { ingested, reason, credits }: Outcome,
): Promise<boolean> {
  const { tx, clock, lineage, events } = change
  const { organizationId } = run
  const now = clock.now()
  await projects.lock(tx, projectId)
  const current = await orders.lock(tx, id)
  if (!(await groups.lockRun(tx, run))) {
    lineage.nothingProduced()
    return false
  }
  const itemIds = ingested.map(({ item }) => item.id)
  const end = { itemIds, capturedCredits: credits, failureReason: reason }
  await groups.move(tx, run.id, reason === null ? 'deliver' : 'deliverPart', end, now)
  await orders.move(change, current, 'accept')
  await settlement.concludeIfDone(change, id)
  const stored = await itemWrite.insert(
    tx,
    { organizationId, projectId, createdBy, now },
    ingested.map(({ item }) => item),
  )
  for (const [index, item] of stored.entries()) {
    const { style } = ingested[index]!
    if (style) await visualizationProfiles.insertDefault(tx, { organizationId, itemSeq: item.seq, createdBy, now }, style, style.assetKey)
    lineage.record('item', item.id, 'delivered_for', { kind: 'order', id })
    events.emit('item.created', item.id, items.summary(item))
  }
  return true
}
