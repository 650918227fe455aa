import Type from 'typebox'
import { requireSignedIn, type Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import { userScopes } from '#core/scopes.ts'
import { Closed, Described, FreeForm, Nullable } from '#core/shapes.ts'
import * as approvals from '#model/money/approval.ts'
import type { Approval } from '#model/money/approval.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation, type Context, type PreparedRun } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/**
 * Approves a request; only a signed-in user can. A described order runs now, as the requester, and 409 if it costs more than the
 * request allows; otherwise the requester's next order up to the amount passes their limits.
 */
export default operation({
  id: 'billing.approvals.approve',
  scope: 'billing:write',
  tier: 'external_spend',
  idempotent: true,
  produces: ['order:ordered>project'],
  events: ['order.created', 'order.placed', 'feasibility.requested', 'credits.low_balance', 'credits.depleted'],
  input: Closed({ approval_id: Type.String({ maxLength: 100, description: 'Spend approval ID' }) }),
  output: Closed(
    {
      ...ApprovalRecord.properties,
      result: Described(Nullable(FreeForm), 'Response of the approved operation; null if none was named'),
    },
    { description: 'The approved request, with the response of the approved operation' },
  ),
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
    requireSignedIn(principal, 'approve a purchase')
    const approval = await approvals.find(db, await requireBillingAdmin(db, principal), approval_id)
    if (!approval) throw notFound('approval')
    if (approval.requestedBy === principal.userId)
      throw problem('forbidden', 'You cannot approve your own request; another owner, admin or billing admin must')
    return approval
  },
  async check({ clock }, _input, approval) {
    if (approvals.statusOf(approval, clock.now()) !== 'pending') throw problem('bad-request', 'This request is already decided or expired')
    return approval
  },
  async prepare(context, _input, approval) {
    return approval.operation ? await purchaseOf(context, approval, approval.operation) : null
  },
  async execute(context, _input, approval, purchase) {
    const { tx, clock, lineage, principal } = context
    const now = clock.now()
    const decided = await approvals.decide(tx, approval.id, { status: 'approved', by: principal.userId, reason: null }, now)
    if (!decided) throw problem('bad-request', 'This request is already decided or expired')
    if (!purchase) {
      lineage.nothingProduced()
      return { ...toRecord(decided, now), result: null }
    }
    const result = (await purchase.execute(context)) as Record<string, unknown>
    await approvals.close(tx, approval.id, now)
    return { ...toRecord({ ...decided, status: 'used', usedAt: now }, now), result }
  },
})

/** The described order, run as the requester with their limits waived up to the ceiling of the approval. */
async function purchaseOf(context: Context, approval: Approval, operationId: string): Promise<PreparedRun> {
  const ceilingCredits = approvals.ceilingOf(approval)
  if (ceilingCredits === null) throw problem('bad-request', 'This request shows no price; reject it and request approval again')
  const member = await organizations.findMember(context.db, approval.organizationId, approval.requestedBy)
  const requester = member && asRequester(member, approval, ceilingCredits)
  const purchase = requester && (await context.runAs(requester, operationId, approval.input))
  if (!purchase)
    throw problem(
      'bad-request',
      'The described call can no longer run: its requester left the organization, or the operation is not available to them',
    )
  return purchase
}

const asRequester = (
  { userId, role }: { userId: string; role: Principal['organizationRole'] },
  approval: Approval,
  ceilingCredits: number,
): Principal => ({
  kind: 'user',
  id: userId,
  userId,
  organizationId: approval.organizationId,
  organizationRole: role,
  apiKeyId: null,
  jobId: null,
  scopes: userScopes({ isSystemAdmin: false, isClipUser: false }),
  approval: { id: approval.id, ceilingCredits },
})
