/** The price of scenes over their areas, as the service computes it: what is shown is what is reserved. */
import { useOp } from '../api/query.ts'
import { captureOf, type ChosenScene } from './cart.ts'

const KEPT_MS = 60_000

export const useEstimate = (scenes: readonly ChosenScene[], { splitByDate = false, keep = false } = {}) =>
  useOp(
    'orders.archive.estimate',
    { captures: scenes.map(captureOf), splitByDate },
    { enabled: scenes.length > 0, keep, staleTime: KEPT_MS },
  )
