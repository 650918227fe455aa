/** Emits an event when the balance becomes low or empty, once per crossing, and queues the automatic top-up. */
import type { Change } from '#effects.ts'
import type { Balances } from './ledger.ts'
import { autoTopupTask } from './tasks.ts'

export async function reportLowBalance(
  { events, tasks }: Pick<Change, 'events' | 'tasks'>,
  organizationId: string,
  { available, reserved, availableBefore, threshold, autoTopup }: Balances,
): Promise<void> {
  if (available >= availableBefore) return
  const wallet = { balance_credits: available + reserved, available_credits: available }
  if (available < threshold && availableBefore >= threshold)
    events.emit('credits.low_balance', organizationId, { ...wallet, threshold_credits: threshold })
  if (available === 0) events.emit('credits.depleted', organizationId, wallet)
  if (autoTopup && available < threshold) await tasks.enqueue(autoTopupTask, { organization_id: organizationId })
}
