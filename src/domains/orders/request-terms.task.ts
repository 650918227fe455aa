import type { Change } from '#effects.ts'
import { issueQuotation } from '#model/orders/vendor-responses.ts'
import { closeGroup } from '#model/orders/settlement.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import * as quotations from '#model/orders/quotation.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask, withdrawTask } from '#model/orders/tasks.ts'
import { task, type TaskContext } from '#task.ts'
import { retryAtVendor, shopOf } from './vendor.lib.ts'

/** Requests the feasibility study or the quotation that a tasking group waits for. */
export default task({
  ...requestFromVendorTask,
  events: ['quotation.requested', 'order.cancelled', 'order.placed'],
  concurrency: 4,
}).handle(async (context, { group_id }) => {
  const group = await groups.find(context.db, group_id)
  if (group?.status === 'cancelled') return await withdrawIfCancelled(context, group_id)
  if (group?.status !== 'deciding') return
  await retryAtVendor(context, group, requestFromVendorTask, {
    send: async () => {
      if (group.subStatus === 'awaiting_feasibility') await requestStudy(context, group)
      if (group.subStatus === 'awaiting_quotation') await requestQuotation(context, group)
    },
    giveUp: async (change: Change, reason: string) => await closeGroup(change, group, reason),
  })
})

const requestFor = ({ productId, area, params }: Group, reference: string) => ({ reference, productId, area, params })

/** What was cancelled while it was requested is declined at the vendor, which may have received the request. */
async function withdrawIfCancelled({ db, tasks }: Pick<TaskContext, 'db' | 'tasks'>, groupId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if ((await groups.find(tx, groupId))?.status === 'cancelled') await tasks(tx).enqueue(withdrawTask, { group_id: groupId })
  })
}

async function requestStudy({ db, vendors, tasks, signal }: TaskContext, group: Group): Promise<void> {
  const study = await studies.ofGroup(db, group.id)
  if (!study || study.vendorId || study.state !== 'waiting') return
  const { id } = await shopOf(vendors, group).requestStudy(requestFor(group, study.id), { signal })
  await studies.setVendorId(db, study.id, id)
  await withdrawIfCancelled({ db, tasks }, group.id)
}

/** Products sold at their list price are quoted by us, without a request to the vendor. */
async function requestQuotation({ db, vendors, change, tasks, signal }: TaskContext, group: Group): Promise<void> {
  const { projectId } = await orders.get(db, group.orderId)
  const quotation = await change(group.organizationId, (change) => quotations.request(change, projectId, group))
  if (quotation.vendorId || quotation.state !== 'waiting') return
  if (!group.steps.includes('quotation')) {
    await change(group.organizationId, (change) => issueQuotation(change, quotation, group.credits))
    return
  }
  const request = { ...requestFor(group, quotation.id), ...(group.vendorOptionId ? { studyOptionId: group.vendorOptionId } : {}) }
  const { id } = await shopOf(vendors, group).requestQuotation(request, { signal })
  await quotations.setVendorId(db, quotation.id, id)
  await withdrawIfCancelled({ db, tasks }, group.id)
}
