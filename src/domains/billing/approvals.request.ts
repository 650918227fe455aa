import Type from 'typebox'
import { HOUR_MS } from '#core/time.ts'
import { MAX_CREDITS } from '#core/money.ts'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, FreeForm, Nullable } from '#core/shapes.ts'
import * as notification from '#model/events/notification.ts'
import * as approval from '#model/money/approval.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'

const STANDARD_HOURS = 7 * 24
const MAX_HOURS = 30 * 24

/**
 * Asks for permission to spend above one's caps: any one order up to `credits`, or one order that `operation` and `input`
 * describe and that runs when it is approved.
 */
export default operation({
  id: 'billing.approvals.request',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({
    credits: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: MAX_CREDITS }))),
    expiry_hours: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: MAX_HOURS }))),
    operation: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
    input: Type.Optional(Nullable(FreeForm)),
    reason: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  }),
  output: ApprovalRecord,
  example: { input: { credits: 80_000, reason: 'Flood response' }, output: EXAMPLE_APPROVAL },
}).handle({
  async check({ principal, contractOf }, { credits, operation: wanted, input }) {
    const organizationId = requireOrganization(principal)
    if (!principal.userId) throw problem('forbidden', "Caps are a person's, and the caller is none")
    if (wanted && input) {
      const target = wanted.startsWith('orders.') ? contractOf(wanted) : null
      if (target?.tier !== 'external_spend') throw invalidField('operation', 'must be an operation that places or decides an order')
      target.validate(input)
    } else if (wanted || input) throw invalidField(wanted ? 'input' : 'operation', 'operation and input describe an order together')
    else if (!credits) throw invalidField('credits', 'say how many credits are wanted, or describe the order by operation and input')
    return { organizationId, userId: principal.userId }
  },
  async execute({ tx, clock }, { credits, expiry_hours, operation: wanted, input, reason }, { organizationId, userId }) {
    const now = clock.now()
    const expiresAt = new Date(now.getTime() + (expiry_hours ?? STANDARD_HOURS) * HOUR_MS)
    const asked = await approval.insert(
      tx,
      {
        organizationId,
        requestedBy: userId,
        credits: credits ?? null,
        operation: wanted ?? null,
        input: input ?? null,
        reason: reason ?? null,
        expiresAt,
      },
      now,
    )
    await notification.tell(tx, organizationId, 'admins', [newsOf(asked)], now)
    return toRecord(asked, now)
  },
})

function newsOf({ id, credits, operation: wanted, reason }: approval.Approval): notification.News {
  const what = credits === null ? `${wanted} as it was described` : `one order of up to ${credits} credits`
  return {
    kind: 'approval',
    title: 'An approval is asked for',
    body: `A member asks to spend above their limit: ${what}${reason ? `. They say: ${reason}` : ''}. billing.approvals.get shows ${id}`,
    dedupeKey: `approval:${id}`,
  }
}
