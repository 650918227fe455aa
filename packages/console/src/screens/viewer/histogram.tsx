/** How often each value occurs: in the whole item for the stretch, in drawn places beside their numbers. */
import type { ReactElement } from 'react'
import type { ItemRange } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { value } from '../../ui/format.ts'
import type { Look } from '../../state/style.ts'
import type { Zone } from './zones.ts'
import { classes } from '../../ui/classes.ts'
import styles from './viewer.module.css'
import ui from '../../ui/ui.module.css'

const BINS = 64

export interface Distribution {
  low: number
  high: number
  counts: readonly number[]
}

const lookInput = (look: Look) => (look.expression ? { expression: look.expression } : look.bands ? { bands: look.bands.join(',') } : {})

/** Of several bands, all their values together, in bins of one width. */
function together(results: readonly ItemRange[]): Distribution | null {
  const known = results.flatMap(({ min, max, histogram }) => (min === null || max === null || !histogram ? [] : [{ min, max, histogram }]))
  if (known.length === 0) return null
  const low = Math.min(...known.map(({ min }) => min))
  const high = Math.max(...known.map(({ max }) => max))
  const counts = Array.from({ length: BINS }, () => 0)
  const span = high - low || 1
  for (const { histogram } of known)
    histogram.counts.forEach((amount, index) => {
      const middle = (histogram.edges[index]! + histogram.edges[index + 1]!) / 2
      counts[Math.max(0, Math.min(BINS - 1, Math.floor(((middle - low) / span) * BINS)))]! += amount
    })
  return { low, high, counts }
}

/** Of what is shown, over the whole item. */
export function useDistribution(itemId: string, assetKey: string | null, look: Look): Distribution | null {
  const query = useOp(
    'items.tile.statistics',
    { item_id: itemId, ...lookInput(look), ...(assetKey ? { asset_key: assetKey } : {}), bins: BINS },
    { enabled: look.expression !== '', staleTime: Infinity },
  )
  return query.data ? together(query.data.results) : null
}

interface HistogramParts {
  itemId: string
  assetKey: string | null
  look: Look
  index: number
  zones: readonly Zone[]
}

/** Of the first place; others have their numbers in the table. */
export function Histogram({ itemId, assetKey, look, index, zones }: HistogramParts): ReactElement | null {
  const zone = zones[0]
  const query = useOp(
    'items.tile.statistics',
    {
      item_id: itemId,
      ...lookInput(look),
      ...(assetKey ? { asset_key: assetKey } : {}),
      bins: BINS,
      geometry: zone?.shape,
    },
    { enabled: zone !== undefined, staleTime: Infinity, keep: true },
  )
  const band = query.data?.results[index]
  const drawn = band ? together([band]) : null
  if (!drawn || !zone) return null
  const tallest = Math.max(1, ...drawn.counts)
  return (
    <figure>
      <svg
        className={styles.histogram}
        viewBox="0 0 300 90"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Histogram of ${band!.name} in ${zone.name}, from ${value(drawn.low)} to ${value(drawn.high)}`}
      >
        {drawn.counts.map((amount, at) => {
          const height = (amount / tallest) * 86
          return (
            <rect key={at} x={(at / BINS) * 300} y={90 - height} width={300 / BINS - 0.6} height={height} fill={`var(${zone.colour})`} />
          )
        })}
      </svg>
      <figcaption className={classes(ui.flexRow, ui.between, ui.faint, ui.tiny, ui.numeric)}>
        <span>{value(drawn.low)}</span>
        {zones.length > 1 && <span>{zone.name}</span>}
        <span>{value(drawn.high)}</span>
      </figcaption>
    </figure>
  )
}
