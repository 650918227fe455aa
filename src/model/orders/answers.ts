/** What vendors answer to what they were asked for a tasking group, from the vendor itself or typed in by staff. */
import type { StudyOption } from '#db/tables/orders.ts'
import type { Change } from '#effects.ts'
import { closeGroup } from './ending.ts'
import * as group from './order-group.ts'
import * as order from './order.ts'
import * as quotation from './quotation.ts'
import type { Quotation } from './quotation.ts'
import * as study from './study.ts'
import type { Study } from './study.ts'

/** A study has options now; null: it was answered before. */
export async function answerStudy(change: Change, { id, orderId, groupId }: Study, options: readonly StudyOption[]): Promise<Study | null> {
  const { tx, clock, events } = change
  await order.lock(tx, orderId)
  const answered = await study.answer(tx, id, options, clock.now())
  if (!answered || !(await group.agree(tx, groupId, 'answer', {}, clock.now()))) return null
  await order.setSubStatus(tx, orderId, clock.now())
  events.emit('feasibility.answered', id, { ...study.summary(answered), option_count: options.length })
  return answered
}

/** The vendor cannot do it: the group is given up. */
export async function declareInfeasible(change: Change, { id, orderId, groupId }: Study, reason: string): Promise<void> {
  await order.lock(change.tx, orderId)
  if (await study.answer(change.tx, id, null, change.clock.now())) await closeGroup(change, { id: groupId, orderId }, reason)
}

/** A quotation has its price now; null: it was issued before. */
export async function issueQuotation(change: Change, { id, orderId, groupId }: Quotation, credits: number): Promise<Quotation | null> {
  const { tx, clock } = change
  await order.lock(tx, orderId)
  const issued = await quotation.issue(tx, id, credits, clock.now())
  if (!issued || !(await group.agree(tx, groupId, 'quote', { credits }, clock.now()))) return null
  await order.setSubStatus(tx, orderId, clock.now())
  return issued
}

/** The vendor will not quote: the group is given up. */
export async function refuseQuotation(change: Change, { id, orderId, groupId }: Quotation, reason: string): Promise<void> {
  await order.lock(change.tx, orderId)
  if (await quotation.issue(change.tx, id, null, change.clock.now())) await closeGroup(change, { id: groupId, orderId }, reason)
}
