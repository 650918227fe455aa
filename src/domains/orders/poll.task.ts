import { isIn } from '#core/vocabulary.ts'
import { answerStudy, declareInfeasible, issueQuotation, refuseQuotation } from '#model/orders/vendor-responses.ts'
import * as settlement from '#model/orders/settlement.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { offered } from '#model/orders/pricing.ts'
import { saleOf } from '#model/orders/sale.ts'
import * as quotations from '#model/orders/quotation.ts'
import { OPEN_STATUSES } from '#model/orders/states.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask, deliverTask, placeAtVendorTask, pollTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorOrder } from '#ports/vendors/shop.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { task, type TaskContext } from '#task.ts'
import { surcharge, wrongCharge } from './charge.lib.ts'
import { reportRefusal, shopOf } from './vendor.lib.ts'

/** A source that was removed from the registry. */
const UNKNOWN_SOURCE = { minSeconds: 600, maxSeconds: 600 }
/** Backoff: the interval between polls is this share of the time since the last change. */
const WAIT_SHARE = 0.1
/** Consecutive polls without a response from the vendor; at ten minutes each, about three and a half days. */
const MAX_UNANSWERED = 500

/**
 * Polls the state of an order: its funds, its studies and quotations, and its orders at the vendors. The next poll is
 * enqueued before this one starts, so that a failure does not end the polling.
 */
export default task({
  ...pollTask,
  events: ['order.placed', 'order.being_fulfilled', 'order.fulfilled', 'order.failed', 'order.cancelled', 'feasibility.answered'],
  concurrency: 4,
}).handle(async (context, { order_id }) => {
  const { db, clock, change, tasks } = context
  const order = await orders.find(db, order_id)
  if (!order || !isIn(OPEN_STATUSES, order.status)) return
  const now = clock.now()
  const wait = waitSeconds(order, context.vendors, now)
  const isOurs = await db.transaction().execute(async (tx) => {
    if (!(await orders.takePoll(tx, order_id, new Date(now.getTime() + wait * 1000), now))) return false
    await tasks(tx).enqueue(pollTask, { order_id }, { afterSeconds: wait })
    return true
  })
  if (!isOurs) return
  const lost = await settlement.lostFunds(db, order)
  if (lost) return void (await change(order.organizationId, (change) => settlement.failAll(change, order_id, lost)))
  if (await isExpired(context, order))
    return void (await change(order.organizationId, (change) => settlement.cancel(change, order_id, 'No decision within 30 days')))
  for (const group of order.groups) await pollGroup(context, order, group)
})

/** Within the interval of the source that is polled most often. */
function waitSeconds({ updatedAt, groups: parts }: Order, vendors: Vendors, now: Date): number {
  const intervals = parts.map(({ hostName }) => vendors.source(hostName)?.poll ?? UNKNOWN_SOURCE)
  const least = Math.min(...intervals.map(({ minSeconds }) => minSeconds))
  const most = Math.min(...intervals.map(({ maxSeconds }) => maxSeconds))
  const since = (now.getTime() - updatedAt.getTime()) / 1000
  return Math.round(Math.min(most, Math.max(least, since * WAIT_SHARE)))
}

/** A study or quotation that is not decided in time cancels its order. */
async function isExpired({ db, clock }: TaskContext, order: Order): Promise<boolean> {
  if (order.status !== 'pending') return false
  for (const { id, subStatus } of order.groups) {
    const open =
      subStatus === 'feasibility_ready'
        ? await studies.ofGroup(db, id)
        : subStatus === 'quotation_ready'
          ? await quotations.ofGroup(db, id)
          : null
    if (open && open.expiresAt <= clock.now()) return true
  }
  return false
}

/** A vendor that does not respond is retried at the next poll, for days; a refusal is final. */
async function pollGroup(context: TaskContext, order: Order, group: Group): Promise<void> {
  const { db, change } = context
  try {
    await checkGroup(context, order, group)
    if (group.attempts > 0 && group.vendorOrderId) await groups.resetAttempts(db, group.id)
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    await reportRefusal(context, group, error)
    const isFinal = error.code === 'not-found' || error.code === 'refused'
    const attempts = await groups.countAttempt(db, group.id)
    if (!isFinal && attempts < MAX_UNANSWERED) return
    await change(group.organizationId, (change) =>
      group.status === 'deciding'
        ? settlement.closeGroup(change, group, error.message)
        : settlement.failGroup(change, group, error.message),
    )
  }
}

async function checkGroup(context: TaskContext, order: Order, group: Group): Promise<void> {
  const lastActivity = Math.max(group.updatedAt.getTime(), group.heartbeatAt?.getTime() ?? 0)
  // A task that has not started by then was lost, and is enqueued again.
  const isLost = context.clock.now().getTime() - lastActivity > groups.SILENT_MS
  if (group.status === 'deciding') return await checkTerms(context, group, isLost)
  if (group.status === 'waiting' && isLost) return await enqueueAgain(context, placeAtVendorTask, group)
  if (group.status === 'delivering' && isLost) return await enqueueAgain(context, deliverTask, group)
  if ((group.status === 'placed' || group.status === 'accepted') && group.vendorOrderId)
    await checkVendorOrder(context, order, group, group.vendorOrderId)
}

