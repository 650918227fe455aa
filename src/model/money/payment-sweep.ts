/** Completes unfinished work: abandoned attempts, holds to capture or release, reservations past their deadline. */
import { DAY_MS } from '#core/time.ts'
import { PaymentsError, type Payments } from '#ports/payments.ts'
import * as cardHolds from './card-hold.ts'
import { cancelIntent } from './card-payment.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import { requirePayments, type PaymentContext } from './processor.ts'
import * as reservations from './reservation.ts'
import * as spending from './spending.ts'
import * as topups from './topup.ts'

/** Far longer than a request takes; older attempts were abandoned. */
const STALE_MS = 5 * 60_000
/** How long a user can take to pass 3-D Secure. */
const AUTHENTICATION_MS = DAY_MS
const SWEEP_LIMIT = 200

/** Brings every abandoned attempt to its end. */
export async function sweepAttempts(context: PaymentContext): Promise<void> {
  const payments = requirePayments(context)
  const now = context.clock.now()
  for (const attempt of await attempts.stale(context.db, new Date(now.getTime() - STALE_MS), SWEEP_LIMIT)) {
    const isSettled = await falseIfProcessorFails(() => settleAttempt(context, payments, attempt, now))
    if (!isSettled) await attempts.touch(context.db, attempt.id, now)
  }
}

/** If the processor does not respond, the next sweep retries; other work continues. */
async function falseIfProcessorFails(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PaymentsError) return false
    throw error
  }
}

async function settleAttempt(context: PaymentContext, payments: Payments, attempt: Attempt, now: Date): Promise<boolean> {
  if (!attempt.paymentIntentId)
    return await attempts.move(context.db, attempt.id, { from: ['created'], to: 'failed', failure: 'abandoned' }, now)
  const current = await payments.getIntent(attempt.paymentIntentId)
  const waits =
    current.status === 'processing' ||
    (current.status === 'requires_action' && now.getTime() - attempt.createdAt.getTime() < AUTHENTICATION_MS)
  if (waits) return false
  const intent = current.status === 'succeeded' || current.status === 'canceled' ? current : await cancelIntent(payments, current)
  if (intent.status !== 'succeeded' && intent.status !== 'canceled') return false
  if (attempt.kind === 'hold')
    return await attempts.move(context.db, attempt.id, { from: ['pending', 'authorized'], to: 'voided', failure: 'abandoned' }, now)
  const { isFirst } = await context.commit(attempt.organizationId, 'billing.sweep_payments', (change) =>
    topups.settle(change, attempt.id, intent),
  )
  return isFirst
}

interface SettlementSummary {
  seen: number
  settled: number
  released: number
}

/** Settles reservations that were decided, and releases those past their deadline. */
export async function settleReservations(
  context: PaymentContext,
  { organizationId, limit }: { organizationId: string | null; limit: number },
): Promise<SettlementSummary> {
  const unsettled = await reservations.unsettled(context.db, { organizationId, now: context.clock.now(), limit })
  const run: SettlementSummary = { seen: unsettled.length, settled: 0, released: 0 }
  for (const reservation of unsettled) {
    if (reservation.state !== 'live') {
      if (context.payments && (await falseIfProcessorFails(() => cardHolds.settle(context, reservation)))) run.settled++
      continue
    }
    const released = await context.commit(reservation.organizationId, 'billing.settle_unsettled', (change) =>
      spending.release(change, reservation.organizationId, reservations.referenceOf(reservation)),
    )
    if (released) run.released++
  }
  return run
}
