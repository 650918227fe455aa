import Type from 'typebox'
import { Choice, Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { statusOf, type Approval } from '#model/money/approval.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'used', 'expired'] as const

export const ApprovalRecord = Closed(
  {
    id: Described(Uuid, 'Spend approval ID'),
    status: Choice(APPROVAL_STATUSES, { description: 'Approval status' }),
    credits: Nullable(Type.Integer({ description: 'Maximum credits the approval can spend; null if only the described call is approved' })),
    price_credits: Nullable(
      Type.Integer({ description: 'Price of the described call when the approval was requested; null if no call is described' }),
    ),
    operation: Described(Nullable(Type.String()), 'ID of the operation to run when approved; null for a general approval'),
    input: Described(Nullable(FreeForm), 'Input of the operation to run when approved; null for a general approval'),
    reason: Described(Nullable(Type.String()), 'Reason given with the request; null if none'),
    requested_by: Described(Uuid, 'User ID of the requester'),
    decided_by: Described(Nullable(Uuid), 'User ID of the approver; null until decided'),
    decision_reason: Described(Nullable(Type.String()), 'Reason for the decision; null if none was given'),
    created_at: Described(Timestamp, 'Creation time'),
    decided_at: Described(Nullable(Timestamp), 'Time of the decision; null until decided'),
    expires_at: Described(Timestamp, 'Time the approval expires'),
    used_at: Described(Nullable(Timestamp), 'Time the approval was used; null if unused'),
  },
  { $id: 'SpendApproval', description: 'A request for approval to spend' },
)

export function toRecord(approval: Approval, now: Date) {
  const { id, credits, operation, input, reason } = approval
  return {
    id,
    status: statusOf(approval, now),
    credits,
    price_credits: approval.priceCredits,
    operation,
    input,
    reason,
    requested_by: approval.requestedBy,
    decided_by: approval.decidedBy,
    decision_reason: approval.decisionReason,
    created_at: approval.createdAt.toISOString(),
    decided_at: approval.decidedAt?.toISOString() ?? null,
    expires_at: approval.expiresAt.toISOString(),
    used_at: approval.usedAt?.toISOString() ?? null,
  }
}

export const EXAMPLE_APPROVAL = {
  id: '0199f2d2-0000-7000-8000-000000000001',
  status: 'pending' as const,
  credits: 80_000,
  price_credits: null,
  operation: null,
  input: null,
  reason: 'Flood response',
  requested_by: EXAMPLE_IDS.otherUser,
  decided_by: null,
  decision_reason: null,
  created_at: EXAMPLE_AT,
  decided_at: null,
  expires_at: '2026-03-08T09:30:00.000Z',
  used_at: null,
}
