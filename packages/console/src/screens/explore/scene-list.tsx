/** The scenes as rows, or what to do where there are none. */
import type { ReactElement, ReactNode } from 'react'
import { boxPolygon, type Box, type AreaShape } from '../../map/geo.ts'
import { withSharedMap } from '../../map/lazy-map.ts'
import type { Scene } from '../../state/scene.ts'
import type { UrlPatch } from '../../state/url.ts'
import { plural } from '../../ui/format.ts'
import { Button, LinkButton } from '../../ui/kit.ts'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { PlaceForm } from '../../parts/places/place-form.tsx'
import type { ScenePrices } from './prices.ts'
import { SceneRows } from './scene-rows.tsx'
import type { Filters } from './scenes.ts'
import type { RealPlace } from './use-real-place.ts'
import workspaceStyles from '../../parts/workspace.module.css'

const SAMPLE_AREAS: readonly { text: string; box: Box }[] = [
  { text: 'Port Pirie', box: [137.9, -33.28, 138.1, -33.1] },
  { text: 'Loire valley', box: [2.2, 48.1, 2.4, 48.25] },
  { text: 'Nile delta', box: [30.9, 30.9, 31.2, 31.15] },
]

export interface SceneListParts {
  filters: Filters
  scenes: readonly Scene[]
  /** Scenes that were found, but do not fit the filters of the list. */
  hiddenCount: number
  prices: ScenePrices
  isLoading: boolean
  isMine: boolean
  /** There is an area, or a view that was searched. */
  hasPlace: boolean
  real: RealPlace
  selected: Scene | null
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  /** Keys of scenes whose previews are on the map. */
  previews: readonly string[]
  setPreviews(keys: readonly string[]): void
  setArea(area: AreaShape | null): void
  setUrl(patch: UrlPatch, push?: boolean): void
}

export function SceneList(parts: SceneListParts): ReactElement {
  const { scenes, hasPlace, isLoading, real } = parts
  if (real.searching !== null || real.problem !== null)
    return <Notice>{real.problem === null ? <Searching place={real.searching!} /> : <NoPlace {...parts} />}</Notice>
  if (hasPlace && scenes.length > 0) return <SceneRows {...parts} area={parts.filters.area} />
  return <Notice>{!hasPlace ? <NoPlace {...parts} /> : isLoading ? <Skeleton rows={7} /> : <NoScenes {...parts} />}</Notice>
}

/** In a small window it scrolls, by keyboard too, even if nothing in it takes the focus. */
const Notice = ({ children }: { children: ReactNode }): ReactElement => (
  <div className={workspaceStyles.scroll} role="group" aria-label="Scenes" tabIndex={0}>
    {children}
  </div>
)

const Searching = ({ place }: { place: string }): ReactElement => (
  <div role="status">
    <Empty icon="sat" title={`Searching for imagery of ${place}`}>
      The newest clear scene of Sentinel-2 is shown when the host has responded.
    </Empty>
  </div>
)

function NoPlace({ setArea, real, isMine }: SceneListParts): ReactElement {
  const choose = (box: Box) => {
    setArea(boxPolygon(box))
    void withSharedMap((shared) => shared.fit(box))
  }
  return (
    <>
      {!isMine && (real.isOffered || real.problem !== null) && (
        <div className={workspaceStyles.section}>
          <PlaceForm problem={real.problem ?? undefined} />
        </div>
      )}
      <Empty
        icon="poly"
        title="Choose an area"
        actions={SAMPLE_AREAS.map(({ text, box }) => (
          <Button key={text} size="s" onClick={() => choose(box)}>
            {text}
          </Button>
        ))}
      >
        Draw on the map, enter coordinates, paste GeoJSON, or try one of these.
      </Empty>
    </>
  )
}

function NoScenes({ filters, setUrl, isMine, hiddenCount }: SceneListParts): ReactElement {
  return (
    <Empty
      title="No scenes match"
      actions={
        <>
          {filters.cloud !== null && filters.cloud < 100 && (
            <Button size="s" onClick={() => setUrl({ cloud: null })}>
              Allow any cloud cover
            </Button>
          )}
          {(filters.from || filters.to) && (
            <Button size="s" onClick={() => setUrl({ from: null, to: null })}>
              Any date
            </Button>
          )}
          {filters.gsd !== null && (
            <Button size="s" onClick={() => setUrl({ gsd: null })}>
              Any resolution
            </Button>
          )}
          {hiddenCount > 0 && (
            <Button size="s" onClick={() => setUrl({ cover: null, angle: null, price: null, sensors: null })}>
              Show {plural(hiddenCount, 'scene')} hidden by filters
            </Button>
          )}
          {isMine && (
            <LinkButton size="s" to="/uploads">
              Upload files
            </LinkButton>
          )}
        </>
      }
    >
      {isMine ? 'You have no items in this area.' : 'No scenes in this area match your filters.'}
    </Empty>
  )
}
