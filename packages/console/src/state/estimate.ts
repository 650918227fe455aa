/** The price of scenes over their areas, computed by the service: the amount shown is the amount reserved. */
import type { Output } from '../api/contract.ts'
import { useOp } from '../api/query.ts'
import { audOfCredits } from '../ui/format.ts'
import { captureOf, type ChosenScene } from './cart.ts'

const STALE_MS = 60_000

export const useEstimate = (scenes: readonly ChosenScene[], { splitByDate = false, keep = false } = {}) =>
  useOp(
    'orders.archive.estimate',
    { captures: scenes.map(captureOf), splitByDate },
    { enabled: scenes.length > 0, keep, staleTime: STALE_MS },
  )

/** The price of what can be ordered; scenes without a price are never counted as free. */
export const totalText = ({ groups, total_credits }: Pick<Output<'orders.archive.estimate'>, 'groups' | 'total_credits'>): string =>
  groups.length === 0 ? 'No price' : audOfCredits(total_credits)

/** The price of the scenes that were chosen, and how many of them have none. */
export function chosenText(estimate: Output<'orders.archive.estimate'>): string {
  const refused = estimate.errors.length
  return refused === 0 ? totalText(estimate) : `${totalText(estimate)}, ${refused} cannot be ordered`
}
