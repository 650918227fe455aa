/** Settles what was decided but not done, and releases what nobody settled in its time. */
import type { PaymentContext } from './processor.ts'
import { settleCard, tolerant } from './payment-sweep.ts'
import * as reservations from './reservation.ts'
import * as spending from './spending.ts'

export interface SettlementRun {
  seen: number
  settled: number
  released: number
}

export async function settleUnsettled(
  context: PaymentContext,
  { organizationId, limit }: { organizationId: string | null; limit: number },
): Promise<SettlementRun> {
  const found = await reservations.unsettled(context.db, { organizationId, now: context.clock.now(), limit })
  const run: SettlementRun = { seen: found.length, settled: 0, released: 0 }
  for (const one of found) {
    if (one.state !== 'live') {
      if (context.payments && (await tolerant(() => settleCard(context, one)))) run.settled++
      continue
    }
    const released = await context.commit(one.org_id, 'billing.settle_unsettled', (change) =>
      spending.release(change, one.org_id, { type: one.reference_type, id: one.reference_id }),
    )
    if (released) run.released++
  }
  return run
}
