import { Closed, Uuid } from '#core/shapes.ts'
import { job } from '#task.ts'
import * as reservation from '#model/money/reservation.ts'
import { settleCard } from '#model/money/payment-sweep.ts'

/** Takes or frees the hold of a card reservation that was decided. */
export default job({ name: 'billing.settle_reservation', data: Closed({ reservation_id: Uuid }) }).handle(
  async (context, { reservation_id }) => {
    const found = await reservation.find(context.db, reservation_id)
    if (found) await settleCard(context, found)
  },
)
