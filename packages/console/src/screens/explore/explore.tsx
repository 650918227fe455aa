/** Search scenes of all sources, or the organization's own items. The search is in the address. */
import { lazy, Suspense, useCallback, useDeferredValue, useMemo, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { areaOf, decodeArea, encodeArea, MAX_AREA_M2, MAX_VERTICES } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { Results } from './results.tsx'
import { SceneInspector } from './scene-inspector.tsx'
import { filtersFromUrl, parseBox, sortFromUrl, sortScenes } from './scenes.ts'
import { usePainted } from './use-painted.ts'
import { useRealPlace } from './use-real-place.ts'
import { useSceneKeys } from './use-scene-keys.ts'
import { useCatalogScenes, useItemScenes } from './use-scenes.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const ExploreMap = lazy(() => import('./explore-map.tsx'))

export function Explore(): ReactElement {
  const [url, setUrl] = useUrl()
  const { aoi, bbox, from, to, cloud, gsd, sources: chosen } = url
  const filters = useMemo(
    () => filtersFromUrl({ bbox, from, to, cloud, gsd, sources: chosen }, decodeArea(aoi)),
    [aoi, bbox, from, to, cloud, gsd, chosen],
  )
  const vendors = useOp('catalog.vendors.list', {}, { staleTime: 300_000 })
  const sources = useOp('catalog.sources.list', {}, { staleTime: 60_000, refetchInterval: 60_000 })
  const real = useRealPlace(url['place'], sources.data?.sources, setUrl)
  const isMine = url['scope'] === 'mine'
  const isTooLarge = filters.area !== null && (areaOf(filters.area) > MAX_AREA_M2 || filters.area.coordinates[0]!.length - 1 > MAX_VERTICES)
  const hasPlace = (filters.area !== null && !isTooLarge) || parseBox(bbox) !== null
  const catalog = useCatalogScenes(filters, {
    vendors: vendors.data?.vendors ?? [],
    sources: sources.data?.sources ?? [],
    enabled: hasPlace && !isMine && vendors.data !== undefined && !sources.isPending,
  })
  const items = useItemScenes(filters, hasPlace && isMine)
  const search = isMine ? items : catalog
  const sort = sortFromUrl(url['sort'])
  const scenes = useMemo(() => sortScenes(search.scenes, sort), [search.scenes, sort])
  const selected = scenes.find(({ key }) => key === url['sel']) ?? null
  const source = sources.data?.sources.find(({ host_name }) => selected?.kind === 'catalog' && host_name === selected.host) ?? null
  const [hovered, setHovered] = useState<string | null>(null)
  const pick = useCallback((scene: Scene | null) => setUrl({ sel: scene?.key ?? null }), [setUrl])
  const setArea = useCallback(
    (area: GeoJSON.Polygon | null) =>
      setUrl({ aoi: area ? encodeArea(area) : null, sel: null, place: null, ...(area ? { bbox: null } : {}) }, true),
    [setUrl],
  )
  // Sources respond one by one: the list follows at once, the map when there is time.
  const onMap = useDeferredValue(scenes)
  const isPainted = usePainted()
  useTitle('Explore')
  useSceneKeys({ scenes, selected, area: filters.area, pick })
  return (
    <div
      className={
        selected
          ? classes(workspaceStyles.workspace, workspaceStyles.explore, workspaceStyles.withInspector, workspaceStyles.inspectorOnPhone)
          : classes(workspaceStyles.workspace, workspaceStyles.explore)
      }
    >
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Explore
      </h1>
      <Results
        {...{ url, setUrl, filters, search, scenes, selected, hovered, setHovered, pick, setArea, isMine, hasPlace, sort, real }}
        vendors={vendors.data?.vendors ?? []}
        sources={sources.data?.sources ?? []}
      />
      <Suspense fallback={<div className={mapSlotStyles.slot} aria-busy="true" />}>
        {isPainted ? (
          <ExploreMap {...{ url, setUrl, filters, selected, source, hovered, setHovered, pick, setArea }} scenes={onMap} />
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
          onClose={() => pick(null)}
        />
      )}
    </div>
  )
}
