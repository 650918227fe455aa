/** The processor's public test cards that the sandbox supports, by the ids in its documentation. */
interface TestCard {
  brand: string
  last4: string
  /** The response of its bank. */
  behaviour: 'succeeds' | 'declines' | 'authenticates'
  declineCode?: string
}

export const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  pm_card_visa: { brand: 'visa', last4: '4242', behaviour: 'succeeds' },
  pm_card_mastercard: { brand: 'mastercard', last4: '4444', behaviour: 'succeeds' },
  pm_card_amex: { brand: 'amex', last4: '8431', behaviour: 'succeeds' },
  pm_card_visa_chargeDeclined: { brand: 'visa', last4: '0002', behaviour: 'declines', declineCode: 'generic_decline' },
  pm_card_chargeDeclined: { brand: 'visa', last4: '0002', behaviour: 'declines', declineCode: 'generic_decline' },
  pm_card_chargeDeclinedInsufficientFunds: { brand: 'visa', last4: '9995', behaviour: 'declines', declineCode: 'insufficient_funds' },
  pm_card_authenticationRequired: { brand: 'visa', last4: '3184', behaviour: 'authenticates' },
  pm_card_threeDSecure2Required: { brand: 'visa', last4: '3220', behaviour: 'authenticates' },
}
