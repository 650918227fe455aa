/** Vendors' responses for a tasking group: studies and quotations, sent by the vendor or entered by the operator. */
import type { StudyOption } from '#db/tables/orders.ts'
import type { Change } from '#effects.ts'
import { closeGroup } from './settlement.ts'
import * as groups from './order-group.ts'
import * as orders from './order.ts'
import * as quotations from './quotation.ts'
import type { Quotation } from './quotation.ts'
import * as studies from './study.ts'
import type { Study } from './study.ts'

/** Stores the options of a study. Returns null if it was already answered. */
export async function answerStudy(change: Change, { id, orderId, groupId }: Study, options: readonly StudyOption[]): Promise<Study | null> {
  const { tx, clock, events } = change
  await orders.lock(tx, orderId)
  const answered = await studies.answer(tx, id, options, clock.now())
  if (!answered || !(await groups.agree(tx, groupId, 'answer', {}, clock.now()))) return null
  await orders.setSubStatus(tx, orderId, clock.now())
  events.emit('feasibility.answered', id, { ...studies.summary(answered), option_count: options.length })
  return answered
}

/** The vendor cannot fulfil the group, so it is cancelled. */
export async function declareInfeasible(change: Change, { id, orderId, groupId }: Study, reason: string): Promise<void> {
  await orders.lock(change.tx, orderId)
  if (await studies.answer(change.tx, id, null, change.clock.now())) await closeGroup(change, { id: groupId, orderId }, reason)
}

/** Stores the price of a quotation. Returns null if it was already issued. */
export async function issueQuotation(change: Change, { id, orderId, groupId }: Quotation, credits: number): Promise<Quotation | null> {
  const { tx, clock } = change
  await orders.lock(tx, orderId)
  const issued = await quotations.issue(tx, id, credits, clock.now())
  if (!issued || !(await groups.agree(tx, groupId, 'quote', { credits }, clock.now()))) return null
  await orders.setSubStatus(tx, orderId, clock.now())
  return issued
}

/** The vendor does not quote, so the group is cancelled. */
export async function refuseQuotation(change: Change, { id, orderId, groupId }: Quotation, reason: string): Promise<void> {
  await orders.lock(change.tx, orderId)
  if (await quotations.issue(change.tx, id, null, change.clock.now())) await closeGroup(change, { id: groupId, orderId }, reason)
}
