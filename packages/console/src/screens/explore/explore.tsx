/** Search scenes of all sources, or the organization's own items. The search is in the address. */
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { decodeAreas, isWithinLimits } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { usePanel, useUrl } from '../../state/url.ts'
import { fitsList, listFiltersFromUrl } from './list-filters.ts'
import { Results } from './results.tsx'
import { SceneInspector } from './scene-inspector.tsx'
import { filtersFromUrl, parseBox, sortFromUrl, sortScenes } from './scenes.ts'
import { useAreaTool } from './use-area.ts'
import { usePainted } from './use-painted.ts'
import { usePreviews } from './use-previews.ts'
import { useRealPlace } from './use-real-place.ts'
import { useSceneKeys } from './use-scene-keys.ts'
import { useScenePrices } from './use-scene-prices.ts'
import { useCatalogScenes, useItemScenes } from './use-scenes.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import { withLoadError } from '../../ui/load-error.tsx'
import mapSlotStyles from '../../map/map-slot.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const ExploreMap = lazy(withLoadError(() => import('./explore-map.tsx')))

const workspaceClass = (hasInspector: boolean) =>
  classes(
    workspaceStyles.workspace,
    workspaceStyles.explore,
    hasInspector && workspaceStyles.withInspector,
    hasInspector && workspaceStyles.inspectorOnPhone,
  )

export function Explore(): ReactElement {
  const [url, setUrl] = useUrl()
  const { aoi, bbox, from, to, cloud, gsd, sources: chosen } = url
  const filters = useMemo(
    () => filtersFromUrl({ bbox, from, to, cloud, gsd, sources: chosen }, decodeAreas(aoi)),
    [aoi, bbox, from, to, cloud, gsd, chosen],
  )
  const vendors = useOp('catalog.vendors.list', {}, { staleTime: 300_000 })
  const sources = useOp('catalog.sources.list', {}, { staleTime: 60_000, refetchInterval: 60_000 })
  const real = useRealPlace(url['place'], sources.data?.sources, setUrl)
  const isMine = url['scope'] === 'mine'
  const isTooLarge = filters.area !== null && !isWithinLimits(filters.area)
  const hasPlace = (filters.area !== null && !isTooLarge) || parseBox(bbox) !== null
  const catalog = useCatalogScenes(filters, {
    vendors: vendors.data?.vendors ?? [],
    sources: sources.data?.sources ?? [],
    enabled: hasPlace && !isMine && vendors.data !== undefined && !sources.isPending,
  })
  const items = useItemScenes(filters, hasPlace && isMine)
  const search = isMine ? items : catalog
  const sort = sortFromUrl(url['sort'])
  const prices = useScenePrices(search.scenes, filters.area)
  const { cover, angle, price, sensors } = url
  const scenes = useMemo(() => {
    const limits = listFiltersFromUrl({ cover, angle, price, sensors })
    const fitting = search.scenes.filter((scene) => fitsList(scene, prices.get(scene.key), limits))
    return sortScenes(fitting, sort, prices)
  }, [search.scenes, sort, prices, cover, angle, price, sensors])
  const selected = scenes.find(({ key }) => key === url['sel']) ?? null
  const source = sources.data?.sources.find(({ host_name }) => selected?.kind === 'catalog' && host_name === selected.host) ?? null
  const [hovered, setHovered] = useState<string | null>(null)
  const { open, close } = usePanel('sel')
  const pick = useCallback((scene: Scene | null) => (scene ? open(scene.key) : close()), [open, close])
  // From scene to scene by keys is one entry of the history, so that the way back is not as long as the list.
  const hasSelection = url['sel'] !== undefined
  const step = useCallback(({ key }: Scene) => (hasSelection ? setUrl({ sel: key }) : open(key)), [open, setUrl, hasSelection])
  const areaTool = useAreaTool(filters.area, setUrl)
  const { setArea } = areaTool
  const { previews, setPreviews, togglePreview } = usePreviews(url['show'], setUrl)
  // Sources respond one by one: the list follows at once, the map when there is time.
  const onMap = useDeferredValue(scenes)
  const isPainted = usePainted()
  useTitle('Explore')
  useSceneKeys({ scenes, selected, prices, area: filters.area, pick: step })
  return (
    <div className={workspaceClass(selected !== null)}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Explore
      </h1>
      <Results
        {...{
          url,
          setUrl,
          filters,
          search,
          scenes,
          prices,
          selected,
          hovered,
          setHovered,
          pick,
          setArea,
          areaTool,
          isMine,
          hasPlace,
          sort,
          real,
          previews,
          setPreviews,
        }}
        hiddenCount={search.scenes.length - scenes.length}
        vendors={vendors.data?.vendors ?? []}
        sources={sources.data?.sources ?? []}
      />
      <Suspense fallback={<div className={mapSlotStyles.slot} aria-busy="true" />}>
        {isPainted ? (
          <ExploreMap
            {...{ url, setUrl, filters, selected, hovered, setHovered, pick, areaTool, previews, setPreviews }}
            scenes={onMap}
            sources={sources.data?.sources ?? []}
          />
        ) : (
          <div className={mapSlotStyles.slot} aria-busy="true" />
        )}
      </Suspense>
      {selected && (
        <SceneInspector
          scene={selected}
          source={source}
          area={filters.area}
          others={scenes.filter((other) => other.key !== selected.key && other.host === selected.host)}
          onPick={pick}
          isPreviewed={previews.includes(selected.key)}
          onPreview={togglePreview}
          onClose={() => pick(null)}
        />
      )}
    </div>
  )
}
