/** A payment by card, from the first try to the last: repeated tries with one key are one payment. */
import { PaymentsError, type Intent, type Payments } from '#ports/payments.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import { type PaymentContext, asking, requirePayments } from './processor.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import * as paymentMethod from './payment-method.ts'

export interface Payment {
  attempt: Attempt
  intent: Intent
}

export interface WantedPayment extends Omit<attempts.NewAttempt, 'invocationId'> {
  /** Nobody is there to pass 3-D Secure. */
  offSession: boolean
}

/** The customer that stands for the organization at the processor's, made when it is first needed. */
export async function customerOf(context: PaymentContext, payments: Payments, organizationId: string): Promise<string> {
  const { db } = context
  const found = await db
    .selectFrom('organization')
    .leftJoin('wallet', 'wallet.org_id', 'organization.id')
    .select(['name', 'billing_email', 'customer_id'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (found.customer_id) return found.customer_id
  const made = await asking(() =>
    payments.createCustomer({ organizationId, name: found.name, email: found.billing_email }, `customer:${organizationId}`),
  )
  return await keepCustomer(db, organizationId, made)
}

async function keepCustomer(db: Db, organizationId: string, customerId: string): Promise<string> {
  await db
    .insertInto('wallet')
    .values({ org_id: organizationId, customer_id: customerId })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet({ customer_id: customerId }).where('wallet.customer_id', 'is', null))
    .execute()
  return (await db.selectFrom('wallet').select('customer_id').where('org_id', '=', organizationId).executeTakeFirstOrThrow()).customer_id!
}

/**
 * Charges or holds the default card. The attempt is stored before anything is asked of the processor, and the intent before
 * it is confirmed, so that every charge that ever happens belongs to an attempt we know.
 */
export async function pay(context: PaymentContext, wanted: WantedPayment): Promise<Payment> {
  const { db, clock } = context
  const payments = requirePayments(context)
  const card = await paymentMethod.findDefault(db, wanted.organizationId)
  if (!card) throw problem('payment-method-required', 'The organization has no default card; save one with payment_methods.attach')
  const customerId = await customerOf(context, payments, wanted.organizationId)
  const attempt = await attempts.open(db, { ...wanted, invocationId: context.invocationId }, clock.now())
  return await asking(async () => {
    let intent = attempt.payment_intent_id ? await payments.getIntent(attempt.payment_intent_id) : null
    if (!intent || intent.status === 'canceled') {
      const metadata = {
        organization_id: wanted.organizationId,
        attempt_id: attempt.id,
        kind: wanted.kind,
        idempotency_key: wanted.requestKey,
      }
      intent = await payments.createIntent(
        { customerId, cents: wanted.cents, hold: wanted.kind === 'hold', metadata },
        `${attempt.id}:create:${attempt.confirm_count}`,
      )
      if (!(await attempts.bindIntent(db, attempt, intent.id, clock.now())))
        throw problem('payment-processor-outage', 'The payment was given up meanwhile; repeat the request')
    }
    if (intent.status === 'requires_payment_method' || intent.status === 'requires_confirmation') {
      const nth = await attempts.countConfirm(db, attempt.id, clock.now())
      intent = await confirmed(payments, intent, () =>
        payments.confirmIntent(intent!.id, card.processor_id, { offSession: wanted.offSession }, `${attempt.id}:confirm:${nth}`),
      )
    }
    return { attempt: { ...attempt, payment_intent_id: intent.id }, intent }
  })
}

/** Another try may have confirmed it in the same moment; what counts is where the intent stands. */
async function confirmed(payments: Payments, before: Intent, confirm: () => Promise<Intent>): Promise<Intent> {
  try {
    return await confirm()
  } catch (error) {
    const now = error instanceof PaymentsError && error.code === 'refused' ? await payments.getIntent(before.id) : before
    if (now.status === before.status) throw error
    return now
  }
}

export const authenticationRequired = ({ clientSecret }: Intent) =>
  problem(
    'authentication-required',
    'The bank wants the card holder to confirm the payment; confirm it with the payment processor, then repeat the request with the same Idempotency-Key',
    { members: { client_secret: clientSecret, requires_action: true } },
  )

export const cardDeclined = ({ failure }: Intent) =>
  problem('card-declined', `The bank refused the payment${failure ? ` (${failure})` : ''}; nothing was charged`, {
    members: { decline_code: failure },
  })
