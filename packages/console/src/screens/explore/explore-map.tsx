/** The map of Explore with its tools: loaded beside the list, which does not wait for it. */
import { useEffect, useState, type ReactElement } from 'react'
import { cornersOf, type Box } from '../../map/geo.ts'
import { MapSlot, useCamera } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { pictureOf } from '../../ui/auth-image.tsx'
import { Button } from '../../ui/kit.ts'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { useCart } from '../../state/cart.ts'
import type { Filters } from './scenes.ts'
import { Timeline } from './timeline.tsx'
import type { Scene } from '../../state/scene.ts'
import styles from './explore.module.css'

/** From afar a view is the whole world, which no source can be asked for. */
const MIN_SEARCH_ZOOM = 6

interface ExploreMapParts {
  url: Readonly<Record<string, string>>
  setUrl(patch: Readonly<Record<string, string | null>>): void
  filters: Filters
  scenes: readonly Scene[]
  selected: Scene | null
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  setArea(area: GeoJSON.Polygon | null): void
}

export default function ExploreMap(parts: ExploreMapParts): ReactElement {
  const { url, setUrl, filters, scenes, selected, setArea } = parts
  useCamera(url['map'], (map) => setUrl({ map }))
  useScenesOnMap({ ...parts, area: filters.area })
  return (
    <MapSlot>
      <AreaTools onArea={setArea} />
      <SearchView
        hasArea={filters.area !== null}
        bbox={url['bbox']}
        onSearch={(box) => setUrl({ bbox: box.map((value) => value.toFixed(3)).join(',') })}
      />
      <Timeline
        scenes={scenes}
        from={filters.from}
        to={filters.to}
        selected={selected}
        onChange={(from, to) => setUrl({ from: from || null, to: to || null })}
      />
    </MapSlot>
  )
}

/** Without an area a view is searched when asked: what is read does not change under the reader. */
function SearchView({
  hasArea,
  bbox,
  onSearch,
}: {
  hasArea: boolean
  bbox: string | undefined
  onSearch(box: Box): void
}): ReactElement | null {
  const [view, setView] = useState<{ key: string; zoom: number } | null>(null)
  useEffect(() => {
    const { map } = sharedMap()
    const onEnd = () =>
      setView({
        key: sharedMap()
          .viewBox()
          .map((value) => value.toFixed(3))
          .join(','),
        zoom: map.getZoom(),
      })
    map.on('moveend', onEnd)
    void sharedMap().ready.then(onEnd)
    return () => void map.off('moveend', onEnd)
  }, [])
  if (hasArea || !view || view.key === bbox || view.zoom < MIN_SEARCH_ZOOM) return null
  return (
    <div className={styles.searchView}>
      <Button icon="search" onClick={() => onSearch(sharedMap().viewBox())}>
        Search this view
      </Button>
    </div>
  )
}

interface MapParts {
  scenes: readonly Scene[]
  selected: Scene | null
  hovered: string | null
  area: GeoJSON.Polygon | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
}

function useScenesOnMap({ scenes, selected, hovered, area, setHovered, pick }: MapParts): void {
  const cart = useCart()
  const keys = scenes.map(({ key }) => key).join()
  // oxlint-disable-next-line exhaustive-deps
  useEffect(() => sharedMap().setFootprints(scenes.map(({ key, geometry }) => ({ id: key, geometry }))), [keys])
  useEffect(() => sharedMap().setArea(area), [area])
  useEffect(() => {
    if (area && !new URLSearchParams(location.search).has('map')) sharedMap().fitGeometry(area)
  }, [area])
  useEffect(() => sharedMap().setHovered(hovered), [hovered])
  useEffect(() => sharedMap().setSelected([...(selected ? [selected.key] : []), ...cart.map(({ key }) => key)]), [selected, cart])
  useEffect(() => {
    const corners = selected ? cornersOf(selected.geometry) : null
    const path = selected?.quicklook ?? (selected?.kind === 'catalog' ? selected.thumbnail : null)
    if (!selected || !corners || !path) return sharedMap().setPictures([])
    let stopped = false
    pictureOf(path)
      .then((picture) => {
        if (!stopped) sharedMap().setPictures([{ id: selected.key, url: picture, corners }])
      })
      .catch(() => undefined)
    return () => {
      stopped = true
    }
  }, [selected])
  useEffect(() => {
    const { map } = sharedMap()
    const onMove = ({ point }: { point: { x: number; y: number } }) => setHovered(sharedMap().footprintsAt([point.x, point.y])[0] ?? null)
    const onClick = ({ point }: { point: { x: number; y: number } }) => {
      const under = sharedMap().footprintsAt([point.x, point.y])
      const next = under[(under.indexOf(selected?.key ?? '') + 1) % Math.max(1, under.length)]
      const scene = scenes.find(({ key }) => key === next)
      if (scene) pick(scene)
    }
    map.on('mousemove', onMove)
    map.on('click', onClick)
    return () => {
      map.off('mousemove', onMove)
      map.off('click', onClick)
    }
  }, [scenes, selected, setHovered, pick])
}
