/** What a movement of money needs of the call or the background work that makes it. */
import type { Clock } from '#core/clock.ts'
import type { EventType } from '#core/event-types.ts'
import type { Payments } from '#ports/payments.ts'
import { PaymentsError } from '#ports/payments.ts'
import { problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Balances } from './ledger.ts'

/** One transaction, with the events and the work that commit with it. */
export interface Books {
  readonly tx: Tx
  readonly clock: Clock
  readonly invocationId: string
  readonly events: { emit(type: EventType, entityId: string, data: Record<string, unknown>): void }
  readonly jobs: { enqueueByName(name: string, data: object): Promise<void> }
}

/** Work outside any transaction, where the processor may be asked. */
export interface Outside {
  readonly db: Db
  readonly clock: Clock
  readonly invocationId: string
  /** Null: no cards are taken here. */
  readonly payments: Payments | null
  /** Commits something as the platform itself, whatever becomes of the call around it. */
  aside<T>(organizationId: string, name: string, work: (books: Books) => Promise<T>): Promise<T>
}

export function requirePayments({ payments }: { payments: Payments | null }): Payments {
  if (!payments) throw problem('billing-not-configured', 'No payment processor is configured on this service')
  return payments
}

/** The processor's failures in the words of our problems. */
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

export const AUTO_TOPUP_JOB = 'billing.auto_topup'

/** Tells of a balance that has just become low or empty, once for each crossing, and wakes the automatic top-up. */
export async function watchBalance(
  { events, jobs }: Books,
  organizationId: string,
  { available, reserved, availableBefore, threshold, autoTopup }: Balances,
): Promise<void> {
  if (available >= availableBefore) return
  const wallet = { balance_credits: available + reserved, available_credits: available }
  if (available < threshold && availableBefore >= threshold)
    events.emit('credits.low_balance', organizationId, { ...wallet, threshold_credits: threshold })
  if (available === 0) events.emit('credits.depleted', organizationId, wallet)
  if (autoTopup && available < threshold) await jobs.enqueueByName(AUTO_TOPUP_JOB, { organization_id: organizationId })
}
