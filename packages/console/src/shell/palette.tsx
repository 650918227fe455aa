/** Ctrl K: places, coordinates, pasted areas, own imagery, screens and commands, from one field. */
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from 'react'
import { useOp } from '../api/query.ts'
import { circle, encodeArea } from '../map/geo.ts'
import { withSharedMap } from '../map/lazy-map.ts'
import { readArea, type ReadArea } from '../map/read-area.ts'
import { Modal } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import type { PlainPath } from '../ui/kit.ts'
import { searchText, useFoundPlaces, type FoundPlace } from './found-places.ts'
import { PLACES } from './places.ts'
import { setTheme, currentTheme } from '../ui/theme.ts'
import { itemsIn } from '../state/found-item.ts'
import { useProjects } from '../state/who.ts'
import { classes } from '../ui/classes.ts'
import styles from './palette.module.css'
import shellStyles from './shell.module.css'
import ui from '../ui/ui.module.css'

interface Entry {
  group: string
  icon: IconName
  text: string
  more?: string
  key?: string
  run(): void
}

const MAX_ITEMS = 8
const MAX_PROJECTS = 3
const TYPING_MS = 200
const POINT_RADIUS_M = 5_000
/** A city and its surroundings. */
const PLACE_ZOOM = 10

export default function Palette({ onClose, open }: { onClose(): void; open(overlay: 'api' | 'keys'): void }): ReactElement {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const entries = useEntries(text, onClose, open)
  useEffect(() => setAt(0), [text])
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Tab') return event.preventDefault()
    if (event.key === 'Enter') return run(entries[at])
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setAt((at + step + entries.length) % Math.max(1, entries.length))
  }
  return (
    <Modal className={styles.modal} onClose={onClose} aria-label="Search and commands">
      <div className={styles.palette}>
        <div className={styles.query}>
          <Icon name="search" />
          <input
            data-autofocus
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={entries[at] ? `palette-${at}` : undefined}
            aria-label="Search places, items and commands"
            placeholder="Search places, items and commands, or paste coordinates, GeoJSON, WKT, KML"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKey}
          />
          <span className={shellStyles.keyHint}>Esc</span>
        </div>
        <ul id="palette-list" role="listbox" aria-label="Results" className={styles.results}>
          {entries.map((entry, index) => (
            <PaletteRow
              key={`${entry.group} ${entry.text} ${index}`}
              entry={entry}
              id={`palette-${index}`}
              isOn={index === at}
              isFirst={entries[index - 1]?.group !== entry.group}
              onHover={() => setAt(index)}
              onRun={() => run(entry)}
            />
          ))}
          {entries.length === 0 && <li className={classes(ui.soft, styles.nothing)}>No results.</li>}
        </ul>
        <div className={styles.footer}>
          <span>↑↓ select</span>
          <span>↵ open</span>
          <span className={classes(ui.grow, ui.alignEnd)}>paste GeoJSON, KML, WKT or coordinates here</span>
        </div>
      </div>
    </Modal>
  )
}

function PaletteRow({
  entry,
  id,
  isOn,
  isFirst,
  onHover,
  onRun,
}: {
  entry: Entry
  id: string
  isOn: boolean
  isFirst: boolean
  onHover(): void
  onRun(): void
}): ReactElement {
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isOn) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isOn])
  return (
    <li
      ref={row}
      id={id}
      role="option"
      aria-selected={isOn}
      className={classes(isOn ? styles.selected : '', isFirst ? styles.firstOfGroup : '')}
      data-group={isFirst ? entry.group : undefined}
      onMouseMove={onHover}
      onClick={onRun}
    >
      <Icon name={entry.icon} />
      <span className={classes(ui.grow, ui.ellipsis)}>
        <b dir="auto">{entry.text}</b> <span className={ui.soft}>{entry.more}</span>
      </span>
      {entry.key && <span className={shellStyles.keyHint}>{entry.key}</span>}
    </li>
  )
}

