import Type from 'typebox'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { statusOf, type Approval } from '#model/money/approval.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'used', 'expired'] as const

export const ApprovalRecord = Closed(
  {
    id: Uuid,
    status: Choice(APPROVAL_STATUSES),
    credits: Nullable(Type.Integer({ description: 'The most that the approval can spend; null if only the described call is approved' })),
    price_credits: Nullable(
      Type.Integer({ description: 'Price of the described call when the approval was requested; null if no call is described' }),
    ),
    operation: Nullable(Type.String()),
    input: Nullable(FreeForm),
    reason: Nullable(Type.String()),
    requested_by: Uuid,
    decided_by: Nullable(Uuid),
    decision_reason: Nullable(Type.String()),
    created_at: Timestamp,
    decided_at: Nullable(Timestamp),
    expires_at: Timestamp,
    used_at: Nullable(Timestamp),
  },
  { $id: 'SpendApproval' },
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
