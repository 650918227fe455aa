import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as cardHolds from '#model/money/card-hold.ts'
import * as paymentNotices from '#model/money/payment-notice.ts'
import * as sweep from '#model/money/payment-sweep.ts'

const UNSETTLED_LIMIT = 200

/** Resolves interrupted payments, settles decided reservations, and renews card holds before they expire. */
export default task({ name: 'billing.sweep_payments', data: Closed({}), schedule: '* * * * *' }).handle(async (context) => {
  if (context.payments) {
    await sweep.sweepAttempts(context)
    await cardHolds.renewAging(context)
    await paymentNotices.forgetOld(context.db, context.clock.now())
  }
  await sweep.settleReservations(context, { organizationId: null, limit: UNSETTLED_LIMIT })
})