function useEntries(text: string, onClose: () => void, open: (overlay: 'api' | 'keys') => void): Entry[] {
  const navigate = useNavigate()
  const projects = useProjects()
  const items = useOp('items.search_org', { limit: 200 }, { staleTime: 60_000 })
  const area = useReadArea(text)
  const foundPlaces = useFoundPlaces(text)
  const words = text.trim().toLowerCase()
  return useMemo(() => {
    const fits = (...parts: readonly (string | undefined)[]) =>
      words.split(/\s+/).every((word) => parts.join(' ').toLowerCase().includes(word))
    const go = (to: PlainPath) => () => void navigate({ to })
    const places: Entry[] = area ? [areaEntry(area, (aoi) => void navigate({ to: '/explore', search: { aoi } }))] : []
    const named = foundPlaces.map((place) =>
      placeEntry(place, (map) => void navigate({ to: '/explore', search: (before) => ({ ...before, map }) })),
    )
    const own = itemsIn(items.data)
      .map(({ id, name, datetime }) => ({ id, name, when: (datetime ?? '').slice(0, 10) }))
      .filter(({ name, when, id }) => words !== '' && fits(name, when, id))
      .slice(0, MAX_ITEMS)
      .map(({ id, name, when }): Entry => ({
        group: 'Your imagery',
        icon: 'image',
        text: name,
        more: when,
        run: () => void navigate({ to: '/view/$item', params: { item: id } }),
      }))
    const folders = (projects.data?.projects ?? [])
      .filter(({ name }) => words !== '' && fits(name))
      .map(({ id, name }): Entry => ({
        group: 'Your imagery',
        icon: 'folder',
        text: name,
        more: 'project',
        run: () => void navigate({ to: '/library/$project', params: { project: id } }),
      }))
    // The newest are known here; older ones are found where they lie.
    const elsewhere = (projects.data?.projects ?? [])
      .filter(({ item_count }) => words !== '' && item_count > 0)
      .slice(0, MAX_PROJECTS)
      .map(({ id, name }): Entry => ({
        group: 'Your imagery',
        icon: 'search',
        text: `Items named “${text.trim()}”`,
        more: `in ${name}`,
        run: () => void navigate({ to: '/library/$project', params: { project: id }, search: { q: text.trim() } }),
      }))
    const screens = PLACES.filter((place) => fits(place.text, 'go to')).map((place): Entry => ({
      group: 'Go to',
      icon: place.icon,
      text: place.text,
      key: place.letter ? `G ${place.letter.toUpperCase()}` : undefined,
      run: go(place.to),
    }))
    const commands: Entry[] = [
      { group: 'Actions', icon: 'up', text: 'Upload files', run: go('/uploads') },
      { group: 'Actions', icon: 'cart', text: 'Review order', run: go('/orders/review') },
      { group: 'Actions', icon: 'sat', text: 'Task a satellite', run: go('/tasking/new') },
      { group: 'Actions', icon: 'bolt', text: 'Run a process', run: go('/processes') },
      { group: 'Actions', icon: 'poly', text: 'Clip an item', run: go('/clips') },
      { group: 'Actions', icon: 'layers', text: 'Create a mosaic', run: go('/mosaics') },
      { group: 'Actions', icon: 'key', text: 'Create an API key', run: go('/develop/keys') },
      { group: 'Actions', icon: 'bell', text: 'Create an alert', run: go('/alerts/new') },
      { group: 'Actions', icon: 'down', text: 'Create a report', run: go('/reports') },
      { group: 'Actions', icon: 'info', text: 'Inbox', run: go('/inbox') },
      { group: 'Actions', icon: 'hook', text: 'Webhooks and deliveries', run: go('/develop/webhooks') },
      { group: 'Actions', icon: 'plus', text: 'Add credits', run: go('/billing') },
      { group: 'Actions', icon: 'users', text: 'Invite a member', run: go('/team') },
      { group: 'Actions', icon: 'swipe', text: 'Compare two items', run: go('/compare') },
      { group: 'Actions', icon: 'code', text: 'Show the API calls of this screen', key: '⇧ A', run: () => open('api') },
      {
        group: 'Actions',
        icon: 'moon',
        text: 'Switch theme',
        run: () => setTheme(currentTheme() === 'dark' ? 'light' : 'dark'),
      },
      { group: 'Actions', icon: 'help', text: 'Keyboard shortcuts', key: '?', run: () => open('keys') },
      { group: 'Actions', icon: 'home', text: 'First steps', run: go('/welcome') },
    ]
    const operation = /^[a-z_]+\.[a-z_.]+$/.test(words)
      ? [
          {
            group: 'Reference',
            icon: 'code' as const,
            text: words,
            more: 'operation',
            run: () => void window.open(`/docs#/${words.split('.')[0]}/${words}`, '_blank', 'noopener'),
          },
        ]
      : []
    const matching = commands.filter((command) => fits(command.text))
    return [...places, ...own, ...folders, ...operation, ...screens, ...matching, ...named, ...elsewhere]
  }, [area, foundPlaces, text, words, items.data, projects.data, navigate, open, onClose])
}

function placeEntry(place: FoundPlace, explore: (map: string) => void): Entry {
  const { longitude, latitude } = place
  return {
    group: 'Places',
    icon: 'pin',
    text: place.match ?? place.name,
    more: searchText(place),
    run: () => {
      explore(`${longitude.toFixed(4)},${latitude.toFixed(4)},${PLACE_ZOOM}`)
      // Explore reads the address when it opens; if it is open, the map has to be moved.
      void withSharedMap((shared) => shared.map.jumpTo({ center: [longitude, latitude], zoom: PLACE_ZOOM }))
    },
  }
}

function areaEntry(area: ReadArea, explore: (aoi: string) => void): Entry {
  const shape = area.kind === 'area' ? area.geometry : circle(area.at, POINT_RADIUS_M)
  const text = area.kind === 'area' ? 'Use the pasted area' : `Search around ${area.at[1].toFixed(4)}, ${area.at[0].toFixed(4)}`
  return {
    group: 'Places',
    icon: area.kind === 'area' ? 'poly' : 'pin',
    text,
    more: area.kind === 'area' ? `${shape.coordinates[0]!.length - 1} corners` : '5 km radius',
    run: () => explore(encodeArea(shape)),
  }
}

function useReadArea(text: string): ReadArea | null {
  const [area, setArea] = useState<ReadArea | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => {
      readArea(text)
        .then(setArea)
        .catch(() => setArea(null))
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return area
}
