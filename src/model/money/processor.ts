/** The card processor as money sees it: asked outside any transaction, its failures in the words of our problems. */
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import type { Commit } from '#effects.ts'
import { PaymentsError, type Payments } from '#ports/payments.ts'

/** What work with payments needs of the call or the task that does it. */
export interface PaymentContext {
  readonly db: Db
  readonly clock: Clock
  readonly invocationId: string
  /** Null: no cards are taken here. */
  readonly payments: Payments | null
  readonly commit: Commit
}

export function requirePayments({ payments }: { payments: Payments | null }): Payments {
  if (!payments) throw problem('billing-not-configured', 'No payment processor is configured on this service')
  return payments
}

/** Asks the processor for a caller, who is told of a failure as a problem. */
export async function askProcessor<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    if (error.code === 'unavailable')
      throw problem(
        'payment-processor-outage',
        'The payment processor gave no usable answer; repeat the request with the same Idempotency-Key',
      )
    if (error.code === 'not-found') throw problem('not-found', 'No such payment method')
    throw problem('card-declined', 'The payment processor refused the card for this payment')
  }
}

/** The customer that stands for the organization at the processor's, made when it is first needed. */
export async function customerOf({ db }: PaymentContext, payments: Payments, organizationId: string): Promise<string> {
  const found = await db
    .selectFrom('organization')
    .leftJoin('wallet', 'wallet.org_id', 'organization.id')
    .select(['name', 'billing_email as email', 'customer_id as customerId'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (found.customerId) return found.customerId
  const made = await askProcessor(() =>
    payments.createCustomer({ organizationId, name: found.name, email: found.email }, `customer:${organizationId}`),
  )
  return await keepCustomer(db, organizationId, made)
}

/** Whoever is first decides: the others get the customer that is kept. */
async function keepCustomer(db: Db, organizationId: string, made: string): Promise<string> {
  await db
    .insertInto('wallet')
    .values({ org_id: organizationId, customer_id: made })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet({ customer_id: made }).where('wallet.customer_id', 'is', null))
    .execute()
  const { customerId } = await db
    .selectFrom('wallet')
    .select('customer_id as customerId')
    .where('org_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return customerId!
}
