import Type from 'typebox'
import { HOUR_MS } from '#core/time.ts'
import { CreditsInput } from '#core/money-shapes.ts'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, Described, FreeForm, Nullable } from '#core/shapes.ts'
import * as notifications from '#model/events/notification.ts'
import * as users from '#model/identity/user.ts'
import * as approvals from '#model/money/approval.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { ApprovalRecord, EXAMPLE_APPROVAL, toRecord } from './approvals.wire.ts'

const DEFAULT_HOURS = 7 * 24
const MAX_HOURS = 30 * 24

/**
 * Requests approval to spend above the caller's limits: any one order up to `credits`, or one order that `operation` and `input`
 * describe and that runs when it is approved. `credits`, or else the price at the time of the request, is the most that it spends.
 */
export default operation({
  id: 'billing.approvals.request',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({
    credits: Described(Type.Optional(Nullable(CreditsInput(1))), 'Maximum credits the approval can spend'),
    expiry_hours: Described(Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: MAX_HOURS }))), 'Hours until the request expires'),
    operation: Described(
      Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
      'ID of the operation to run when approved',
    ),
    input: Described(Type.Optional(Nullable(FreeForm)), 'Input of the operation to run when approved'),
    reason: Described(Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))), 'Reason for the request, shown to the approver'),
  }),
  output: ApprovalRecord,
  example: { input: { credits: 80_000, reason: 'Flood response' }, output: EXAMPLE_APPROVAL },
}).handle({
  async check({ principal, contractOf }, { credits, operation: operationId, input }) {
    const organizationId = requireOrganization(principal)
    if (!principal.userId) throw problem('forbidden', 'Only a user, or an API key of a user, can request approval')
    if (operationId && input) {
      const target = operationId.startsWith('orders.') ? contractOf(operationId) : null
      if (target?.tier !== 'external_spend') throw invalidField('operation', 'must be an operation that places or decides an order')
      target.validate(input)
    } else if (operationId || input) throw invalidField(operationId ? 'input' : 'operation', 'Send operation and input together')
    else if (!credits) throw invalidField('credits', 'is required unless operation and input describe an order')
    return { organizationId, userId: principal.userId }
  },
  async prepare({ priceOf }, { credits, operation: operationId, input }): Promise<number | null> {
    const price = operationId && input ? await priceOf(operationId, input) : null
    if (price === null && !credits) throw invalidField('credits', `is required: the price of ${operationId} is not known before it runs`)
    return price
  },
  async execute({ tx, clock }, { credits, expiry_hours, operation: operationId, input, reason }, { organizationId, userId }, priceCredits) {
    const now = clock.now()
    const expiresAt = new Date(now.getTime() + (expiry_hours ?? DEFAULT_HOURS) * HOUR_MS)
    const approval = await approvals.insert(
      tx,
      {
        organizationId,
        requestedBy: userId,
        credits: credits ?? null,
        operation: operationId ?? null,
        input: input ?? null,
        reason: reason ?? null,
        priceCredits,
        expiresAt,
      },
      now,
    )
    const { name } = (await users.find(tx, userId))!
    await notifications.notify(tx, organizationId, 'admins', [notificationOf(approval, name)], now)
    return toRecord(approval, now)
  },
})

function notificationOf(
  { id, credits, operation: operationId, priceCredits, reason }: approvals.Approval,
  name: string,
): notifications.NewNotification {
  const price = priceCredits === null ? '' : `, which costs ${formatCredits(priceCredits)}`
  const purchase = operationId === null ? `one order of up to ${formatCredits(credits!)}` : `${operationId}${price}`
  const ceiling = operationId !== null && credits !== null ? ` The request allows up to ${formatCredits(credits)}.` : ''
  return {
    kind: 'approval',
    title: `${name} requests approval for ${formatCredits(approvals.ceilingOf({ credits, priceCredits })!)}`,
    body: `${name} wants to spend above their limit: ${purchase}.${ceiling}${reason ? ` Reason: ${reason}` : ''}`,
    dedupeKey: `approval:${id}`,
  }
}

const formatCredits = (credits: number): string => `${credits.toLocaleString('en-AU')} credit${credits === 1 ? '' : 's'}`
