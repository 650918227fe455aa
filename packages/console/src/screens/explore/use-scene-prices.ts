import type { AreaShape } from '../../map/geo.ts'
import { useQueries } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { call } from '../../api/client.ts'
import type { Scene } from '../../state/scene.ts'
import { pricedTogether, pricesIn, pricingInput, type ScenePrice, type ScenePrices } from './prices.ts'

const STALE_MS = 60_000

type Priced = { data: [string, ScenePrice][] | undefined }

/** Prices of the scenes in a list; those that are not known yet are absent. */
export function useScenePrices(scenes: readonly Scene[], area: AreaShape | null): ScenePrices {
  const parts = useMemo(() => pricedTogether(scenes, area), [scenes, area])
  return useQueries({
    queries: parts.map((part) => ({
      queryKey: ['orders.archive.estimate', 'list', area, part.map(({ key }) => key)],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        pricesIn(await call('orders.archive.estimate', pricingInput(part, area), { signal }), part),
      staleTime: STALE_MS,
      retry: false as const,
    })),
    combine: useCallback((results: Priced[]): ScenePrices => new Map(results.flatMap(({ data }) => data ?? [])), []),
  })
}
