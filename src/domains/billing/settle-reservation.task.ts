import { settleReservationTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as cardHolds from '#model/money/card-hold.ts'
import * as reservations from '#model/money/reservation.ts'

/** Captures or releases the hold of a decided card reservation. */
export default task({ ...settleReservationTask }).handle(async (context, { reservation_id }) => {
  const reservation = await reservations.find(context.db, reservation_id)
  if (reservation) await cardHolds.settle(context, reservation)
})
