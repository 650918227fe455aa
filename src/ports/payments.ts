/**
 * The card processor. The interface is here because the model decides when to call it; `adapters/payments` implements it.
 */

export interface Payments {
  /** Which environment payments are made in; clients that confirm a payment themselves need it. */
  readonly env: 'sandbox' | 'live' | 'test'
  createCustomer(about: { organizationId: string; name: string; email: string | null }, key: string): Promise<string>
  createSetupIntent(customerId: string, key: string): Promise<{ id: string; clientSecret: string }>
  /** Throws `not-found` if the method does not exist, belongs to another customer, or was never confirmed. */
  attachMethod(customerId: string, methodId: string, key: string): Promise<Card>
  detachMethod(methodId: string): Promise<void>
  setDefaultMethod(customerId: string, methodId: string): Promise<void>
  /** Creates an intent without charging anything. */
  createIntent(intent: NewIntent, key: string): Promise<Intent>
  /** Charges the card or places a hold. If the bank declines, the intent has a `failure`; no error is thrown. */
  confirmIntent(id: string, methodId: string, options: { offSession: boolean }, key: string): Promise<Intent>
  getIntent(id: string): Promise<Intent>
  captureIntent(id: string, cents: number, key: string): Promise<Intent>
  cancelIntent(id: string, key: string): Promise<Intent>
  refund(intentId: string, cents: number, key: string): Promise<void>
  /** Creates an invoice with one line, ready to be paid. */
  createInvoice(invoice: NewProcessorInvoice, key: string): Promise<ProcessorInvoice>
  /** Charges the customer's default card unless the invoice is paid. If the bank declines, it stays open. */
  payInvoice(id: string): Promise<ProcessorInvoice>
  listInvoices(customerId: string, limit: number): Promise<ProcessorInvoice[]>
  /** Verifies and parses a webhook of the processor; throws `invalid-signature` if it comes from anyone else. */
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
  /** Hold the amount until it is captured or cancelled, instead of charging it. */
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
  /** Why the last attempt failed; null if none did. */
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

/** A failure of the processor, with a code that does not depend on which processor it is. */
export class PaymentsError extends Error {
  readonly code: PaymentsErrorCode
  constructor(code: PaymentsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
