import { Closed, Uuid } from '#core/shapes.ts'
import { job } from '#job.ts'
import { collect } from '#model/invoice-collection.ts'

/** Charges the default card for an invoice that the wallet could not bear. */
export default job({ name: 'billing.collect_invoice', data: Closed({ invoice_id: Uuid }), retryLimit: 10 }).handle(async (context, { invoice_id }) => {
  if (context.payments) await collect(context, invoice_id)
})
