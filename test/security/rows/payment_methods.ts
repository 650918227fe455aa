import { card, other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_CARD, CHANGES_MONEY, READS_OWN } from '../statuses.ts'

const A_CARD = { ...CHANGES_A_CARD, input: card, missing: other('payment_method_row_id') }

export const rows: Rows = {
  'payment_methods.attach': { ...CHANGES_MONEY, input: () => ({ payment_method_id: 'pm_card_visa' }), breaks: 'column wallet.customer_id' },
  'payment_methods.create_setup_intent': { ...CHANGES_MONEY, input: () => ({}), breaks: 'column wallet.customer_id' },
  'payment_methods.detach': { ...A_CARD, breaks: 'table payment_method' },
  'payment_methods.list': { ...READS_OWN, input: () => ({}), breaks: 'table payment_method' },
  'payment_methods.set_default': { ...A_CARD, breaks: 'table payment_method' },
}
