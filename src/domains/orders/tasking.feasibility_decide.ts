import Type from 'typebox'
import { notFound, problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as deciding from '#model/orders/deciding.ts'
import * as orders from '#model/orders/order.ts'
import * as groups from '#model/orders/order-group.ts'
import * as quotations from '#model/orders/quotation.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask } from '#model/orders/tasks.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_STUDY, StudyId, StudyRecord, toStudy } from './decisions.wire.ts'
import { requireBelow } from './placing.lib.ts'
import { MaxCredits } from './wire.ts'

/** Accepts one option of a study, whose price is then reserved. A study is declined by cancelling its order. */
export default operation({
  id: 'orders.tasking.feasibility_decide',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  events: ['order.placed', 'quotation.requested', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    study_id: StudyId,
    acceptedOptionId: Type.String({ minLength: 1, maxLength: 200, description: 'ID of the option to accept' }),
    maxCredits: MaxCredits,
  }),
  output: StudyRecord,
  example: {
    input: { study_id: EXAMPLE_STUDY.id, acceptedOptionId: 'option-1' },
    output: { ...EXAMPLE_STUDY, decision: 'ACCEPTED', acceptedOptionId: 'option-1', decisionAt: EXAMPLE_STUDY.createdAt },
  },
}).handle({
  async permit({ db, principal }, { study_id }) {
    const found = await studies.find(db, study_id)
    if (!found) throw notFound('feasibility study')
    return { found, current: await orders.requireBuyer(db, principal, found.orderId, 'feasibility study') }
  },
  async check({ clock }, { acceptedOptionId }, { found, current }) {
    if (found.decision !== 'NOT_DECIDED') throw problem('bad-request', 'This study was decided before')
    if (found.state === 'waiting') throw problem('bad-request', 'The vendor has not answered this study yet')
    const isOver = found.state !== 'answered' || found.expiresAt <= clock.now() || current.status !== 'pending'
    if (isOver) throw problem('bad-request', 'This study can no longer be decided on: its time is over, or its order has ended')
    const option = found.options.find(({ id }) => id === acceptedOptionId)
    if (!option) throw notFound('option of this study')
    return { found, current, option }
  },
  async prepare(context, { maxCredits }, { found, current, option }) {
    requireBelow(maxCredits ?? null, option.credits)
    const asked = { principal: context.principal, operation: 'orders.tasking.feasibility_decide', idempotencyKey: context.idempotencyKey }
    return await deciding.authorize(context, asked, { order: current, groupId: found.groupId, credits: option.credits })
  },
  async execute(context, _input, { found, option }, funding) {
    const { tx, clock, tasks, attributeTo } = context
    const now = clock.now()
    attributeTo(found.organizationId)
    const held = await deciding.lockUndecided(context, found.orderId)
    const decided = await studies.accept(tx, found.id, option.id, now)
    if (!decided) throw problem('bad-request', 'This study was already decided or has expired')
    const ofGroup = held.groups.find(({ id }) => id === found.groupId)!
    const isQuoted = ofGroup.steps.includes('quotation')
    const terms = { credits: option.credits, reservedCredits: option.credits, vendorOptionId: option.id }
    await groups.agree(tx, ofGroup.id, isQuoted ? 'askQuotation' : 'accept', terms, now)
    await deciding.reserveTotal(context, funding, found.orderId)
    if (isQuoted) {
      await quotations.request(context, found.projectId, ofGroup)
      await tasks.enqueue(requestFromVendorTask, { group_id: ofGroup.id })
    }
    await deciding.proceed(context, found.orderId)
    return toStudy(decided)
  },
})
