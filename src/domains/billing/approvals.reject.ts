import Type from 'typebox'
import { notFound, problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as approvals from '#model/money/approval.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'

/** Rejects a request for approval. Requesters can withdraw their own request with it. */
export default operation({
  id: 'billing.approvals.reject',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({
    approval_id: Type.String({ maxLength: 100, description: 'Spend approval ID' }),
    reason: Described(Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))), 'Reason for the rejection'),
  }),
  output: ApprovalRecord,
  example: {
    input: { approval_id: EXAMPLE_APPROVAL.id, reason: 'Over budget' },
    output: { ...EXAMPLE_APPROVAL, status: 'rejected', decision_reason: 'Over budget', decided_at: EXAMPLE_APPROVAL.created_at },
  },
}).handle({
  async check({ db, principal }, { approval_id }) {
    const approval = await approvals.find(db, requireOrganization(principal), approval_id)
    if (!approval) throw notFound('approval')
    if (approval.requestedBy !== principal.userId) await requireBillingAdmin(db, principal)
    return approval
  },
  async execute({ tx, clock, principal }, { reason }, approval) {
    const by = principal.userId === approval.requestedBy ? null : principal.userId
    const decided = await approvals.decide(tx, approval.id, { status: 'rejected', by, reason: reason ?? null }, clock.now())
    if (!decided) throw problem('bad-request', 'This request is already decided or expired')
    return toRecord(decided, clock.now())
  },
})
