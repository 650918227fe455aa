import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call } from '../../api/client.ts'
import type { Item } from '../../api/contract.ts'
import { seriesRows, type ZoneSeries } from './time-series-rows.ts'
import type { Zone } from './zones.ts'

const STATISTICS: ('count' | 'mean' | 'std')[] = ['count', 'mean', 'std']

/** The mean of an expression in each zone, for every scene of the item's collection. */
export function useTimeSeries(item: Item, assetKey: string | null, expression: string, zones: readonly Zone[]) {
  const queries = useQueries({
    queries: zones.map(({ shape }) => {
      const params = {
        collection_id: item.collection_id,
        geometry: shape,
        expression,
        ...(assetKey ? { asset_key: assetKey } : {}),
        statistics: STATISTICS,
      }
      return {
        queryKey: ['analytics.execute', 'time_series', params],
        queryFn: ({ signal }: { signal: AbortSignal }) => call('analytics.execute', { operation: 'time_series', params }, { signal }),
        staleTime: Infinity,
      }
    }),
  })
  const series = queries.map(({ data }) => data?.result as ZoneSeries | undefined)
  // oxlint-disable-next-line exhaustive-deps
  const rows = useMemo(() => seriesRows(series), [queries.map(({ dataUpdatedAt }) => dataUpdatedAt).join()])
  return {
    rows,
    skipped: series[0]?.skipped ?? [],
    failed: queries.find(({ isError }) => isError),
    isLoading: queries.some(({ isLoading }) => isLoading),
  }
}
