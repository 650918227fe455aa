import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as invoices from '#model/money/invoice.ts'
import { collectInvoiceTask } from '#model/money/tasks.ts'

const MAX_INVOICES = 10_000

/** Every day: retries unpaid invoices, and marks those past their due date as past due. */
export default task({ name: 'billing.chase_invoices', data: Closed({}), schedule: '30 3 * * *' }).handle(async ({ db, clock, tasks }) => {
  await invoices.markPastDue(db, clock.now())
  const ids = await invoices.collectable(db, MAX_INVOICES)
  await db.transaction().execute(async (tx) => {
    for (const invoice_id of ids) await tasks(tx).enqueue(collectInvoiceTask, { invoice_id })
  })
})
