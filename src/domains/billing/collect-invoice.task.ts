import { collectInvoiceTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import { collect } from '#model/money/invoice-collection.ts'

/** Collects an invoice that could not be paid when its month was closed. */
export default task({ ...collectInvoiceTask, retryLimit: 10 }).handle(async (context, { invoice_id }) => {
  await collect(context, invoice_id)
})
