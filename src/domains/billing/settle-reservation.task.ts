import { settleReservationTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as cardHolds from '#model/money/card-hold.ts'
import * as reservations from '#model/money/reservation.ts'

/** Takes or frees the hold of a card reservation that was decided. */
export default task({ ...settleReservationTask }).handle(async (context, { reservation_id }) => {
  const found = await reservations.find(context.db, reservation_id)
  if (found) await cardHolds.settle(context, found)
})
