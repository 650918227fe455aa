import { refundCardTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as cardHold from '#model/money/card-hold.ts'

/** Gives back to the card what a refund was decided for. */
export default task({
  ...refundCardTask,
  retryLimit: 20,
}).handle(async (context, { reservation_id, credits, refunded_before }) => {
  await cardHold.refund(context, reservation_id, credits, refunded_before)
})
