/** The payment processor: called outside any transaction, with its failures mapped to problems. */
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import type { Commit } from '#effects.ts'
import { PaymentsError, type Payments } from '#ports/payments.ts'

/** What payment functions need of the call or task. */
export interface PaymentContext {
  readonly db: Db
  readonly clock: Clock
  readonly invocationId: string
  /** Null if card payments are not configured. */
  readonly payments: Payments | null
  readonly commit: Commit
}

export function requirePayments({ payments }: { payments: Payments | null }): Payments {
  if (!payments) throw problem('billing-not-configured', 'No payment processor is configured on this service')
  return payments
}

/** Calls the processor within an operation: its failures become problems. */
export async function callProcessor<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    if (error.code === 'unavailable')
      throw problem(
        'payment-processor-outage',
        'The payment processor returned no usable response; repeat the request with the same Idempotency-Key',
      )
    if (error.code === 'not-found') throw problem('not-found', 'No such payment method')
    throw problem('card-declined', 'The payment processor declined the card for this payment')
  }
}

/** The organization's customer record at the processor, created when first needed. */
export async function customerOf({ db }: PaymentContext, payments: Payments, organizationId: string): Promise<string> {
  const organization = await db
    .selectFrom('organization')
    .leftJoin('wallet', 'wallet.org_id', 'organization.id')
    .select(['name', 'billing_email as email', 'customer_id as customerId'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  if (organization.customerId) return organization.customerId
  const customer = await callProcessor(() =>
    payments.createCustomer({ organizationId, name: organization.name, email: organization.email }, `customer:${organizationId}`),
  )
  return await keepCustomer(db, organizationId, customer)
}

/** The first concurrent call wins; the others get the stored customer. */
async function keepCustomer(db: Db, organizationId: string, newCustomerId: string): Promise<string> {
  await db
    .insertInto('wallet')
    .values({ org_id: organizationId, customer_id: newCustomerId })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet({ customer_id: newCustomerId }).where('wallet.customer_id', 'is', null))
    .execute()
  const { customerId } = await db
    .selectFrom('wallet')
    .select('customer_id as customerId')
    .where('org_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return customerId!
}
