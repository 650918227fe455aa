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

export async function asking<T>(work: () => Promise<T>): Promise<T> {
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
