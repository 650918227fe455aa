/** Two items of one place: a curtain that is moved by pointer, finger or keys, or both side by side. */
import * as maplibre from '/assets/maplibre-gl.mjs'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { currentToken } from '../../api/session.ts'
import { useOp } from '../../api/query.ts'
import { baseStyle } from '../../map/base-style.ts'
import type { Box } from '../../map/geo.ts'
import { MapSlot } from '../../map/map-slot.tsx'
import { sharedMap } from '../../map/shared-map.ts'
import { useTitle } from '../../state/crumbs.ts'
import { currentTheme } from '../../ui/theme.ts'
import { useUrl } from '../../state/url.ts'
import { date } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Choice, Segmented } from '../../ui/kit.ts'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { ChangePanel } from './change-panel.tsx'
import { tilesOf } from '../../state/style.ts'
import { classes } from '../../ui/classes.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './compare.module.css'
import ui from '../../ui/ui.module.css'

type Mode = 'swipe' | 'side' | 'blink'
const LOOKS = [
  { value: '', text: 'Default style' },
  { value: 'rgb', text: 'Natural' },
  { value: 'nir', text: 'Infrared' },
  { value: 'ndvi', text: 'NDVI' },
  { value: 'ndwi', text: 'NDWI' },
]
/** Once a second: never fast enough to harm. */
const BLINK_MS = 1_000

export function Compare(): ReactElement {
  const [url, setUrl] = useUrl()
  const a = useOp('items.get', { item_id: url['a'] ?? '' }, { enabled: Boolean(url['a']) })
  const b = useOp('items.get', { item_id: url['b'] ?? '' }, { enabled: Boolean(url['b']) })
  const first = a.data?.item
  const near = useOp('items.search_org', { bbox: (first?.bbox ?? [0, 0, 1, 1]) as Box, limit: 50 }, { enabled: Boolean(first?.bbox) })
  const recent = useOp('items.search_org', { limit: 50 }, { enabled: !url['a'] })
  const mode = (url['mode'] ?? 'swipe') as Mode
  const look = url['look'] ?? ''
  useTitle({ text: 'Library', to: '/library' }, 'Compare')
  const options =
    (near.data ?? recent.data)?.features.map((item) => ({
      value: item.id,
      text: `${String(item.properties['datetime'] ?? '').slice(0, 10)} ${String(item.properties['title'] ?? item.id)}`,
    })) ?? []
  const query = look ? `?profile=${look}` : ''
  const tiles = (id: string | undefined) => (id ? tilesOf(id, query) : null)
  return (
    <div className={styles.compare}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        Compare
      </h1>
      <Curtain
        mode={mode}
        left={tiles(first?.id)}
        right={tiles(b.data?.item.id)}
        box={(first?.bbox as Box | null | undefined) ?? null}
        at={Number(url['at'] ?? 50)}
        onAt={(at) => setUrl({ at: String(Math.round(at)) })}
      />
      <div className={classes(mapSlotStyles.floating, styles.side, styles.sideA)}>
        <span className={styles.letter}>A</span>
        <Choice
          label="Item A"
          hideLabel
          value={url['a'] ?? ''}
          onChange={(event) => setUrl({ a: event.target.value })}
          options={[{ value: '', text: 'Choose the first', disabled: true }, ...withCurrent(options, first)]}
        />
      </div>
      <div className={classes(mapSlotStyles.floating, styles.side, styles.sideB)}>
        <span className={classes(styles.letter, styles.letterB)}>B</span>
        <Choice
          label="Item B"
          hideLabel
          value={url['b'] ?? ''}
          onChange={(event) => setUrl({ b: event.target.value })}
          options={[{ value: '', text: 'Choose the second', disabled: true }, ...withCurrent(options, b.data?.item)]}
        />
      </div>
      <div className={classes(mapSlotStyles.floating, styles.modes)}>
        <Segmented
          label="How to compare"
          value={mode}
          onChange={(next) => setUrl({ mode: next === 'swipe' ? null : next })}
          options={[
            { value: 'swipe', text: 'Swipe' },
            { value: 'side', text: 'Side by side' },
            { value: 'blink', text: 'Blink' },
          ]}
        />
        <Choice label="Look" hideLabel value={look} onChange={(event) => setUrl({ look: event.target.value || null })} options={LOOKS} />
      </div>
      {!url['a'] && (
        <div className={classes(mapSlotStyles.floating, styles.empty)}>
          <Empty icon="swipe" title="Choose two items">
            Both are drawn with one look, so that what differs is the ground.
          </Empty>
        </div>
      )}
      {url['a'] && a.isPending && <Skeleton />}
      {first?.bbox && b.data && <ChangePanel key={`${first.id} ${b.data.item.id} ${look}`} a={first} b={b.data.item} look={look} />}
      <TimeLine items={near.data?.features ?? []} a={url['a']} b={url['b']} onPick={(side, id) => setUrl({ [side]: id })} />
    </div>
  )
}

function withCurrent(
  options: readonly { value: string; text: string }[],
  item: { id: string; name: string; datetime: string | null } | undefined,
) {
  return !item || options.some(({ value }) => value === item.id)
    ? options
    : [{ value: item.id, text: `${(item.datetime ?? '').slice(0, 10)} ${item.name}` }, ...options]
}