const enqueueAgain = async ({ db, clock, tasks }: TaskContext, contract: typeof placeAtVendorTask, { id }: Group): Promise<void> =>
  await db.transaction().execute(async (tx) => {
    await groups.touch(tx, id, clock.now())
    await tasks(tx).enqueue(contract, { group_id: id })
  })

/** Checks whether the study was answered or the quotation issued. */
async function checkTerms(context: TaskContext, group: Group, isLost: boolean): Promise<void> {
  const { db, clock, change, vendors, signal } = context
  const { organizationId } = group
  const shop = shopOf(vendors, group)
  const sale = saleOf(vendors, group)
  const priced = (cents: number | null) => offered(db, organizationId, { sale, group }, cents, clock.now())
  if (group.subStatus === 'awaiting_feasibility') {
    const study = await studies.ofGroup(db, group.id)
    if (!study?.vendorId) return isLost ? await enqueueAgain(context, requestFromVendorTask, group) : undefined
    const response = await shop.study(study.vendorId, { signal })
    if (response.status === 'infeasible')
      await change(organizationId, (change) => declareInfeasible(change, study, response.reason ?? 'The vendor cannot acquire this area'))
    if (response.status !== 'answered') return
    // Where a quotation follows, an option without a price is reserved as estimated.
    const estimated = group.steps.includes('quotation') ? group.credits : null
    const offers = await Promise.all(
      response.options.map(async ({ cents, ...option }) => ({
        ...withWindow(option, group.params),
        credits: (await priced(cents)) ?? estimated,
      })),
    )
    const options = offers.flatMap(({ credits, ...option }) => (credits === null ? [] : [{ ...option, credits }]))
    if (options.length === 0) throw new VendorError('refused', group.hostName, `'${group.hostName}' offers no option with a price`)
    await change(organizationId, (change) => answerStudy(change, study, options))
  }
  if (group.subStatus === 'awaiting_quotation') {
    const quotation = await quotations.ofGroup(db, group.id)
    if (!quotation?.vendorId) return isLost ? await enqueueAgain(context, requestFromVendorTask, group) : undefined
    const response = await shop.quotation(quotation.vendorId, { signal })
    if (response.status === 'refused')
      await change(organizationId, (change) => refuseQuotation(change, quotation, response.reason ?? 'The vendor declined to quote'))
    if (response.status !== 'issued' || response.cents === null) return
    const credits = (await priced(response.cents)) ?? 0
    await change(organizationId, (change) => issueQuotation(change, quotation, credits))
  }
}

/** A vendor that states no window promises the one that was asked for. */
function withWindow<O extends { acquisitionStart: string | null; acquisitionEnd: string | null }>(option: O, params: Group['params']) {
  return {
    ...option,
    acquisitionStart: option.acquisitionStart ?? String(params['acquisitionStart']),
    acquisitionEnd: option.acquisitionEnd ?? String(params['acquisitionEnd']),
  }
}

/** Checks whether the vendor has accepted, delivered, failed or cancelled the order, and charged what was agreed on. */
async function checkVendorOrder(context: TaskContext, { id }: Order, group: Group, vendorOrderId: string): Promise<void> {
  const { clock, change, vendors, signal } = context
  const vendorOrder = await shopOf(vendors, group).order(vendorOrderId, { signal })
  const wrong = await checkCharge(context, group, vendorOrder)
  if (wrong !== null) return void (await change(group.organizationId, (change) => settlement.failGroup(change, group, wrong)))
  reportUnknown(context, group.hostName, vendorOrder.unknownStatus)
  const { status, reason } = vendorOrder
  if (status === 'placed') return
  await change(group.organizationId, async (change) => {
    const { tx, tasks } = change
    const current = await orders.lock(tx, id)
    if (status === 'failed' || status === 'cancelled')
      return await settlement.failGroup(
        change,
        group,
        reason ?? `The vendor ${status === 'failed' ? 'failed to deliver' : 'cancelled the order'}`,
      )
    await orders.move(change, current, 'accept')
    if (status === 'accepted') return await groups.move(tx, group.id, 'accept', {}, clock.now())
    if (await groups.move(tx, group.id, 'fetch', {}, clock.now())) await tasks.enqueue(deliverTask, { group_id: group.id })
    return true
  })
}

/** Keeps what the vendor charged, and returns why it is not what was agreed on. */
async function checkCharge({ db, operatorLog }: TaskContext, group: Group, vendorOrder: VendorOrder): Promise<string | null> {
  const { chargedCents } = vendorOrder
  if (chargedCents === null || chargedCents === group.vendorChargedCents) return wrongCharge(group, vendorOrder)
  await groups.setCharged(db, group.id, chargedCents)
  const wrong = wrongCharge(group, vendorOrder)
  const notice = wrong ?? surcharge(group, vendorOrder)
  if (notice !== null) operatorLog.warn(`Order ${group.orderId}: ${notice}`)
  return wrong
}

const MAX_REPORTED = 100
const reported = new Set<string>()

/** A state that an adapter does not know is taken for one that passes; the operator reads about it once. */
function reportUnknown({ operatorLog }: TaskContext, hostName: string, status: string | null): void {
  const name = `${hostName} ${status}`
  if (status === null || reported.has(name) || reported.size >= MAX_REPORTED) return
  reported.add(name)
  operatorLog.warn(`'${hostName}' reports the unknown state '${status}'; its orders wait until it changes`)
}
