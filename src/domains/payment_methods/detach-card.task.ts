import { PaymentsError } from '#ports/payments.ts'
import { detachCardTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import { requirePayments } from '#model/money/processor.ts'

/** Lets the processor forget a card that was removed here. One that it no longer knows is forgotten already. */
export default task({ ...detachCardTask, retryLimit: 20 }).handle(async ({ payments }, { processor_id }) => {
  try {
    await requirePayments({ payments }).detachMethod(processor_id)
  } catch (error) {
    if (!(error instanceof PaymentsError) || error.code === 'unavailable') throw error
  }
})
