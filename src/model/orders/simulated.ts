import { problem } from '#core/problem.ts'
import type { BillingMode } from '#db/tables/money.ts'
import type { Payments } from '#ports/payments.ts'

/** Nobody is asked for real money for imagery that is invented: neither now by their card, nor later by an invoice. */
export function requireNoRealMoney(
  payments: Pick<Payments, 'env'> | null,
  { isSimulated, mode }: { isSimulated: boolean; mode: BillingMode },
): void {
  if (isSimulated && mode !== 'credit' && payments?.env === 'live')
    throw problem('bad-request', 'This imagery is simulated, and no real card is charged for it; pay with credits')
}
