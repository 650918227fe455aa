import { Closed } from '#core/shapes.ts'
import { job } from '#task.ts'
import * as invoice from '#model/money/invoice.ts'
import collectInvoice from './collect-invoice.task.ts'

const LIMIT = 10_000

/** Every day: what is unpaid is tried again, and what is unpaid past its date is past due. */
export default job({ name: 'billing.chase_invoices', data: Closed({}), schedule: '30 3 * * *' }).handle(async ({ db, clock, jobs }) => {
  await invoice.markPastDue(db, clock.now())
  const ids = await invoice.collectable(db, LIMIT)
  await db.transaction().execute(async (tx) => {
    for (const invoice_id of ids) await jobs(tx).enqueue(collectInvoice, { invoice_id })
  })
})
