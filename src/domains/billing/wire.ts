import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { MAX_CHARGE_CENTS, MIN_TOPUP_CENTS } from '#core/money.ts'
import { PeriodName } from '#core/period.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'

export const Credits = Type.Integer({ minimum: 0 })
/** Dollars, with at most two decimals. */
export const Aud = Type.Number()
/** A calendar month (UTC). */
export const OptionalPeriod = Type.Optional(Nullable(PeriodName))
export const TopupAmount = CreditsInput(MIN_TOPUP_CENTS, { maximum: MAX_CHARGE_CENTS })
export const Currency = Type.Literal('AUD')

export const TRANSACTION_TYPES = ['grant', 'topup', 'bonus', 'reservation', 'capture', 'release', 'refund', 'adjustment'] as const

export const TransactionRecord = Closed(
  {
    id: Described(Uuid, 'Transaction ID'),
    type: Choice(TRANSACTION_TYPES, { description: 'Transaction type' }),
    /** Negative when credits leave the available balance or the wallet. */
    credits: Type.Integer({ description: 'Credits added (positive) or removed (negative)' }),
    /** Available plus reserved credits. */
    balance_after: Described(Credits, 'Wallet balance after the transaction, including reserved credits'),
    available_after: Described(Credits, 'Available credits after the transaction'),
    reference_type: Described(Nullable(Type.String()), 'Type of the object the transaction is for; null if none'),
    reference_id: Described(Nullable(Type.String()), 'ID of the object the transaction is for; null if none'),
    description: Described(Nullable(Type.String()), 'Transaction text; null if none'),
    created_at: Described(Timestamp, 'Time of the transaction'),
  },
  { $id: 'CreditTransaction', description: 'A credit transaction' },
)

export const AutoTopupRecord = Closed(
  {
    enabled: Type.Boolean({ description: 'Whether automatic top-up is on' }),
    threshold_credits: Described(Nullable(Type.Integer()), 'Balance in credits below which the card is charged; null if not set'),
    topup_amount_credits: Described(Nullable(Type.Integer()), 'Credits bought per top-up; null if not set'),
    daily_charge_cap_aud: Described(Nullable(Aud), 'Maximum charged per day (UTC) in Australian dollars; null if there is no cap'),
  },
  { $id: 'AutoTopup', description: 'Automatic top-up settings' },
)
