import { problem } from '#core/problem.ts'
import type { BillingMode } from '#db/tables/money.ts'
import type { Payments } from '#ports/payments.ts'

/** Simulated imagery never costs real money, neither by card nor by invoice. */
export function requireNoRealMoney(
  payments: Pick<Payments, 'env'> | null,
  { isSimulated, mode }: { isSimulated: boolean; mode: BillingMode },
): void {
  if (isSimulated && mode !== 'credit' && payments?.env === 'live')
    throw problem('bad-request', 'This imagery is simulated, so a real card cannot be charged for it; pay with credits')
}
