/** How often each value occurs, in bins of one width. */
import type { ItemRange } from '../../api/contract.ts'

export const BINS = 64

export interface Distribution {
  low: number
  high: number
  counts: readonly number[]
}

/** The values of all bands together; null where no band has any. */
export function distributionOf(bands: readonly Pick<ItemRange, 'min' | 'max' | 'histogram'>[]): Distribution | null {
  const known = bands.flatMap(({ min, max, histogram }) => (min === null || max === null || !histogram ? [] : [{ min, max, histogram }]))
  if (known.length === 0) return null
  const low = Math.min(...known.map(({ min }) => min))
  const high = Math.max(...known.map(({ max }) => max))
  const counts = Array.from({ length: BINS }, () => 0)
  const span = high - low || 1
  for (const { histogram } of known)
    histogram.counts.forEach((amount, index) => {
      const centre = (histogram.edges[index]! + histogram.edges[index + 1]!) / 2
      counts[Math.max(0, Math.min(BINS - 1, Math.floor(((centre - low) / span) * BINS)))]! += amount
    })
  return { low, high, counts }
}
