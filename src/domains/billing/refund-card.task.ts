import { refundCardTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import { refundCard } from '#model/money/payment-sweep.ts'
import * as reservation from '#model/money/reservation.ts'

/** Gives back to the card what a refund was decided for. */
export default task({
  ...refundCardTask,
  retryLimit: 20,
}).handle(async (context, { reservation_id, credits, refunded_before }) => {
  const found = await reservation.find(context.db, reservation_id)
  if (found) await refundCard(context, found, credits, refunded_before)
})
