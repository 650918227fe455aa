import { Closed, Uuid } from '#core/shapes.ts'
import { job } from '#task.ts'
import { collect } from '#model/money/invoice-collection.ts'

/** Takes what an invoice is owed that could not be paid when its month was closed. */
export default job({ name: 'billing.collect_invoice', data: Closed({ invoice_id: Uuid }), retryLimit: 10 }).handle(
  async (context, { invoice_id }) => {
    await collect(context, invoice_id)
  },
)
