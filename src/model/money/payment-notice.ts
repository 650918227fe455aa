/**
 * Webhook notices from the payment processor. The path of a notice, file by file:
 *
 * 1. `background/payment-notice.ts` verifies its signature, and responds so that the processor retries when necessary.
 * 2. `receive`, here, finds the attempt, reads the payment's current state from the processor, and applies it once.
 * 3. A charge goes to `settle` in `topup.ts`, which adds credits through `ledger.ts`; a lost hold goes to `card-hold.ts`.
 */
import { sql } from 'kysely'
import { DAY_MS } from '#core/time.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Notice } from '#ports/payments.ts'
import * as cardHolds from './card-hold.ts'
import * as attempts from './payment-attempt.ts'
import { requirePayments, type PaymentContext } from './processor.ts'
import * as topups from './topup.ts'

/**
 * A notice only identifies an intent, whose current state is read from the processor. Notices can therefore arrive twice, late, out of
 * order or before our own commit, with the same result.
 */
export async function receive(context: PaymentContext, notice: Notice): Promise<void> {
  const payments = requirePayments(context)
  const attempt = notice.paymentIntentId ? await attempts.findByIntent(context.db, notice.paymentIntentId) : null
  if (!attempt) return // Not one of our payments.
  const intent = await payments.getIntent(notice.paymentIntentId!)
  await context.commit(attempt.organizationId, 'billing.payment_notice', async (change) => {
    if (!(await isNew(change.tx, notice, change.clock.now()))) return
    if (attempt.kind !== 'hold') await topups.settle(change, attempt.id, intent)
    else if (intent.status === 'canceled' && attempt.reservationId) await cardHolds.endLost(change, attempt)
  })
}

async function isNew(tx: Tx, { id, type, paymentIntentId }: Notice, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('processor_event')
    .values({ id, type, payment_intent_id: paymentIntentId, received_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows !== 0n
}

const KEPT_DAYS = 30

/** The processor retries a notice for a few days at most. */
export async function forgetOld(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS)
  await deleteInBatches(db, { table: 'processor_event', key: ['id'], where: sql<boolean>`received_at < ${before}` })
}
