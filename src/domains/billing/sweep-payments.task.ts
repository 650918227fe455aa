import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as holds from '#model/money/hold-renewal.ts'
import * as sweep from '#model/money/payment-sweep.ts'
import { settleUnsettled } from '#model/money/settlement.ts'

const UNSETTLED_LIMIT = 200

/** Finds out what became of payments that were left half-way, settles what was decided, and renews holds before they lapse. */
export default task({ name: 'billing.sweep_payments', data: Closed({}), schedule: '* * * * *' }).handle(async (context) => {
  if (context.payments) {
    await sweep.sweepAttempts(context)
    await holds.renewHolds(context)
    await sweep.forgetNotices(context.db, context.clock.now())
  }
  await settleUnsettled(context, { organizationId: null, limit: UNSETTLED_LIMIT })
})
