import Type from 'typebox'
import { Closed, Uuid } from '#core/shapes.ts'
import { job } from '#task.ts'
import { refundCard } from '#model/money/payment-sweep.ts'
import * as reservation from '#model/money/reservation.ts'

/** Gives back to the card what a refund was decided for. */
export default job({
  name: 'billing.refund_card',
  data: Closed({ reservation_id: Uuid, credits: Type.Integer({ minimum: 1 }), refunded_before: Type.Integer({ minimum: 0 }) }),
  retryLimit: 20,
}).handle(async (context, { reservation_id, credits, refunded_before }) => {
  const found = await reservation.find(context.db, reservation_id)
  if (found) await refundCard(context, found, credits, refunded_before)
})
