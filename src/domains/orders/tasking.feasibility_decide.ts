import Type from 'typebox'
import { notFound, problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as taskingDecisions from '#model/orders/tasking-decisions.ts'
import * as orders from '#model/orders/order.ts'
import * as groups from '#model/orders/order-group.ts'
import * as quotations from '#model/orders/quotation.ts'
import * as studies from '#model/orders/study.ts'
import { requestFromVendorTask } from '#model/orders/tasks.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_STUDY, StudyId, StudyRecord, toStudy } from './decisions.wire.ts'
import { requireBelow } from './placing.lib.ts'
import { MaxCredits } from './wire.ts'

/** Accepts an option of a study and reserves its price. To decline a study, cancel its order. */
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
    const study = await studies.find(db, study_id)
    if (!study) throw notFound('feasibility study')
    return { study, order: await orders.requireBuyer(db, principal, study.orderId, 'feasibility study') }
  },
  async check({ clock }, { acceptedOptionId }, { study, order }) {
    if (study.decision !== 'NOT_DECIDED') throw problem('bad-request', 'This study is already decided')
    if (study.state === 'waiting') throw problem('bad-request', 'The vendor has not completed this study yet')
    const isClosed = study.state !== 'answered' || study.expiresAt <= clock.now() || order.status !== 'pending'
    if (isClosed) throw problem('bad-request', 'This study has expired, or its order has ended')
    const option = study.options.find(({ id }) => id === acceptedOptionId)
    if (!option) throw notFound('study option')
    return { study, order, option }
  },
  async prepare(context, { maxCredits }, { study, order, option }) {
    requireBelow(maxCredits ?? null, option.credits)
    const caller = { principal: context.principal, operation: 'orders.tasking.feasibility_decide', idempotencyKey: context.idempotencyKey }
    return await taskingDecisions.authorize(context, caller, { order, groupId: study.groupId, credits: option.credits })
  },
  async execute(context, _input, { study, option }, funding) {
    const { tx, clock, tasks, attributeTo } = context
    const now = clock.now()
    attributeTo(study.organizationId)
    const locked = await taskingDecisions.lockUndecided(context, study.orderId)
    const decided = await studies.accept(tx, study.id, option.id, now)
    if (!decided) throw problem('bad-request', 'This study was already decided or has expired')
    const group = locked.groups.find(({ id }) => id === study.groupId)!
    const isQuoted = group.steps.includes('quotation')
    const terms = { credits: option.credits, reservedCredits: option.credits, vendorOptionId: option.id }
    await groups.agree(tx, group.id, isQuoted ? 'askQuotation' : 'accept', terms, now)
    await taskingDecisions.reserveTotal(context, funding, study.orderId)
    if (isQuoted) {
      await quotations.request(context, study.projectId, group)
      await tasks.enqueue(requestFromVendorTask, { group_id: group.id })
    }
    await taskingDecisions.proceed(context, study.orderId)
    return toStudy(decided)
  },
})
