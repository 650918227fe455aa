import Type from 'typebox'
import type { Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import { userScopes } from '#core/scopes.ts'
import { Closed, FreeForm, Nullable } from '#core/shapes.ts'
import * as approval from '#model/money/approval.ts'
import type { Approval } from '#model/money/approval.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import * as organization from '#model/identity/organization.ts'
import { operation, type Context, type PreparedRun } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** Approves a request. A described order runs now, as the requester; otherwise the requester's next order up to the sum passes the caps. */
export default operation({
  id: 'billing.approvals.approve',
  scope: 'billing:write',
  tier: 'external_spend',
  idempotent: true,
  produces: ['order:ordered>project'],
  events: ['order.created', 'order.placed', 'feasibility.requested', 'credits.low_balance', 'credits.depleted'],
  input: Closed({ approval_id: Type.String({ maxLength: 100 }) }),
  output: Closed({ ...ApprovalRecord.properties, result: Nullable(FreeForm) }),
  example: {
    input: { approval_id: EXAMPLE_APPROVAL.id },
    output: {
      ...EXAMPLE_APPROVAL,
      status: 'approved',
      decided_at: EXAMPLE_APPROVAL.created_at,
      decided_by: EXAMPLE_IDS.user,
      result: null,
    },
  },
}).handle({
  async permit({ db, principal }, { approval_id }) {
    const found = await approval.find(db, await requireBillingAdmin(db, principal), approval_id)
    if (!found) throw notFound('approval')
    if (found.requestedBy === principal.userId) throw problem('forbidden', 'Nobody approves their own request')
    return found
  },
  async check({ clock }, _input, found) {
    if (approval.statusOf(found, clock.now()) !== 'pending')
      throw problem('bad-request', 'The request was decided before, or its time is over')
    return found
  },
  async prepare(context, _input, found) {
    return found.operation ? await purchaseOf(context, found, found.operation) : null
  },
  async execute(context, _input, found, purchase) {
    const { tx, clock, lineage, principal } = context
    const now = clock.now()
    const decided = await approval.decide(tx, found.id, { status: 'approved', by: principal.userId, reason: null }, now)
    if (!decided) throw problem('bad-request', 'The request was decided before, or its time is over')
    if (!purchase) {
      lineage.nothingProduced()
      return { ...toRecord(decided, now), result: null }
    }
    const result = (await purchase.execute(context)) as Record<string, unknown>
    await approval.close(tx, found.id, now)
    return { ...toRecord({ ...decided, status: 'used', usedAt: now }, now), result }
  },
})

/** The described order, run by whoever asked for it and with their caps waived. */
async function purchaseOf(context: Context, found: Approval, operationId: string): Promise<PreparedRun> {
  const member = await organization.findMember(context.db, found.organizationId, found.requestedBy)
  const requester = member && asRequester(member, found)
  const purchase = requester && (await context.runAs(requester, operationId, found.input))
  if (!purchase) throw problem('bad-request', 'What was asked for can no longer be run')
  return purchase
}

const asRequester = ({ userId, role }: { userId: string; role: Principal['organizationRole'] }, found: Approval): Principal => ({
  kind: 'user',
  id: userId,
  userId,
  organizationId: found.organizationId,
  organizationRole: role,
  apiKeyId: null,
  jobId: null,
  scopes: userScopes({ isSystemAdmin: false, isClipUser: false }),
  approvalId: found.id,
})
