import { isIn } from '#core/vocabulary.ts'
import { answerStudy, declareInfeasible, issueQuotation, refuseQuotation } from '#model/orders/answers.ts'
import * as ending from '#model/orders/ending.ts'
import * as group from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { contracted } from '#model/orders/pricing.ts'
import * as quotations from '#model/orders/quotation.ts'
import { OPEN_STATUSES } from '#model/orders/states.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask, deliverTask, placeAtVendorTask, pollTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors.ts'
import { task, type TaskContext } from '#task.ts'

const MIN_WAIT_SECONDS = 1
const MAX_WAIT_SECONDS = 600
/** The longer nothing has changed, the rarer the looks: a tenth of that time from one to the next. */
const WAIT_SHARE = 0.1
/** Looks in a row that a vendor did not answer; at ten minutes each about three and a half days. */
const MAX_UNANSWERED = 500
/** Work that was queued with a group and has not begun by then was lost, and is queued again. */
const LOST_MS = 30_000

/**
 * Looks at how an order fares: at its funds, at what was asked of its vendors, at what they have done. The next look is
 * arranged before this one begins, so that whatever happens to this one, there is a next.
 */
export default task({
  ...pollTask,
  events: ['order.placed', 'order.being_fulfilled', 'order.fulfilled', 'order.failed', 'order.cancelled', 'feasibility.answered'],
  concurrency: 4,
}).handle(async (context, { order_id }) => {
  const { db, clock, change, tasks } = context
  const found = await orders.find(db, order_id)
  if (!found || !isIn(OPEN_STATUSES, found.status)) return
  const now = clock.now()
  const wait = waitSeconds(found, now)
  const isOurs = await db.transaction().execute(async (tx) => {
    if (!(await orders.takePoll(tx, order_id, new Date(now.getTime() + wait * 1000), now))) return false
    await tasks(tx).enqueue(pollTask, { order_id }, { afterSeconds: wait })
    return true
  })
  if (!isOurs) return
  const lost = await ending.lostFunds(db, found)
  if (lost) return void (await change(found.organizationId, (made) => ending.failAll(made, order_id, lost)))
  if (await isExpired(context, found))
    return void (await change(found.organizationId, (made) => ending.cancel(made, order_id, 'Nobody decided on it within 30 days')))
  for (const one of found.groups) await lookAt(context, found, one)
})

function waitSeconds({ updatedAt }: Order, now: Date): number {
  const since = (now.getTime() - updatedAt.getTime()) / 1000
  return Math.round(Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, since * WAIT_SHARE)))
}

/** A study or a quotation that nobody decided on in its time ends its order. */
async function isExpired({ db, clock }: TaskContext, { status, groups }: Order): Promise<boolean> {
  if (status !== 'pending') return false
  for (const { id, subStatus } of groups) {
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

/** A vendor that does not answer is asked again at the next look, for days; one that says no is believed. */
async function lookAt(context: TaskContext, found: Order, one: Group): Promise<void> {
  const { db, change } = context
  try {
    await lookOnce(context, found, one)
    if (one.attempts > 0 && one.vendorOrderId) await group.resetAttempts(db, one.id)
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    const isFinal = error.code === 'not-found' || error.code === 'refused'
    const attempts = await group.countAttempt(db, one.id)
    if (!isFinal && attempts < MAX_UNANSWERED) return
    await change(one.organizationId, (made) =>
      one.status === 'deciding' ? ending.closeGroup(made, one, error.message) : ending.failGroup(made, one, error.message),
    )
  }
}

async function lookOnce(context: TaskContext, found: Order, one: Group): Promise<void> {
  const lastSign = Math.max(one.updatedAt.getTime(), one.heartbeatAt?.getTime() ?? 0)
  const isLost = context.clock.now().getTime() - lastSign > LOST_MS
  if (one.status === 'deciding') return await lookAtTerms(context, one, isLost)
  if (one.status === 'waiting' && isLost) return await again(context, placeAtVendorTask, one)
  if (one.status === 'delivering' && isLost) return await again(context, deliverTask, one)
  if ((one.status === 'placed' || one.status === 'accepted') && one.vendorOrderId) await lookAtOrder(context, found, one, one.vendorOrderId)
}

const again = async ({ db, clock, tasks }: TaskContext, contract: typeof placeAtVendorTask, { id }: Group): Promise<void> =>
  await db.transaction().execute(async (tx) => {
    await group.touch(tx, id, clock.now())
    await tasks(tx).enqueue(contract, { group_id: id })
  })

/** Has the study been answered, or the quotation issued? */
async function lookAtTerms(context: TaskContext, one: Group, isLost: boolean): Promise<void> {
  const { db, clock, change, vendors, signal } = context
  const { organizationId, hostName } = one
  const priced = (cents: number) => contracted(db, organizationId, one, cents, clock.now())
  if (one.subStatus === 'awaiting_feasibility') {
    const asked = await studies.ofGroup(db, one.id)
    if (!asked?.vendorId) return isLost ? await again(context, requestFromVendorTask, one) : undefined
    const answer = await vendors.shop(hostName)!.study(asked.vendorId, { signal })
    if (answer.status === 'infeasible')
      await change(organizationId, (made) => declareInfeasible(made, asked, answer.reason ?? 'The vendor cannot do it'))
    if (answer.status !== 'answered') return
    const options = await Promise.all(answer.options.map(async ({ cents, ...option }) => ({ ...option, credits: await priced(cents) })))
    await change(organizationId, (made) => answerStudy(made, asked, options))
  }
  if (one.subStatus === 'awaiting_quotation') {
    const asked = await quotations.ofGroup(db, one.id)
    if (!asked?.vendorId) return isLost ? await again(context, requestFromVendorTask, one) : undefined
    const answer = await vendors.shop(hostName)!.quotation(asked.vendorId, { signal })
    if (answer.status === 'refused')
      await change(organizationId, (made) => refuseQuotation(made, asked, answer.reason ?? 'The vendor made no quotation'))
    if (answer.status !== 'issued' || answer.cents === null) return
    const credits = await priced(answer.cents)
    await change(organizationId, (made) => issueQuotation(made, asked, credits))
  }
}

/** Has the vendor taken the order on, delivered it, or given it up? */
async function lookAtOrder({ clock, change, vendors, signal }: TaskContext, { id }: Order, one: Group, there: string): Promise<void> {
  const { status, reason } = await vendors.shop(one.hostName)!.order(there, { signal })
  if (status === 'placed') return
  await change(one.organizationId, async (made) => {
    const { tx, tasks } = made
    const current = await orders.lock(tx, id)
    if (status === 'failed' || status === 'cancelled')
      return await ending.failGroup(
        made,
        one,
        reason ?? `The vendor has ${status === 'failed' ? 'failed to deliver' : 'cancelled the order'}`,
      )
    await orders.move(made, current, 'accept')
    if (status === 'accepted') return await group.move(tx, one.id, 'accept', {}, clock.now())
    if (await group.move(tx, one.id, 'fetch', {}, clock.now())) await tasks.enqueue(deliverTask, { group_id: one.id })
    return true
  })
}
