import Type from 'typebox'
import { Choice, Closed, Described, Limit, Nullable, Offset } from '#core/shapes.ts'
import * as ledgers from '#model/money/ledger.ts'
import type { Transfer } from '#model/money/ledger.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { TRANSACTION_TYPES, TransactionRecord } from './wire.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'

const EXAMPLE = {
  id: '0199f2d1-0000-7000-8000-000000000001',
  type: 'topup' as const,
  credits: 50_000,
  balance_after: 50_000,
  available_after: 50_000,
  reference_type: 'topup',
  reference_id: '0199f2d0-ffff-7000-8000-000000000001',
  description: 'Top-up',
  created_at: EXAMPLE_AT,
}

/** The ledger of the wallet, newest first: every reservation, capture, release, refund, purchase and grant. */
export default operation({
  id: 'billing.credits.transactions',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({
    limit: Limit(50, 1000),
    offset: Offset,
    reason: Described(Type.Optional(Nullable(Choice(TRANSACTION_TYPES))), 'Only transactions of this type'),
  }),
  output: Closed({
    transactions: Type.Array(TransactionRecord, { description: 'Credit transactions, newest first' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { limit: 10 }, output: { transactions: [EXAMPLE], total: 1 } },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db }, { limit, offset, reason }, organizationId) {
    const { transfers, total } = await ledgers.list(db, organizationId, { type: reason ?? null, limit, offset })
    return { transactions: transfers.map(toRecord), total }
  },
})

function toRecord(transfer: Transfer) {
  const { id, type, source, credits, availableAfter, reservedAfter, description } = transfer
  return {
    id,
    type,
    credits: source === 'available' || type === 'capture' ? -credits : credits,
    balance_after: availableAfter + reservedAfter,
    available_after: availableAfter,
    reference_type: transfer.referenceType,
    reference_id: transfer.referenceId,
    description,
    created_at: transfer.createdAt.toISOString(),
  }
}
