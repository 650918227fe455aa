/** How often each value occurs in the first zone; the table has the numbers of the others. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { valuesInput, type Style } from '../../state/style.ts'
import { value } from '../../ui/format.ts'
import { BINS, distributionOf } from './distribution.ts'
import type { Zone } from './zones.ts'
import { classes } from '../../ui/classes.ts'
import styles from './histogram.module.css'
import ui from '../../ui/ui.module.css'

const WIDTH = 300
const HEIGHT = 90

interface HistogramParts {
  itemId: string
  assetKey: string | null
  style: Style
  /** The band or expression, among those that the style shows. */
  index: number
  zones: readonly Zone[]
}

export function Histogram({ itemId, assetKey, style, index, zones }: HistogramParts): ReactElement | null {
  const zone = zones[0]
  const query = useOp(
    'items.tile.statistics',
    { item_id: itemId, ...valuesInput(style, assetKey), bins: BINS, geometry: zone?.shape },
    { enabled: zone !== undefined, staleTime: Infinity, keep: true },
  )
  const band = query.data?.results[index]
  const distribution = band ? distributionOf([band]) : null
  if (!distribution || !zone) return null
  const { low, high, counts } = distribution
  const tallest = Math.max(1, ...counts)
  return (
    <figure>
      <svg
        className={styles.histogram}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Histogram of ${band!.name} in ${zone.name}, from ${value(low)} to ${value(high)}`}
      >
        {counts.map((amount, bin) => {
          const height = (amount / tallest) * (HEIGHT - 4)
          const width = WIDTH / BINS
          return <rect key={bin} x={bin * width} y={HEIGHT - height} width={width - 0.6} height={height} fill={`var(${zone.colour})`} />
        })}
      </svg>
      <figcaption className={classes(ui.flexRow, ui.between, ui.faint, ui.tiny, ui.numeric)}>
        <span>{value(low)}</span>
        {zones.length > 1 && <span>{zone.name}</span>}
        <span>{value(high)}</span>
      </figcaption>
    </figure>
  )
}
