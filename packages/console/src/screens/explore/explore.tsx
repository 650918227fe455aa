/** Find scenes everywhere and in one's own store. The map is the workspace; the address is the state. */
import { useCallback, useEffect, useMemo, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { areaOf, boxOf, cornersOf, decodeArea, encodeArea, MAX_AREA_M2, MAX_VERTICES, type Box } from '../../map/geo.ts'
import { MapSlot, useCamera } from '../../map/map-slot.tsx'
import { theStage } from '../../map/stage.ts'
import { useTitle } from '../../shell/crumbs.tsx'
import { isTyping } from '../../shell/keys.ts'
import { useUrl } from '../../shell/url.ts'
import { AuthImage, pictureOf } from '../../ui/auth-image.tsx'
import { audOfCredits, count, dateShort, percent, plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, LinkButton, Segmented } from '../../ui/kit.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { AreaBox, AreaTools } from './area-tools.tsx'
import { toggleInCart, useCart } from './cart.ts'
import { FilterChips } from './filters.tsx'
import { creditsFor, Inspector } from './inspector.tsx'
import { useEstimate } from './estimate.ts'
import { sorted, useCatalog, useMine, type Filters, type Scene, type SceneSearch, type Sort } from './scenes.ts'
import { Timeline } from './timeline.tsx'

const SORTS: readonly { value: Sort; text: string }[] = [
  { value: 'newest', text: 'Newest' },
  { value: 'clearest', text: 'Least cloud' },
  { value: 'covers', text: 'Most coverage' },
  { value: 'cheapest', text: 'Cheapest' },
]
const SAMPLE_AREAS: readonly { text: string; box: Box }[] = [
  { text: 'Port Pirie', box: [137.9, -33.28, 138.1, -33.1] },
  { text: 'Loire valley', box: [2.2, 48.1, 2.4, 48.25] },
  { text: 'Nile delta', box: [30.9, 30.9, 31.2, 31.15] },
]
/** From afar a view is the whole world, which no source can be asked for. */
const MIN_SEARCH_ZOOM = 6

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
  useTitle('Explore')
  useCamera(url['map'], (map) => setUrl({ map }))
  useScenesOnMap({ scenes, selected, hovered, area: filters.area, setHovered, pick })
  useListKeys(scenes, selected, filters.area, pick)
  return (
    <div className={selected ? 'ws ex insp phone-insp' : 'ws ex'}>
      <h1 className="sr" tabIndex={-1}>
        Explore
      </h1>
      <Results
        {...{ url, setUrl, filters, search, scenes, selected, hovered, setHovered, pick, setArea, isMine, hasPlace, sort }}
        vendors={vendors.data?.vendors ?? []}
      />
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
    const { map } = theStage()
    const onEnd = () =>
      setView({
        key: theStage()
          .viewBox()
          .map((value) => value.toFixed(3))
          .join(','),
        zoom: map.getZoom(),
      })
    map.on('moveend', onEnd)
    void theStage().ready.then(onEnd)
    return () => void map.off('moveend', onEnd)
  }, [])
  if (hasArea || !view || view.key === bbox || view.zoom < MIN_SEARCH_ZOOM) return null
  return (
    <div className="search-view">
      <Button icon="search" onClick={() => onSearch(theStage().viewBox())}>
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
  useEffect(() => theStage().setFootprints(scenes.map(({ key, geometry }) => ({ id: key, geometry }))), [keys])
  useEffect(() => theStage().setArea(area), [area])
  useEffect(() => {
    if (area && !new URLSearchParams(location.search).has('map')) theStage().fitGeometry(area)
  }, [area])
  useEffect(() => theStage().setHovered(hovered), [hovered])
  useEffect(() => theStage().setSelected([...(selected ? [selected.key] : []), ...cart.map(({ key }) => key)]), [selected, cart])
  useEffect(() => {
    const corners = selected ? cornersOf(selected.geometry) : null
    const path = selected?.quicklook ?? (selected?.kind === 'catalog' ? selected.thumbnail : null)
    if (!selected || !corners || !path) return theStage().setPictures([])
    let stopped = false
    pictureOf(path)
      .then((picture) => {
        if (!stopped) theStage().setPictures([{ id: selected.key, url: picture, corners }])
      })
      .catch(() => undefined)
    return () => {
      stopped = true
    }
  }, [selected])
  useEffect(() => {
    const { map } = theStage()
    const onMove = ({ point }: { point: { x: number; y: number } }) => setHovered(theStage().footprintsAt([point.x, point.y])[0] ?? null)
    const onClick = ({ point }: { point: { x: number; y: number } }) => {
      const under = theStage().footprintsAt([point.x, point.y])
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

interface ResultsParts {
  url: Readonly<Record<string, string>>
  setUrl(patch: Readonly<Record<string, string | null>>): void
  filters: Filters
  search: SceneSearch
  scenes: readonly Scene[]
  selected: Scene | null
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene | null): void
  setArea(area: GeoJSON.Polygon | null): void
  isMine: boolean
  hasPlace: boolean
  sort: Sort
  vendors: Parameters<typeof FilterChips>[0]['vendors']
}

function Results(parts: ResultsParts): ReactElement {
  const { url, setUrl, filters, search, scenes, setArea, isMine, hasPlace, sort } = parts
  const cart = useCart()
  const estimate = useEstimate(cart, { keep: true })
  return (
    <section className="pn l" aria-label="Search">
      <i className="sheetgrab" />
      <div className="sec col g8">
        <div className="row between scope-row">
          <Segmented
            label="Where to search"
            value={isMine ? 'mine' : 'catalogs'}
            onChange={(scope) => setUrl({ scope: scope === 'mine' ? 'mine' : null, sel: null })}
            options={[
              { value: 'catalogs', text: 'Catalogs' },
              { value: 'mine', text: 'My items' },
            ]}
          />
        </div>
        <AreaBox area={filters.area} onArea={setArea} onFit={() => theStage().fit(boxOf(filters.area))} />
        <FilterChips url={url} setUrl={setUrl} vendors={parts.vendors} withSources={!isMine} />
      </div>
      {hasPlace && (
        <div className="row between res-head">
          <span role="status" aria-live="polite">
            <b>{plural(scenes.length, 'scene')}</b>{' '}
            <span className="soft">
              {search.isLoading ? 'so far' : isMine ? 'of your own' : `from ${search.answered} of ${search.sourceCount} sources`}
            </span>
          </span>
          <label className="row g4">
            <span className="sr">Sort</span>
            <select
              className="plain-select"
              value={sort}
              onChange={(event) => setUrl({ sort: event.target.value === 'newest' ? null : event.target.value })}
            >
              {SORTS.map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <SourceFailures failures={search.failures} />
      <SceneList {...parts} />
      {cart.length > 0 && (
        <div className="cartbar">
          <span>
            <Icon name="cart" /> <b>{plural(cart.length, 'scene')}</b>{' '}
            <span className="soft">{estimate.data ? audOfCredits(estimate.data.total_credits) : 'being priced'}</span>
          </span>
          <LinkButton to="/orders/review" look="primary">
            Review order
          </LinkButton>
        </div>
      )}
    </section>
  )
}

function SourceFailures({ failures }: { failures: SceneSearch['failures'] }): ReactElement | null {
  const [first] = failures
  if (!first) return null
  return (
    <div className="srcerr" role="status" title={failures.map(({ title, message }) => `${title}: ${message}`).join('\n')}>
      <Icon name="warn" />
      <span className="grow sm cut">
        {failures.length === 1
          ? `${first.title} did not answer.`
          : `${failures.length} sources did not answer: ${failures.map(({ title }) => title).join(', ')}`}
      </span>
      <Button size="s" look="quiet" onClick={() => failures.forEach(({ retry }) => retry())}>
        Retry
      </Button>
    </div>
  )
}

function SceneList({
  search,
  scenes,
  selected,
  hovered,
  setHovered,
  pick,
  setArea,
  setUrl,
  filters,
  hasPlace,
  isMine,
}: ResultsParts): ReactElement {
  if (!hasPlace)
    return (
      <div className="sc">
        <Empty
          icon="poly"
          title="Draw or name an area"
          actions={SAMPLE_AREAS.map(({ text, box }) => (
            <Button
              key={text}
              size="s"
              onClick={() => {
                const [west, south, east, north] = box
                setArea({
                  type: 'Polygon',
                  coordinates: [
                    [
                      [west, south],
                      [east, south],
                      [east, north],
                      [west, north],
                      [west, south],
                    ],
                  ],
                })
                theStage().fit(box)
              }}
            >
              {text}
            </Button>
          ))}
        >
          Draw on the map, type coordinates, paste GeoJSON, or begin with one of these.
        </Empty>
      </div>
    )
  if (scenes.length === 0 && search.isLoading)
    return (
      <div className="sc">
        <Skeleton rows={7} />
      </div>
    )
  if (scenes.length === 0)
    return (
      <div className="sc">
        <Empty
          title="No scenes match"
          actions={
            <>
              {filters.cloud !== null && filters.cloud < 100 && (
                <Button size="s" onClick={() => setUrl({ cloud: null })}>
                  Allow any cloud
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
              {isMine && (
                <LinkButton size="s" to="/uploads">
                  Upload
                </LinkButton>
              )}
            </>
          }
        >
          {isMine ? 'None of your items is here.' : 'Nothing over this area with these filters.'}
        </Empty>
      </div>
    )
  return (
    <ul className="sc" aria-label="Scenes">
      {scenes.map((scene) => (
        <SceneRow
          key={scene.key}
          scene={scene}
          area={filters.area}
          isSelected={scene.key === selected?.key}
          isHovered={scene.key === hovered}
          onHover={setHovered}
          onPick={pick}
        />
      ))}
    </ul>
  )
}

interface RowParts {
  scene: Scene
  area: GeoJSON.Polygon | null
  isSelected: boolean
  isHovered: boolean
  onHover(key: string | null): void
  onPick(scene: Scene): void
}

function SceneRow({ scene, area, isSelected, isHovered, onHover, onPick }: RowParts): ReactElement {
  const isInCart = useCart().some(({ key }) => key === scene.key)
  const credits = creditsFor(scene, area)
  const when = dateShort(scene.datetime)
  return (
    <li
      className={`res ${isSelected ? 'sel' : ''} ${isHovered ? 'hov' : ''}`}
      onMouseEnter={() => onHover(scene.key)}
      onMouseLeave={() => onHover(null)}
    >
      <div className="th">
        <AuthImage path={scene.thumbnail} alt="" />
        {credits !== null && (
          <input
            type="checkbox"
            className="ck-on"
            checked={isInCart}
            aria-label={`Order ${scene.source} of ${when}`}
            onChange={() => toggleInCart(scene, area)}
          />
        )}
      </div>
      <button type="button" className="ti as-text cut" onClick={() => onPick(scene)} aria-current={isSelected || undefined}>
        {scene.source} <span className="soft">{scene.gsd === null ? '' : `${scene.gsd} m`}</span>
      </button>
      <span className="pr num">{scene.kind === 'item' ? '' : credits === null ? 'Free' : audOfCredits(credits)}</span>
      <div className="me">
        <span>{when}</span>
        {scene.cloud !== null && (
          <span className="cl" style={{ '--v': scene.cloud } as never}>
            {percent(Math.round(scene.cloud))}
          </span>
        )}
        {scene.covered !== null && <span className="cut">{percent(Math.round(scene.covered * 100))} of area</span>}
      </div>
      <span className="pr2">
        {scene.kind === 'item' ? '' : scene.creditsPerKm2 === null ? 'open data' : `${count(scene.creditsPerKm2)} cr/km²`}
      </span>
    </li>
  )
}
