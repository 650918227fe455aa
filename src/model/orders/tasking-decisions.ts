/**
 * How a tasking group gets its price: an option of a study or a quotation is accepted, and the order's reservation changes to the new
 * total. When the last group is decided, the order goes to its vendors.
 */
import { problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import * as spending from '#model/money/spending.ts'
import type { PaymentContext } from '#model/money/processor.ts'
import type { Principal } from '#core/principal.ts'
import * as groups from './order-group.ts'
import * as orders from './order.ts'
import { referenceOf, type Order } from './order.ts'
import { linesOf } from './pricing.ts'
import { requireNoRealMoney } from './simulated.ts'
import { placeAtVendorTask } from './tasks.ts'

export type Funding = Awaited<ReturnType<typeof spending.authorize>>

/** The order's total if this group costs `credits`. */
const totalWith = (order: Order, groupId: string, credits: number): number =>
  order.groups.reduce((sum, group) => sum + (group.id === groupId ? credits : group.reservedCredits), 0)

interface Caller {
  principal: Principal
  operation: string
  idempotencyKey: string
}

/** Stage 6a: authorizes the order's total with this group at its new price. */
export async function authorize(
  context: PaymentContext,
  caller: Caller,
  { order: current, groupId, credits }: { order: Order; groupId: string; credits: number },
): Promise<Funding> {
  const standing = await spending.standingOf(context.db, current.organizationId, referenceOf(current))
  const mode = standing?.mode ?? current.billingMode
  requireNoRealMoney(context.payments, { isSimulated: current.simulated, mode })
  return await spending.authorize(context, {
    spender: spending.spenderOf(caller.principal, current.organizationId),
    credits: totalWith(current, groupId, credits),
    agreed: { part: groupId, credits },
    reservationId: standing?.id ?? null,
    countsForCaps: true,
    operation: caller.operation,
    idempotencyKey: caller.idempotencyKey,
    mode,
  })
}

/** Stage 6b: locks the order; 400 if it can no longer be decided. */
export async function lockUndecided({ tx }: Change, orderId: string): Promise<Order> {
  const current = await orders.lock(tx, orderId)
  if (current.status !== 'pending') throw problem('bad-request', `This order is ${current.status}, so there is nothing to decide`)
  return current
}

/** Changes the order's reservation to the current total of its groups. */
export async function reserveTotal(change: Change, funding: Funding, orderId: string): Promise<void> {
  const current = await orders.get(change.tx, orderId)
  const credits = orders.totalCreditsOf(current)
  if (credits !== funding.credits && funding.mode === 'card')
    throw problem('bad-request', 'Another part of this order was decided concurrently; repeat the request')
  const lines = linesOf(current.groups)
  const exact = { ...funding, credits }
  const standing = await spending.standingOf(change.tx, current.organizationId, referenceOf(current))
  if (standing) await spending.reprice(change, exact, referenceOf(current), lines)
  else await spending.reserve(change, exact, { reference: referenceOf(current), lines, description: current.displayName })
}

/** A group was accepted or cancelled. If it was the last open one, the order is placed. */
export async function proceed(change: Change, orderId: string): Promise<Order> {
  const { tx, clock, tasks } = change
  const now = clock.now()
  await orders.setSubStatus(tx, orderId, now)
  const current = await orders.get(tx, orderId)
  if (current.subStatus !== 'accepted') return current
  const placed = await orders.move(change, current, 'decide')
  if (!placed) return current
  for (const group of placed.groups)
    if (await groups.move(tx, group.id, 'decide', {}, now)) await tasks.enqueue(placeAtVendorTask, { group_id: group.id })
  return await orders.get(tx, orderId)
}