interface CurtainParts {
  mode: Mode
  left: string | null
  right: string | null
  box: Box | null
  at: number
  onAt(at: number): void
}

function Curtain({ mode, left, right, box, at, onAt }: CurtainParts): ReactElement {
  const [shown, setShown] = useState(at)
  const [isB, setIsB] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const second = useSecondMap(right)
  const key = box?.join()
  useEffect(() => {
    sharedMap().setRasters(left ? [{ id: 'compare-a', tiles: left }] : [])
    // oxlint-disable-next-line exhaustive-deps
  }, [left])
  useEffect(() => {
    if (box) sharedMap().fit(box, { animate: false, padding: { top: 80, bottom: 90, left: 40, right: 40 } })
    // oxlint-disable-next-line exhaustive-deps
  }, [key])
  useEffect(() => {
    if (mode !== 'blink') return
    const timer = setInterval(() => setIsB((now) => !now), BLINK_MS)
    return () => clearInterval(timer)
  }, [mode])
  const clip = mode === 'swipe' ? `inset(0 0 0 ${shown}%)` : mode === 'side' ? 'inset(0 0 0 50%)' : isB ? 'none' : 'inset(0 0 0 100%)'
  const move = (event: PointerEvent) => {
    const area = place.current!.getBoundingClientRect()
    setShown(Math.max(0, Math.min(100, ((event.clientX - area.left) / area.width) * 100)))
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(100, shown + step * (event.shiftKey ? 10 : 1)))
    setShown(next)
    onAt(next)
  }
  return (
    <div className={styles.curtain} ref={place}>
      <MapSlot />
      <div className={styles.after} ref={second} style={{ clipPath: clip }} />
      {mode === 'swipe' && (
        <div
          className={styles.split}
          style={{ left: `${shown}%` }}
          role="slider"
          tabIndex={0}
          aria-label="Curtain between A and B"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(shown)}
          onKeyDown={onKey}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={(event) => event.buttons > 0 && move(event)}
          onPointerUp={() => onAt(shown)}
        >
          <span>
            <Icon name="swipe" />
          </span>
        </div>
      )}
    </div>
  )
}

/** The second image lies in a map of its own that follows the first. */
function useSecondMap(tiles: string | null) {
  const place = useRef<HTMLDivElement>(null)
  const map = useRef<maplibre.Map | null>(null)
  useEffect(() => {
    const { map: leader } = sharedMap()
    const follower = new maplibre.Map({
      container: place.current!,
      style: baseStyle(currentTheme()),
      center: leader.getCenter(),
      zoom: leader.getZoom(),
      interactive: false,
      attributionControl: false,
      transformRequest: (address) => {
        const token = currentToken()
        return {
          url: address,
          ...(token && address.startsWith(`${location.origin}/api/`) ? { headers: { Authorization: `Bearer ${token}` } } : {}),
        }
      },
    })
    follower.getCanvas().setAttribute('aria-hidden', 'true')
    follower.getCanvas().tabIndex = -1
    follower.on('error', () => undefined)
    const sync = () => follower.jumpTo({ center: leader.getCenter(), zoom: leader.getZoom() })
    leader.on('move', sync)
    map.current = follower
    return () => {
      leader.off('move', sync)
      follower.remove()
      map.current = null
    }
  }, [])
  useEffect(() => {
    const follower = map.current!
    const draw = () => {
      if (follower.getLayer('b')) follower.removeLayer('b')
      if (follower.getSource('b')) follower.removeSource('b')
      if (!tiles) return
      follower.addSource('b', { type: 'raster', tiles: [tiles.replace('{y}.', '{y}@2x.')], tileSize: 512 })
      follower.addLayer({ id: 'b', type: 'raster', source: 'b' }, 'above-rasters')
    }
    if (follower.loaded()) draw()
    else follower.once('load', draw)
  }, [tiles])
  return place
}

interface TimeParts {
  items: readonly { id: string; properties: Record<string, unknown> }[]
  a: string | undefined
  b: string | undefined
  onPick(side: 'a' | 'b', id: string): void
}

function TimeLine({ items, a, b, onPick }: TimeParts): ReactElement | null {
  const navigate = useNavigate()
  const dated = items
    .filter(({ properties }) => properties['datetime'])
    .toSorted((x, y) => String(x.properties['datetime']).localeCompare(String(y.properties['datetime'])))
  if (dated.length < 2) return null
  return (
    <div className={classes(mapSlotStyles.floating, styles.timeSlider)} role="group" aria-label="Dates of this place">
      {dated.slice(0, 24).map((item) => {
        const when = date(String(item.properties['datetime']))
        const side = item.id === a ? 'A' : item.id === b ? 'B' : ''
        return (
          <button
            key={item.id}
            type="button"
            className={classes(styles.timeDot, side === 'A' && styles.dotA, side === 'B' && styles.dotB)}
            aria-label={`${when}${side ? `, is ${side}` : ', compare with A'}`}
            title={when}
            onClick={() => (side ? void navigate({ to: '/view/$item', params: { item: item.id } }) : onPick('b', item.id))}
          >
            {side}
          </button>
        )
      })}
      <span className={classes(ui.soft, ui.small)}>{dated.length} scenes</span>
    </div>
  )
}
