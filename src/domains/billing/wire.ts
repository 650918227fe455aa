import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { MAX_CHARGE_CENTS, MIN_TOPUP_CENTS } from '#core/money.ts'
import { PeriodName } from '#core/period.ts'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'

export const Credits = Type.Integer({ minimum: 0 })
/** Dollars, with at most two decimals. */
export const Aud = Type.Number()
/** A month of UTC. */
export const OptionalPeriod = Type.Optional(Nullable(PeriodName))
export const TopupAmount = CreditsInput(MIN_TOPUP_CENTS, { maximum: MAX_CHARGE_CENTS })
export const Currency = Type.Literal('AUD')

export const TRANSACTION_TYPES = ['grant', 'topup', 'bonus', 'reservation', 'capture', 'release', 'refund', 'adjustment'] as const

export const TransactionRecord = Closed(
  {
    id: Uuid,
    type: Choice(TRANSACTION_TYPES),
    /** Negative where credits leave what is available or the wallet itself. */
    credits: Type.Integer(),
    /** Available and reserved together, after it. */
    balance_after: Credits,
    available_after: Credits,
    reference_type: Nullable(Type.String()),
    reference_id: Nullable(Type.String()),
    description: Nullable(Type.String()),
    created_at: Timestamp,
  },
  { $id: 'CreditTransaction' },
)

export const AutoTopupRecord = Closed(
  {
    enabled: Type.Boolean(),
    threshold_credits: Nullable(Type.Integer()),
    topup_amount_credits: Nullable(Type.Integer()),
    daily_charge_cap_aud: Nullable(Aud),
  },
  { $id: 'AutoTopup' },
)
