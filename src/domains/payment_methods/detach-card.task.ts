import Type from 'typebox'
import { PaymentsError } from '#ports/payments.ts'
import { Closed } from '#core/shapes.ts'
import { job } from '#task.ts'
import { requirePayments } from '#model/money/books.ts'

/** Lets the processor forget a card that was removed here. One that it no longer knows is forgotten already. */
export default job({ name: 'payment_methods.detach_card', data: Closed({ processor_id: Type.String() }), retryLimit: 20 }).handle(
  async ({ payments }, { processor_id }) => {
    try {
      await requirePayments({ payments }).detachMethod(processor_id)
    } catch (error) {
      if (!(error instanceof PaymentsError) || error.code === 'unavailable') throw error
    }
  },
)
