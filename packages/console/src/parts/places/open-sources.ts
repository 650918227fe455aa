/** Open hosts that can show a real scene of any place. */
import type { CatalogSource } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'

/** Collections of Sentinel-2 that can be rendered before they are saved. */
export const sentinelCollections = ({ collections }: Pick<CatalogSource, 'collections'>): readonly string[] =>
  collections.filter(({ id, render_strategy }) => render_strategy === 'cog' && id.startsWith('sentinel-2')).map(({ id }) => id)

/** Simulated imagery does not count, nor does a host that did not respond to its last probe. */
export const canShowRealImagery = (source: CatalogSource): boolean =>
  source.access_model === 'open' && !source.simulated && source.status === 'reachable' && sentinelCollections(source).length > 0

/** Whether the service can show real imagery now; false until that is known. */
export function useRealImagery(): boolean {
  const sources = useOp('catalog.sources.list', {}, { staleTime: 60_000, refetchInterval: 60_000 })
  return sources.data?.sources.some(canShowRealImagery) ?? false
}
