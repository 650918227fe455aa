/** The map of Explore with its tools. It is loaded beside the list, which does not wait for it. */
import { useMemo, type ReactElement } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { useCamera } from '../../map/use-camera.ts'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { useIsPhone } from '../../ui/is-phone.ts'
import { loadLater } from '../../ui/load-later.tsx'
import { PreviewList } from './preview-list.tsx'
import { withoutPreview } from './previews.ts'
import { SceneSwipe } from './scene-swipe.tsx'
import { usePlacedPictures } from './use-placed-pictures.ts'
import { useSceneTiles } from './use-scene-tiles.ts'
import { SceneStylePanel } from './scene-style.tsx'
import type { Filters } from './scenes.ts'
import { SearchView } from './search-view.tsx'
import { Timeline } from './timeline.tsx'
import type { AreaTool } from './use-area.ts'
import { useNewestItem } from './use-newest-item.ts'
import { useScenesOnMap } from './use-scenes-on-map.ts'
import type { Scene } from '../../state/scene.ts'

const AreaEditor = loadLater(async () => (await import('../../parts/areas/area-editor.tsx')).default)

interface ExploreMapParts {
  url: Readonly<Record<string, string>>
  setUrl(patch: Readonly<Record<string, string | null>>, push?: boolean): void
  filters: Filters
  scenes: readonly Scene[]
  selected: Scene | null
  sources: readonly CatalogSource[]
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  areaTool: AreaTool
  /** Keys of scenes whose previews are on the map. */
  previews: readonly string[]
  setPreviews(keys: readonly string[]): void
}

const NONE: readonly Scene[] = []

/** Two previews that are on the map. */
function swipedOf(text: string | undefined, shown: readonly Scene[]): readonly [Scene, Scene] | null {
  const [left, right] = (text ?? '').split(' ').map((key) => shown.find((scene) => scene.key === key))
  return left && right ? [left, right] : null
}

export default function ExploreMap(parts: ExploreMapParts): ReactElement {
  const { url, setUrl, filters, scenes, selected, areaTool, previews, setPreviews, pick } = parts
  useCamera(url['map'], (map) => setUrl({ map }))
  const backdrop = useNewestItem(filters.area === null && url['bbox'] === undefined && url['place'] === undefined)
  const shown = useMemo(() => previews.flatMap((key) => scenes.find((scene) => scene.key === key) ?? []), [previews, scenes])
  const swiped = useMemo(() => swipedOf(url['swipe'], shown), [url['swipe'], shown])
  // Left of the divider is only the left scene; otherwise the selected one is on top.
  const onMap = useMemo(
    () => (swiped ? [swiped[0]] : [...shown.filter(({ key }) => key !== selected?.key), ...(selected ? [selected] : [])]),
    [swiped, shown, selected],
  )
  const withRight = useMemo(() => [...new Set([...onMap, ...(swiped ? [swiped[1]] : [])])], [onMap, swiped])
  const pictures = usePlacedPictures(withRight)
  const leftPictures = useMemo(() => pictures.filter(({ id }) => onMap.some(({ key }) => key === id)), [pictures, onMap])
  useScenesOnMap({ ...parts, area: filters.area, pictures: leftPictures })
  // A phone has room for one panel.
  const isPhone = useIsPhone()
  // The style is that of the scene in front: left of the divider, selected, or previewed last.
  const styled = swiped?.[0] ?? (selected?.tiles ? selected : (shown.findLast(({ tiles }) => tiles !== null) ?? null))
  const source = parts.sources.find(({ host_name }) => host_name === styled?.host) ?? null
  const style = useSceneTiles({ scene: styled, others: onMap, source, url, backdrop })
  // There is room for one of them.
  const hasPanelOnPhone = isPhone && (areaTool.isEditing || (shown.length > 0 && selected === null))
  return (
    <MapSlot>
      <AreaTools onArea={areaTool.takeArea} onPolygons={areaTool.takePolygons} />
      {areaTool.isEditing && filters.area && (
        <AreaEditor area={filters.area} onDone={areaTool.setArea} onCancel={() => areaTool.setEditing(false)} />
      )}
      {(selected !== null || !isPhone) && <SceneStylePanel scene={styled} source={source} tiles={style} url={url} onStyle={setUrl} />}
      {swiped && <SceneSwipe tiles={style.tilesOf(swiped[1])} picture={pictures.find(({ id }) => id === swiped[1].key) ?? null} />}
      <PreviewList
        scenes={isPhone && selected !== null ? NONE : shown}
        swiped={swiped}
        onSwipe={(pair) => setUrl({ swipe: pair && pair.map(({ key }) => key).join(' ') })}
        onRemove={({ key }) => setPreviews(withoutPreview(previews, key))}
        onClear={() => setPreviews([])}
        onPick={pick}
      />
      <SearchView
        hasArea={filters.area !== null}
        bbox={url['bbox']}
        onSearch={(box) => setUrl({ bbox: box.map((value) => value.toFixed(3)).join(','), place: null }, true)}
      />
      {!hasPanelOnPhone && (
        <Timeline
          scenes={scenes}
          from={filters.from}
          to={filters.to}
          selected={selected}
          onChange={(from, to) => setUrl({ from: from || null, to: to || null })}
        />
      )}
    </MapSlot>
  )
}
