import { refundCardTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as cardHolds from '#model/money/card-hold.ts'

/** Refunds a decided amount to the card. */
export default task({
  ...refundCardTask,
  retryLimit: 20,
}).handle(async (context, { reservation_id, credits, refunded_before }) => {
  await cardHolds.refund(context, reservation_id, credits, refunded_before)
})
