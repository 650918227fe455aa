/** Finishes what was left half-way: attempts that nobody works on, holds to take or free, reservations that nobody settled in time. */
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

/** A request is answered long before this; what is older was left behind. */
const STALE_MS = 5 * 60_000
/** How long a person may take to pass 3-D Secure. */
const AUTHENTICATION_MS = DAY_MS
const SWEEP_LIMIT = 200

/** Brings every attempt that nobody works on any more to its end. */
export async function sweepAttempts(context: PaymentContext): Promise<void> {
  const payments = requirePayments(context)
  const now = context.clock.now()
  for (const attempt of await attempts.stale(context.db, new Date(now.getTime() - STALE_MS), SWEEP_LIMIT)) {
    const isSettled = await falseIfProcessorFails(() => settleAttempt(context, payments, attempt, now))
    if (!isSettled) await attempts.touch(context.db, attempt.id, now)
  }
}

/** What the processor does not answer today is asked again next time; it keeps nothing else waiting. */
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
  const found = await payments.getIntent(attempt.paymentIntentId)
  const waits =
    found.status === 'processing' || (found.status === 'requires_action' && now.getTime() - attempt.createdAt.getTime() < AUTHENTICATION_MS)
  if (waits) return false
  const intent = found.status === 'succeeded' || found.status === 'canceled' ? found : await cancelIntent(payments, found)
  if (intent.status !== 'succeeded' && intent.status !== 'canceled') return false
  if (attempt.kind === 'hold')
    return await attempts.move(context.db, attempt.id, { from: ['pending', 'authorized'], to: 'voided', failure: 'abandoned' }, now)
  const { isFirst } = await context.commit(attempt.organizationId, 'billing.sweep_payments', (change) =>
    topups.settle(change, attempt.id, intent),
  )
  return isFirst
}

interface SettlementRun {
  seen: number
  settled: number
  released: number
}

/** Settles what was decided but not done, and releases what nobody settled in its time. */
export async function settleReservations(
  context: PaymentContext,
  { organizationId, limit }: { organizationId: string | null; limit: number },
): Promise<SettlementRun> {
  const found = await reservations.unsettled(context.db, { organizationId, now: context.clock.now(), limit })
  const run: SettlementRun = { seen: found.length, settled: 0, released: 0 }
  for (const one of found) {
    if (one.state !== 'live') {
      if (context.payments && (await falseIfProcessorFails(() => cardHolds.settle(context, one)))) run.settled++
      continue
    }
    const released = await context.commit(one.organizationId, 'billing.settle_unsettled', (change) =>
      spending.release(change, one.organizationId, reservations.referenceOf(one)),
    )
    if (released) run.released++
  }
  return run
}
