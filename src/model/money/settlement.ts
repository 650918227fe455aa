/** Settles what was decided but not done, and releases what nobody settled in its time. */
import type { Outside } from './books.ts'
import { settleCard, tolerant } from './payment-sweep.ts'
import * as reservations from './reservation.ts'
import * as spending from './spending.ts'

export interface SettlementRun {
  seen: number
  settled: number
  released: number
}

export async function settleUnsettled(
  outside: Outside,
  { organizationId, limit }: { organizationId: string | null; limit: number },
): Promise<SettlementRun> {
  const found = await reservations.unsettled(outside.db, { organizationId, now: outside.clock.now(), limit })
  const run: SettlementRun = { seen: found.length, settled: 0, released: 0 }
  for (const one of found) {
    if (one.state !== 'live') {
      if (outside.payments && (await tolerant(() => settleCard(outside, one)))) run.settled++
      continue
    }
    const released = await outside.aside(one.org_id, 'billing.settle_unsettled', (books) =>
      spending.release(books, one.org_id, { type: one.reference_type, id: one.reference_id }),
    )
    if (released) run.released++
  }
  return run
}
