import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as approvals from '#model/money/approval.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'

/** One request for approval: the caller's own, or any for owners and admins. */
export default operation({
  id: 'billing.approvals.get',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ approval_id: Type.String({ maxLength: 100, description: 'Spend approval ID' }) }),
  output: ApprovalRecord,
  example: { input: { approval_id: EXAMPLE_APPROVAL.id }, output: EXAMPLE_APPROVAL },
}).handle({
  async check({ db, principal }, { approval_id }) {
    const approval = await approvals.find(db, requireOrganization(principal), approval_id)
    if (!approval) throw notFound('approval')
    if (approval.requestedBy !== principal.userId) await requireBillingAdmin(db, principal)
    return approval
  },
  execute: async ({ clock }, _input, approval) => toRecord(approval, clock.now()),
})
