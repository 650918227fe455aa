import Type from 'typebox'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import type { SavedCard } from '#model/money/payment-method.ts'

export const CardRecord = Closed(
  {
    id: Described(Uuid, 'ID of the saved card'),
    brand: Type.String({ description: 'Card brand, such as `visa`' }),
    last4: Type.String({ description: 'Last four digits of the card number' }),
    exp_month: Type.Integer({ description: 'Expiry month' }),
    exp_year: Type.Integer({ description: 'Expiry year' }),
    is_default: Type.Boolean({ description: 'Whether this is the default card' }),
    isDefault: Type.Boolean({ description: 'Whether this is the default card; same as `is_default`' }),
  },
  { $id: 'PaymentMethod', description: 'A saved card' },
)

/** The contract has both spellings, `is_default` and `isDefault`. */
export function toRecord({ id, brand, last4, expMonth, expYear, isDefault }: SavedCard) {
  return { id, brand, last4, exp_month: expMonth, exp_year: expYear, is_default: isDefault, isDefault }
}

export function toEvent({ id, brand, last4, isDefault }: SavedCard) {
  return { id, brand, last4, is_default: isDefault }
}

export const EXAMPLE_CARD = {
  id: '0199f2d0-3c00-7a10-9b00-5a6b7c8d9e0f',
  brand: 'visa',
  last4: '4242',
  exp_month: 12,
  exp_year: 2030,
  is_default: true,
  isDefault: true,
}
