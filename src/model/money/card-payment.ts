/** A payment by card, from the first try to the last: repeated tries with one key are one payment. */
import { PaymentsError, type Intent, type Payments } from '#ports/payments.ts'
import { problem } from '#core/problem.ts'
import { askProcessor, customerOf, requirePayments, type PaymentContext } from './processor.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import * as paymentMethods from './payment-method.ts'

export interface Payment {
  attempt: Attempt
  intent: Intent
}

interface WantedPayment extends Omit<attempts.NewAttempt, 'invocationId'> {
  /** Nobody is there to pass 3-D Secure. */
  offSession: boolean
}

/**
 * Charges or holds the default card. The attempt is stored before anything is asked of the processor, and the intent before
 * it is confirmed, so that every charge that ever happens belongs to an attempt we know.
 */
export async function pay(context: PaymentContext, wanted: WantedPayment): Promise<Payment> {
  const { db, clock } = context
  const payments = requirePayments(context)
  const card = await paymentMethods.findDefault(db, wanted.organizationId)
  if (!card) throw problem('payment-method-required', 'The organization has no default card; save one with payment_methods.attach')
  const customerId = await customerOf(context, payments, wanted.organizationId)
  const attempt = await attempts.open(db, { ...wanted, invocationId: context.invocationId }, clock.now())
  const asked: Asked = { wanted, payments, customerId, cardId: card.processorId, attempt }
  return await askProcessor(async () => {
    const found = attempt.paymentIntentId ? await payments.getIntent(attempt.paymentIntentId) : null
    const open = found && found.status !== 'canceled' ? found : await createIntent(context, asked)
    const isUnconfirmed = open.status === 'requires_payment_method' || open.status === 'requires_confirmation'
    const intent = isUnconfirmed ? await confirmIntent(context, asked, open) : open
    return { attempt: { ...attempt, paymentIntentId: intent.id }, intent }
  })
}

/** What the processor is asked, and for which attempt. */
interface Asked {
  wanted: WantedPayment
  payments: Payments
  customerId: string
  cardId: string
  attempt: Attempt
}

async function createIntent({ db, clock }: PaymentContext, { wanted, payments, customerId, attempt }: Asked): Promise<Intent> {
  const { organizationId, kind, requestKey, cents } = wanted
  const metadata = { organization_id: organizationId, attempt_id: attempt.id, kind, idempotency_key: requestKey }
  const intent = await payments.createIntent(
    { customerId, cents, hold: kind === 'hold', metadata },
    `${attempt.id}:create:${attempt.confirmCount}`,
  )
  if (!(await attempts.bindIntent(db, attempt, intent.id, clock.now())))
    throw problem('payment-processor-outage', 'The payment was given up meanwhile; repeat the request')
  return intent
}

/** Another try may have confirmed it in the same moment; what counts is where the intent stands. */
async function confirmIntent({ db, clock }: PaymentContext, asked: Asked, before: Intent): Promise<Intent> {
  const { wanted, payments, cardId, attempt } = asked
  const nth = await attempts.countConfirm(db, attempt.id, clock.now())
  try {
    return await payments.confirmIntent(before.id, cardId, { offSession: wanted.offSession }, `${attempt.id}:confirm:${nth}`)
  } catch (error) {
    const now = error instanceof PaymentsError && error.code === 'refused' ? await payments.getIntent(before.id) : before
    if (now.status === before.status) throw error
    return now
  }
}

/** Whoever confirms in the same moment wins; then the intent is looked at again next time. */
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
    'The bank wants the card holder to confirm the payment; confirm it with the payment processor, ' +
      'then repeat the request with the same Idempotency-Key',
    { members: { client_secret: clientSecret, requires_action: true } },
  )

export const cardDeclined = ({ failure }: Intent) =>
  problem('card-declined', `The bank refused the payment${failure ? ` (${failure})` : ''}; nothing was charged`, {
    members: { decline_code: failure },
  })
