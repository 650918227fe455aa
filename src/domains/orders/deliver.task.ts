import { startHeartbeat } from '#core/heartbeat.ts'
import { Problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import * as itemRead from '#model/imagery/item-read.ts'
import * as itemWrite from '#model/imagery/item-write.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import * as projects from '#model/identity/project.ts'
import * as ending from '#model/orders/ending.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Run } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { deliverTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors.ts'
import { refusalOf } from '#raster/ingest/refusal.ts'
import { takeDelivered, type DeliveredItem } from '#services/ingest/delivery.ts'
import { discard } from '#services/ingest/intake.ts'
import { task, type TaskContext } from '#task.ts'
import { judge, requireOrdered, requireShown, WrongDelivery } from './delivery.lib.ts'
import { downloaded } from './download.lib.ts'

const MAX_ATTEMPTS = 5

/**
 * Fetches what a vendor delivered for a group: its files go to the project's bucket, then items, lineage, the group's end and,
 * where it is the last group, the order's end and its money in one transaction.
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
  const heartbeat = startHeartbeat({ signal, firstStep: 'deliver', beat: () => groups.heartbeat(db, run, clock.now()) })
  try {
    await deliver({ ...context, signal: heartbeat.signal }, run)
  } catch (error) {
    const reason = reasonOf(error, run)
    await groups.release(context.db, run)
    if (reason === null) throw error
    await context.change(run.organizationId, async (made) => {
      made.lineage.nothingProduced()
      await ending.failGroup(made, run, reason)
    })
  } finally {
    heartbeat.stop()
  }
})

/** Why a delivery is given up; null while it may be tried again. */
function reasonOf(error: unknown, { attempts, hostName }: Run): string | null {
  const unreadable = refusalOf(error)
  if (unreadable) return `'${hostName}' delivered a file that cannot be read: ${unreadable}`
  if (error instanceof WrongDelivery) return error.message
  if (error instanceof Problem) return error.message // Its project was closed.
  if (error instanceof VendorError && (error.code === 'refused' || error.code === 'not-found')) return error.message
  if (attempts < MAX_ATTEMPTS) return null
  return error instanceof VendorError ? error.message : `Delivery failed ${attempts} times because of an internal error`
}

async function deliver(context: TaskContext, run: Run): Promise<void> {
  const { db, vendors, signal, storage } = context
  const current = await orders.get(db, run.orderId)
  const { bucketName } = await projects.get(db, current.projectId)
  const shop = vendors.shop(run.hostName)!
  const there = await shop.order(run.vendorOrderId!, { signal })
  const { files } = there
  if (files.length === 0)
    throw new VendorError('nonsense', run.hostName, `'${run.hostName}' says that it has delivered, but there are no files`)
  requireOrdered(run, files)
  const taken: DeliveredItem[] = []
  let isKept = false
  try {
    for (const file of files) {
      const body = downloaded(shop, { hostName: run.hostName, orderId: run.vendorOrderId!, file }, signal)
      const name = nameOf(current, file.sceneId, files.length)
      taken.push(await takeDelivered(context, file, { bucket: bucketName!, orderId: current.id, name }, body))
      await requireShown(context, run, taken.at(-1)!)
    }
    const judged = await judge(
      context,
      run,
      there,
      taken.map(({ item }) => item),
    )
    isKept = await context.change(run.organizationId, (made) => keep(made, current, run, { taken, ...judged }))
  } finally {
    if (!isKept)
      await discard(
        { storage },
        taken.map(({ at }) => at),
      )
  }
}

const nameOf = ({ displayName }: Order, sceneId: string, count: number): string =>
  (count === 1 && displayName !== sceneId ? displayName : `${displayName === sceneId ? '' : `${displayName}, `}${sceneId}`).slice(0, 500)

interface Outcome {
  taken: readonly DeliveredItem[]
  /** What is missing; null for nothing. */
  reason: string | null
  credits: number
}

/** False: another run was faster, or the order has ended; then what was fetched is nobody's. */
async function keep(change: Change, { id, projectId, createdBy }: Order, run: Run, { taken, reason, credits }: Outcome): Promise<boolean> {
  const { tx, clock, lineage, events } = change
  const { organizationId } = run
  const now = clock.now()
  await projects.lock(tx, projectId)
  const current = await orders.lock(tx, id)
  if (!(await groups.lockRun(tx, run))) {
    lineage.nothingProduced()
    return false
  }
  const itemIds = taken.map(({ item }) => item.id)
  const end = { itemIds, capturedCredits: credits, failureReason: reason }
  await groups.move(tx, run.id, reason === null ? 'deliver' : 'deliverPart', end, now)
  await orders.move(change, current, 'accept')
  await ending.concludeIfDone(change, id)
  const items = await itemWrite.insert(
    tx,
    { organizationId, projectId, createdBy, now },
    taken.map(({ item }) => item),
  )
  for (const [index, made] of items.entries()) {
    await visualizationProfiles.insertDefault(tx, { organizationId, itemSeq: made.seq, createdBy, now }, taken[index]!.look)
    lineage.record('item', made.id, 'delivered_for', { kind: 'order', id })
    events.emit('item.created', made.id, itemRead.summary(made))
  }
  return true
}
