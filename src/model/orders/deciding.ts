/**
 * How a tasking group comes to its price: an option of a study or a quotation is accepted, and the order's one reservation
 * moves to the new sum. When the last group is settled, the order goes to its vendors.
 */
import { problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import * as spending from '#model/money/spending.ts'
import type { PaymentContext } from '#model/money/processor.ts'
import type { Principal } from '#core/principal.ts'
import * as group from './order-group.ts'
import * as orders from './order.ts'
import { referenceOf, type Order } from './order.ts'
import { linesOf } from './pricing.ts'
import { requireNoRealMoney } from './simulated.ts'
import { placeAtVendorTask } from './tasks.ts'

export type Funding = Awaited<ReturnType<typeof spending.authorize>>

/** What the order's groups cost together when this one costs so much. */
const sumWith = ({ groups }: Order, groupId: string, credits: number): number =>
  groups.reduce((sum, one) => sum + (one.id === groupId ? credits : one.reservedCredits), 0)

interface Asked {
  principal: Principal
  operation: string
  idempotencyKey: string
}

/** Stage 6a: funds for the order with this group at its new price. */
export async function authorize(
  context: PaymentContext,
  asked: Asked,
  { order: current, groupId, credits }: { order: Order; groupId: string; credits: number },
): Promise<Funding> {
  const standing = await spending.standingOf(context.db, current.organizationId, referenceOf(current))
  const mode = standing?.mode ?? current.billingMode
  requireNoRealMoney(context.payments, { isSimulated: current.simulated, mode })
  return await spending.authorize(context, {
    spender: spending.spenderOf(asked.principal, current.organizationId),
    credits: sumWith(current, groupId, credits),
    agreed: { part: groupId, credits },
    reservationId: standing?.id ?? null,
    countsForCaps: true,
    operation: asked.operation,
    idempotencyKey: asked.idempotencyKey,
    mode,
  })
}

/** Stage 6b: the order as it is now, held; 400 where it is too late or somebody decided on another group in the same moment. */
export async function hold({ tx }: Change, orderId: string): Promise<Order> {
  const current = await orders.lock(tx, orderId)
  if (current.status !== 'pending') throw problem('bad-request', `This order is ${current.status}, so there is nothing left to decide`)
  return current
}

/** Moves the order's reservation to what its groups cost now. They carry the new price already. */
export async function secure(change: Change, funding: Funding, orderId: string): Promise<void> {
  const current = await orders.get(change.tx, orderId)
  const credits = orders.totalCreditsOf(current)
  if (credits !== funding.credits && funding.mode === 'card')
    throw problem('bad-request', 'Another part of this order was decided in the same moment; repeat the request')
  const lines = linesOf(current.groups)
  const exact = { ...funding, credits }
  const standing = await spending.standingOf(change.tx, current.organizationId, referenceOf(current))
  if (standing) await spending.reprice(change, exact, referenceOf(current), lines)
  else await spending.reserve(change, exact, { reference: referenceOf(current), lines, description: current.displayName })
}

/** A group is agreed on, or given up: perhaps it was the last one that the order waited for. */
export async function proceed(change: Change, orderId: string): Promise<Order> {
  const { tx, clock, tasks } = change
  const now = clock.now()
  await orders.setSubStatus(tx, orderId, now)
  const current = await orders.get(tx, orderId)
  if (current.subStatus !== 'accepted') return current
  const placed = await orders.move(change, current, 'decide')
  if (!placed) return current
  for (const one of placed.groups)
    if (await group.move(tx, one.id, 'decide', {}, now)) await tasks.enqueue(placeAtVendorTask, { group_id: one.id })
  return await orders.get(tx, orderId)
}
