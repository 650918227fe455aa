/**
 * The card processor as the platform sees it. It stands here because the model decides when it is asked; `adapters/payments`
 * speaks to it.
 */

export interface Payments {
  /** Which world the money is of, for clients that confirm on their side. */
  readonly env: 'sandbox' | 'live' | 'test'
  createCustomer(about: { organizationId: string; name: string; email: string | null }, key: string): Promise<string>
  createSetupIntent(customerId: string, key: string): Promise<{ id: string; clientSecret: string }>
  /** Throws `not-found` for a method that does not exist, is another customer's, or was never confirmed. */
  attachMethod(customerId: string, methodId: string, key: string): Promise<Card>
  detachMethod(methodId: string): Promise<void>
  setDefaultMethod(customerId: string, methodId: string): Promise<void>
  /** Makes an intent without charging anything. */
  createIntent(wanted: NewIntent, key: string): Promise<Intent>
  /** Charges or holds. A refusal by the card's bank is an intent with a failure, not an error. */
  confirmIntent(id: string, methodId: string, options: { offSession: boolean }, key: string): Promise<Intent>
  getIntent(id: string): Promise<Intent>
  captureIntent(id: string, cents: number, key: string): Promise<Intent>
  cancelIntent(id: string, key: string): Promise<Intent>
  refund(intentId: string, cents: number, key: string): Promise<void>
  /** Makes an invoice of one line, ready to be paid. */
  createInvoice(wanted: NewProcessorInvoice, key: string): Promise<ProcessorInvoice>
  /** Charges the customer's default card for it, unless it is paid. A refusal leaves it open. */
  payInvoice(id: string): Promise<ProcessorInvoice>
  listInvoices(customerId: string, limit: number): Promise<ProcessorInvoice[]>
  /** What a signed notice is about; throws `invalid-signature` when it does not come from the processor. */
  readNotice(body: Buffer, signature: string): Promise<Notice>
}

export interface Card {
  id: string
  brand: string
  last4: string
  expMonth: number
  expYear: number
}

interface NewIntent {
  customerId: string
  cents: number
  /** Held until it is captured or cancelled. */
  hold: boolean
  metadata: Record<string, string>
}

export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled'

export interface Intent {
  id: string
  status: IntentStatus
  clientSecret: string
  cents: number
  /** Why the last try failed; null when none did. */
  failure: string | null
}

interface NewProcessorInvoice {
  customerId: string
  cents: number
  description: string
  metadata: Record<string, string>
}

export interface ProcessorInvoice {
  id: string
  number: string | null
  status: string
  cents: number
  createdAt: Date
  url: string | null
}

export interface Notice {
  id: string
  type: string
  paymentIntentId: string | null
}

type PaymentsErrorCode = 'unavailable' | 'not-found' | 'refused' | 'invalid-signature'

/** What can go wrong at the processor's, whatever its own words for it. */
export class PaymentsError extends Error {
  readonly code: PaymentsErrorCode
  constructor(code: PaymentsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
