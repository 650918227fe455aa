import { PaymentsError } from '#ports/payments.ts'
import { detachCardTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import { requirePayments } from '#model/money/processor.ts'

/** Detaches a removed card at the payment processor. A card that the processor does not know is already detached. */
export default task({ ...detachCardTask, retryLimit: 20 }).handle(async ({ payments }, { processor_id }) => {
  try {
    await requirePayments({ payments }).detachMethod(processor_id)
  } catch (error) {
    if (!(error instanceof PaymentsError) || error.code === 'unavailable') throw error
  }
})
