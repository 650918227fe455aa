/** The price of scenes over their areas, computed by the service: the amount shown is the amount reserved. */
import { useOp } from '../api/query.ts'
import { captureOf, type ChosenScene } from './cart.ts'

const STALE_MS = 60_000

export const useEstimate = (scenes: readonly ChosenScene[], { splitByDate = false, keep = false } = {}) =>
  useOp(
    'orders.archive.estimate',
    { captures: scenes.map(captureOf), splitByDate },
    { enabled: scenes.length > 0, keep, staleTime: STALE_MS },
  )
