/** How often each value occurs in the first zone; the table has the numbers of the others. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { valuesInput, type Style } from '../../state/style.ts'
import { Bars } from '../../ui/bars.tsx'
import { value } from '../../ui/format.ts'
import { BINS, distributionOf } from './distribution.ts'
import type { Zone } from './zones.ts'

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
  return (
    <Bars
      label={`Histogram of ${band!.name} in ${zone.name}, from ${value(low)} to ${value(high)}`}
      {...{ low, high, counts }}
      colour={zone.colour}
      caption={zones.length > 1 && zone.name}
    />
  )
}
