/** Searches for scenes: every source by itself, or the organization's own items. */
import { useQueries } from '@tanstack/react-query'
import { useRef } from 'react'
import { call } from '../../api/client.ts'
import type { CatalogSource, CatalogVendor, Input, ItemFeature } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { boxOf, type AreaShape } from '../../map/geo.ts'
import type { Scene } from '../../state/scene.ts'
import { catalogInputs, intervalOf, sceneFromCatalog, sceneFromItem, type Filters } from './scenes.ts'

const MAX_ITEMS = 200

/** A scene is computed once for an area, however often its list is rendered: coverage takes time. */
const computed = new WeakMap<object, { area: AreaShape | null; scene: Scene }>()

function computeOnce(feature: object, area: AreaShape | null, compute: () => Scene): Scene {
  const known = computed.get(feature)
  if (known?.area === area) return known.scene
  const scene = compute()
  computed.set(feature, { area, scene })
  return scene
}

/** The same array as before while the same scenes are in it, so that effects do not run again. */
function useStable(scenes: readonly Scene[]): readonly Scene[] {
  const last = useRef(scenes)
  if (last.current.length !== scenes.length || last.current.some((scene, index) => scene !== scenes[index])) last.current = scenes
  return last.current
}

interface SourceFailure {
  host: string
  title: string
  message: string
  retry(): void
}

export interface SceneSearch {
  scenes: readonly Scene[]
  failures: readonly SourceFailure[]
  sourceCount: number
  answered: number
  isLoading: boolean
}

export const catalogQuery = (input: Input<'catalog.search'>) => ({
  queryKey: ['catalog.search', input],
  queryFn: ({ signal }: { signal: AbortSignal }) => call('catalog.search', input, { signal }),
  staleTime: 60_000,
  retry: false as const,
})

interface CatalogSearch {
  vendors: readonly CatalogVendor[]
  sources: readonly CatalogSource[]
  enabled: boolean
}

/** All sources at the same time; one that fails takes nothing from the others. */
export function useCatalogScenes(filters: Filters, { vendors, sources: known, enabled }: CatalogSearch): SceneSearch {
  const { area, gsd, sources } = filters
  const chosen = vendors.filter(({ host_name }) => sources === null || sources.includes(host_name))
  const searches = chosen.flatMap((vendor) => catalogInputs(vendor.host_name, filters).map((input) => ({ vendor, input })))
  const results = useQueries({ queries: searches.map(({ input }) => ({ ...catalogQuery(input), enabled })) })
  const found = results.flatMap(({ data }, index) => {
    const { vendor } = searches[index]!
    const source = known.find(({ host_name }) => host_name === vendor.host_name)
    return (data?.features ?? []).map((feature) => computeOnce(feature, area, () => sceneFromCatalog(feature, { vendor, source }, area)))
  })
  // A scene can lie in several of the areas.
  const scenes = searches.length === chosen.length ? found : [...new Map(found.map((scene) => [scene.key, scene])).values()]
  const byHost = chosen.map((vendor) => ({ vendor, parts: results.filter((_, index) => searches[index]!.vendor === vendor) }))
  return {
    scenes: useStable(scenes.filter((scene) => gsd === null || scene.gsd === null || scene.gsd <= gsd)),
    failures: byHost.flatMap(({ vendor: { host_name: host, title }, parts }) => {
      const failed = parts.filter(({ error }) => error)
      const retry = () => failed.forEach(({ refetch }) => void refetch())
      return failed.length > 0 ? [{ host, title, message: failed[0]!.error!.message, retry }] : []
    }),
    sourceCount: chosen.length,
    answered: byHost.filter(({ parts }) => parts.every(({ data }) => data !== undefined)).length,
    isLoading: enabled && results.some(({ isPending }) => isPending),
  }
}

/** Saved areas are items without imagery. */
const isScene = ({ properties, assets }: ItemFeature) =>
  properties['svc:item_type'] !== 'user_vector' || Object.keys(assets ?? {}).length > 0

export function useItemScenes(filters: Filters, enabled: boolean): SceneSearch {
  const { area, view, cloud } = filters
  const datetime = intervalOf(filters)
  const query = useOp(
    'items.search_org',
    {
      bbox: boxOf(area) ?? view,
      ...(datetime ? { datetime } : {}),
      ...(cloud === null ? {} : { query: { 'eo:cloud_cover': { lte: cloud } } }),
      limit: MAX_ITEMS,
    },
    { enabled, keep: true },
  )
  return {
    scenes: useStable(
      (query.data?.features ?? []).filter(isScene).map((feature) => computeOnce(feature, area, () => sceneFromItem(feature, area))),
    ),
    failures: query.error ? [{ host: 'mine', title: 'Your items', message: query.error.message, retry: () => void query.refetch() }] : [],
    sourceCount: 1,
    answered: query.data ? 1 : 0,
    isLoading: enabled && query.isPending,
  }
}
