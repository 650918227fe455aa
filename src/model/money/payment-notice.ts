/**
 * Notices of the card processor. The way of a notice, file by file:
 *
 * 1. `background/payment-notice.ts` believes it by its signature alone, and answers so that it comes again when it must.
 * 2. `receive`, here, finds the attempt it is about, asks the processor where the payment stands now, and works it once.
 * 3. A charge goes to `settle` of `topup.ts`, which gives credits by `ledger.ts`; a hold that was lost to `card-hold.ts`.
 */
import { DAY_MS } from '#core/time.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Notice } from '#ports/payments.ts'
import * as cardHolds from './card-hold.ts'
import * as attempts from './payment-attempt.ts'
import { requirePayments, type PaymentContext } from './processor.ts'
import * as topups from './topup.ts'

/**
 * A notice only says where to look: the intent is read from the processor as it stands now. So notices may come twice, late,
 * in any order, or before our own commit, and the outcome is one.
 */
export async function receive(context: PaymentContext, notice: Notice): Promise<void> {
  const payments = requirePayments(context)
  const attempt = notice.paymentIntentId ? await attempts.findByIntent(context.db, notice.paymentIntentId) : null
  if (!attempt) return // Not of a payment that began here.
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

/** The processor repeats a notice for a few days at most. */
export async function forgetOld(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('processor_event')
    .where('received_at', '<', new Date(now.getTime() - KEPT_DAYS * DAY_MS))
    .execute()
}
