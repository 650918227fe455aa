/** Banks forget a hold after about a week, and a delivery may take longer: holds are made anew before that. */
import { DAY_MS } from '#core/time.ts'
import { Problem } from '#core/problem.ts'
import type { PaymentContext } from './processor.ts'
import { pay } from './card-payment.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import * as reservations from './reservation.ts'

const RENEW_AFTER_MS = 6 * DAY_MS
const LIMIT = 100

export async function renewHolds(context: PaymentContext): Promise<void> {
  const before = new Date(context.clock.now().getTime() - RENEW_AFTER_MS)
  for (const former of await attempts.agingHolds(context.db, before, LIMIT)) {
    const fresh = await holdAnew(context, former)
    if (fresh !== 'unknown') await swap(context, former, fresh)
  }
}

/** A new hold first, then the old one is let go: at no moment is the order without one. A refusal ends the reservation, with its reason. */
async function swap(context: PaymentContext, former: Attempt, fresh: string | null): Promise<void> {
  await context.commit(former.org_id, 'billing.renew_holds', async ({ tx, clock }) => {
    const now = clock.now()
    if (!(await attempts.move(tx, former.id, { from: ['held'], to: 'authorized' }, now))) return // Settled meanwhile; the sweep frees the new hold.
    if (fresh) await attempts.move(tx, fresh, { from: ['pending', 'authorized'], to: 'held', reservationId: former.reservation_id! }, now)
    else await reservations.move(tx, former.reservation_id!, { from: ['live'], to: 'released', failure: 'card_declined' }, now)
  })
}

/** The new attempt; null when the bank refused; `unknown` while the processor does not answer, and then it is asked again. */
async function holdAnew(context: PaymentContext, former: Attempt): Promise<string | 'unknown' | null> {
  try {
    const { attempt, intent } = await pay(context, {
      organizationId: former.org_id,
      kind: 'hold',
      requestKey: `renewal of ${former.id}`,
      cents: former.aud_cents,
      credits: former.credits,
      bonusCredits: 0,
      userId: former.user_id,
      offSession: true,
    })
    return intent.status === 'requires_capture' ? attempt.id : null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.slug === 'payment-processor-outage' ? 'unknown' : null
  }
}
