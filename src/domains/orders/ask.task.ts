import type { Change } from '#effects.ts'
import { issueQuotation } from '#model/orders/answers.ts'
import { closeGroup } from '#model/orders/ending.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import * as quotations from '#model/orders/quotation.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask } from '#model/orders/tasks.ts'
import { task, type TaskContext } from '#task.ts'
import { tryAtVendor } from './vendor.lib.ts'

/** Asks the vendor for the study or the quotation that a group of a tasking order waits for. */
export default task({
  ...requestFromVendorTask,
  events: ['quotation.requested', 'order.cancelled', 'order.placed'],
  concurrency: 4,
}).handle(async (context, { group_id }) => {
  const found = await groups.find(context.db, group_id)
  if (found?.status !== 'deciding') return
  await tryAtVendor(context, found, requestFromVendorTask, {
    ask: async () => {
      if (found.subStatus === 'awaiting_feasibility') await askStudy(context, found)
      if (found.subStatus === 'awaiting_quotation') await askQuotation(context, found)
    },
    giveUp: async (change: Change, reason: string) => await closeGroup(change, found, reason),
  })
})

const asked = ({ productId, area, params }: Group, reference: string) => ({ reference, productId, area, params })

async function askStudy({ db, vendors, signal }: TaskContext, found: Group): Promise<void> {
  const waiting = await studies.ofGroup(db, found.id)
  if (!waiting || waiting.vendorId || waiting.state !== 'waiting') return
  const { id } = await vendors.shop(found.hostName)!.requestStudy(asked(found, waiting.id), { signal })
  await studies.setVendorId(db, waiting.id, id)
}

/** A product that is sold at its list price is quoted by ourselves. */
async function askQuotation({ db, vendors, change, signal }: TaskContext, found: Group): Promise<void> {
  const { projectId } = await orders.get(db, found.orderId)
  const waiting = await change(found.organizationId, (made) => quotations.request(made, projectId, found))
  if (waiting.vendorId || waiting.state !== 'waiting') return
  if (!found.steps.includes('quotation')) {
    await change(found.organizationId, (made) => issueQuotation(made, waiting, found.credits))
    return
  }
  const request = { ...asked(found, waiting.id), ...(found.vendorOptionId ? { studyOptionId: found.vendorOptionId } : {}) }
  const { id } = await vendors.shop(found.hostName)!.requestQuotation(request, { signal })
  await quotations.setVendorId(db, waiting.id, id)
}
