import { useOp } from '../../api/query.ts'
import { valuesInput, type Style } from '../../state/style.ts'
import { BINS, distributionOf, type Distribution } from './distribution.ts'

/** The values that a style shows, over the whole item. */
export function useDistribution(itemId: string, assetKey: string | null, style: Style): Distribution | null {
  const query = useOp(
    'items.tile.statistics',
    { item_id: itemId, ...valuesInput(style, assetKey), bins: BINS },
    { enabled: style.expression !== '', staleTime: Infinity },
  )
  return query.data ? distributionOf(query.data.results) : null
}
