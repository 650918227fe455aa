/** The map of Explore with its tools. It is loaded beside the list, which does not wait for it. */
import type { ReactElement } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { useCamera } from '../../map/use-camera.ts'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { loadLater } from '../../ui/load-later.tsx'
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
  /** Of the selected scene. */
  source: CatalogSource | null
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  areaTool: AreaTool
}

export default function ExploreMap(parts: ExploreMapParts): ReactElement {
  const { url, setUrl, filters, scenes, selected, areaTool } = parts
  useCamera(url['map'], (map) => setUrl({ map }))
  useScenesOnMap({ ...parts, area: filters.area })
  const backdrop = useNewestItem(filters.area === null && url['bbox'] === undefined && url['place'] === undefined)
  return (
    <MapSlot>
      <AreaTools onArea={areaTool.takeArea} onPolygons={areaTool.takePolygons} />
      {areaTool.isEditing && filters.area && (
        <AreaEditor area={filters.area} onDone={areaTool.setArea} onCancel={() => areaTool.setEditing(false)} />
      )}
      <SceneStylePanel
        scene={selected}
        source={parts.source}
        requested={url['style']}
        backdrop={backdrop}
        onStyle={(style) => setUrl({ style })}
      />
      <SearchView
        hasArea={filters.area !== null}
        bbox={url['bbox']}
        onSearch={(box) => setUrl({ bbox: box.map((value) => value.toFixed(3)).join(','), place: null }, true)}
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
