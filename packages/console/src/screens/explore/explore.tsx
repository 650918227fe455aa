/** Find scenes everywhere and in one's own store. The map is the workspace; the address is the state. */
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { areaOf, decodeArea, encodeArea, MAX_AREA_M2, MAX_VERTICES, type Box } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { isTyping } from '../../ui/keys.ts'
import { useUrl } from '../../state/url.ts'
import { toggleInCart } from '../../state/cart.ts'
import { Inspector } from './inspector.tsx'
import { Results } from './results.tsx'
import { sorted, useCatalog, useMine, type Filters, type Sort } from './scenes.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const ExploreMap = lazy(() => import('./explore-map.tsx'))

function useFilters(url: Readonly<Record<string, string>>): Filters {
  const { aoi, bbox, from = '', to = '', cloud, gsd, sources } = url
  return useMemo(
    () => ({
      area: decodeArea(aoi),
      view: (bbox ? bbox.split(',').map(Number) : [0, 0, 0, 0]) as Box,
      from,
      to,
      cloud: cloud ? Number(cloud) : null,
      gsd: gsd ? Number(gsd) : null,
      sources: sources ? sources.split('.') : null,
    }),
    [aoi, bbox, from, to, cloud, gsd, sources],
  )
}

export function Explore(): ReactElement {
  const [url, setUrl] = useUrl()
  const filters = useFilters(url)
  const vendors = useOp('catalog.vendors.list', {}, { staleTime: 300_000 })
  const isMine = url['scope'] === 'mine'
  const isTooLarge = filters.area !== null && (areaOf(filters.area) > MAX_AREA_M2 || filters.area.coordinates[0]!.length - 1 > MAX_VERTICES)
  const hasPlace = (filters.area !== null && !isTooLarge) || url['bbox'] !== undefined
  const catalog = useCatalog(filters, vendors.data?.vendors ?? [], hasPlace && !isMine && vendors.data !== undefined)
  const mine = useMine(filters, hasPlace && isMine)
  const search = isMine ? mine : catalog
  const sort = (url['sort'] ?? 'newest') as Sort
  const scenes = useMemo(() => sorted(search.scenes, sort), [search.scenes, sort])
  const selected = scenes.find(({ key }) => key === url['sel']) ?? null
  const [hovered, setHovered] = useState<string | null>(null)
  const pick = useCallback((scene: Scene | null) => setUrl({ sel: scene?.key ?? null }), [setUrl])
  const setArea = useCallback(
    (area: GeoJSON.Polygon | null) => setUrl({ aoi: area ? encodeArea(area) : null, sel: null, ...(area ? { bbox: null } : {}) }, true),
    [setUrl],
  )
  // Sources answer one by one: the list follows at once, the map when there is time.
  const onMap = useDeferredValue(scenes)
  const isPainted = usePainted()
  useTitle('Explore')
  useListKeys(scenes, selected, filters.area, pick)
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
        {...{ url, setUrl, filters, search, scenes, selected, hovered, setHovered, pick, setArea, isMine, hasPlace, sort }}
        vendors={vendors.data?.vendors ?? []}
      />
      <Suspense fallback={<div className={mapSlotStyles.slot} aria-busy="true" />}>
        {isPainted ? (
          <ExploreMap {...{ url, setUrl, filters, selected, hovered, setHovered, pick, setArea }} scenes={onMap} />
        ) : (
          <div className={mapSlotStyles.slot} aria-busy="true" />
        )}
      </Suspense>
      {selected && (
        <Inspector
          scene={selected}
          area={filters.area}
          others={scenes.filter((other) => other.key !== selected.key && other.host === selected.host)}
          onPick={pick}
          onClose={() => pick(null)}
        />
      )}
    </div>
  )
}

/** True once the screen was painted: the map library, which takes long to run, begins behind what can be read. */
function usePainted(): boolean {
  const [isPainted, setPainted] = useState(false)
  useEffect(() => {
    let timer = 0
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setPainted(true))
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [])
  return isPainted
}

function useListKeys(
  scenes: readonly Scene[],
  selected: Scene | null,
  area: GeoJSON.Polygon | null,
  pick: (scene: Scene | null) => void,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const index = scenes.findIndex(({ key }) => key === selected?.key)
      if (event.key === 'j' && scenes[index + 1]) pick(scenes[index + 1]!)
      if (event.key === 'k' && scenes[index - 1]) pick(scenes[index - 1]!)
      if (event.key === 'a' && selected && selected.creditsPerKm2 !== null) toggleInCart(selected, area)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [scenes, selected, area, pick])
}
