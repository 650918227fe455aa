import Type from 'typebox'
import type { Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import { satisfies, userScopes } from '#core/scopes.ts'
import { Closed, FreeForm, Nullable } from '#core/shapes.ts'
import * as approval from '#model/money/approval.ts'
import type { Approval } from '#model/money/approval.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import * as organization from '#model/identity/organization.ts'
import { operation, type AnyOperation, type Context } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'

/** The described order, run by whoever asked for it and with their caps waived. */
interface Purchase {
  target: AnyOperation
  principal: Principal
  input: unknown
  facts: unknown
  prepared: unknown
}

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
      decided_by: '0199f2c3-aa10-7d55-b0c9-3f2e1d0c9b8a',
      result: null,
    },
  },
}).handle({
  async check({ db, principal, clock }, { approval_id }) {
    const organizationId = await requireBillingAdmin(db, principal)
    const found = await approval.find(db, organizationId, approval_id)
    if (!found) throw notFound('approval')
    if (found.requested_by === principal.userId) throw problem('forbidden', 'Nobody approves their own request')
    if (approval.statusOf(found, clock.now()) !== 'pending')
      throw problem('bad-request', 'The request was decided before, or its time is over')
    return found
  },
  async prepare(context, _input, found): Promise<Purchase | null> {
    if (!found.operation) return null
    const { target, principal, input } = await purchaseOf(context, found)
    const acting = { ...context, principal }
    const facts = await target.check?.(acting, input)
    return { target, principal, input, facts, prepared: await target.prepare?.(acting, input, facts) }
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
    const result = (await purchase.target.execute(
      { ...context, principal: purchase.principal },
      purchase.input,
      purchase.facts,
      purchase.prepared,
    )) as Record<string, unknown>
    await approval.close(tx, found.id, now)
    return { ...toRecord({ ...decided, status: 'used', used_at: now }, now), result }
  },
})

async function purchaseOf({ db, operationOf }: Context, found: Approval) {
  const target = operationOf(found.operation!)
  const member = await organization.findMember(db, found.org_id, found.requested_by)
  if (!target || !member) throw problem('bad-request', 'What was asked for can no longer be run')
  const scopes = userScopes({ isSystemAdmin: false, isClipUser: false })
  const principal: Principal = {
    kind: 'user',
    id: member.user_id,
    userId: member.user_id,
    organizationId: found.org_id,
    organizationRole: member.role,
    apiKeyId: null,
    jobId: null,
    scopes,
    approvalId: found.id,
  }
  if (!satisfies(scopes, target.operation.scope)) throw problem('bad-request', 'What was asked for can no longer be run')
  return { target: target.operation, principal, input: target.validate(found.input) }
}
