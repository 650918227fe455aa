import Type from 'typebox'
import { Problem } from '#core/problem.ts'
import { Choice, Closed, Described, Nullable } from '#core/shapes.ts'
import * as approvals from '#model/money/approval.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { APPROVAL_STATUSES, ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'

const MAX_LISTED = 500

/** Requests for approval, newest first: all for owners and admins, their own for other members. */
export default operation({
  id: 'billing.approvals.list',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ status: Described(Type.Optional(Nullable(Choice(APPROVAL_STATUSES))), 'Only approvals with this status') }),
  output: Closed({
    approvals: Type.Array(ApprovalRecord, { description: 'Spend approvals, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { status: 'pending' }, output: { approvals: [EXAMPLE_APPROVAL], count: 1 } },
}).handle({
  async check({ db, principal }) {
    const organizationId = requireOrganization(principal)
    const seesAll = await requireBillingAdmin(db, principal).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Problem) return false
        throw error
      },
    )
    return { organizationId, requestedBy: seesAll ? null : principal.userId }
  },
  async execute({ db, clock }, { status }, { organizationId, requestedBy }) {
    const now = clock.now()
    const records = (await approvals.list(db, organizationId, { requestedBy, limit: MAX_LISTED }))
      .map((approval) => toRecord(approval, now))
      .filter((record) => !status || record.status === status)
    return { approvals: records, count: records.length }
  },
})
