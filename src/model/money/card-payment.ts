/** A card payment from the first attempt to the last: requests with the same idempotency key are one payment. */
import { PaymentsError, type Intent, type Payments } from '#ports/payments.ts'
import { problem } from '#core/problem.ts'
import { callProcessor, customerOf, requirePayments, type PaymentContext } from './processor.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import * as paymentMethods from './payment-method.ts'

export interface Payment {
  attempt: Attempt
  intent: Intent
}

interface PaymentRequest extends Omit<attempts.NewAttempt, 'invocationId'> {
  /** Nobody is present to pass 3-D Secure. */
  offSession: boolean
}

/**
 * Charges or holds the default card. The attempt is stored before the processor is called, and the intent before it is confirmed, so
 * that every charge belongs to a known attempt.
 */
export async function pay(context: PaymentContext, request: PaymentRequest): Promise<Payment> {
  const { db, clock } = context
  const payments = requirePayments(context)
  const card = await paymentMethods.findDefault(db, request.organizationId)
  if (!card) throw problem('payment-method-required', 'The organization has no default card; add one with payment_methods.attach')
  const customerId = await customerOf(context, payments, request.organizationId)
  const attempt = await attempts.open(db, { ...request, invocationId: context.invocationId }, clock.now())
  const call: ProcessorCall = { request, payments, customerId, cardId: card.processorId, attempt }
  return await callProcessor(async () => {
    const existing = attempt.paymentIntentId ? await payments.getIntent(attempt.paymentIntentId) : null
    const open = existing && existing.status !== 'canceled' ? existing : await createIntent(context, call)
    const isUnconfirmed = open.status === 'requires_payment_method' || open.status === 'requires_confirmation'
    const intent = isUnconfirmed ? await confirmIntent(context, call, open) : open
    return { attempt: { ...attempt, paymentIntentId: intent.id }, intent }
  })
}

/** One call to the processor for an attempt. */
interface ProcessorCall {
  request: PaymentRequest
  payments: Payments
  customerId: string
  cardId: string
  attempt: Attempt
}

async function createIntent({ db, clock }: PaymentContext, { request, payments, customerId, attempt }: ProcessorCall): Promise<Intent> {
  const { organizationId, kind, requestKey, cents } = request
  const metadata = { organization_id: organizationId, attempt_id: attempt.id, kind, idempotency_key: requestKey }
  const intent = await payments.createIntent(
    { customerId, cents, hold: kind === 'hold', metadata },
    `${attempt.id}:create:${attempt.confirmCount}`,
  )
  if (!(await attempts.bindIntent(db, attempt, intent.id, clock.now())))
    throw problem('payment-processor-outage', 'The payment was abandoned meanwhile; repeat the request')
  return intent
}

/** Another attempt may have confirmed it concurrently, so the intent's state at the processor counts. */
async function confirmIntent({ db, clock }: PaymentContext, call: ProcessorCall, before: Intent): Promise<Intent> {
  const { request, payments, cardId, attempt } = call
  const nth = await attempts.countConfirm(db, attempt.id, clock.now())
  try {
    return await payments.confirmIntent(before.id, cardId, { offSession: request.offSession }, `${attempt.id}:confirm:${nth}`)
  } catch (error) {
    const now = error instanceof PaymentsError && error.code === 'refused' ? await payments.getIntent(before.id) : before
    if (now.status === before.status) throw error
    return now
  }
}

/** A concurrent confirmation wins; the intent is then checked again next time. */
export async function cancelIntent(payments: Payments, intent: Intent): Promise<Intent> {
  try {
    return await payments.cancelIntent(intent.id, `${intent.id}:cancel`)
  } catch (error) {
    if (error instanceof PaymentsError && error.code === 'refused') return await payments.getIntent(intent.id)
    throw error
  }
}

export const authenticationRequired = ({ clientSecret }: Intent) =>
  problem(
    'authentication-required',
    'The bank requires the cardholder to confirm the payment. Confirm it with the payment processor, ' +
      'then repeat the request with the same Idempotency-Key',
    { members: { client_secret: clientSecret, requires_action: true } },
  )

export const cardDeclined = ({ failure }: Intent) =>
  problem('card-declined', `The bank declined the payment${failure ? ` (${failure})` : ''}; nothing was charged`, {
    members: { decline_code: failure },
  })
