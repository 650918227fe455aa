/** Where the pointer is, in the notation that the user chose; the centre of the map without a pointer. A click copies it. */
import { useEffect, useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import {
  definitionOf,
  formatPlace,
  labelOf,
  loadConverter,
  needsConverter,
  NOTATIONS,
  projectionFor,
  type Converter,
  type Notation,
} from '../../map/crs.ts'
import type { Position } from '../../map/geo.ts'
import { showGraticule } from '../../map/graticule-layer.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { createStore } from '../../store.ts'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icons.tsx'
import { useIsPhone } from '../../ui/is-phone.ts'
import { isTyping } from '../../ui/keys.ts'
import { copyText } from '../../ui/kit.ts'
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx'
import { epsgOf } from './item-epsg.ts'
import mapSlotStyles from '../../map/map-slot.module.css'
import styles from './coordinates.module.css'
import ui from '../../ui/ui.module.css'

interface Choice {
  notation: Notation
  hasGraticule: boolean
}

/** Of this browser: a choice of the person, not of the item. */
const choices = createStore<Choice>(
  { notation: 'degrees', hasGraticule: false },
  {
    key: 'coordinates',
    read: (text) => {
      const { notation, hasGraticule } = JSON.parse(text) as Partial<Choice>
      return { notation: NOTATIONS.find((each) => each === notation) ?? 'degrees', hasGraticule: hasGraticule === true }
    },
    write: JSON.stringify,
  },
)

/** The share of the map that the sheet covers on a phone. */
const SHEET = 0.48

export function Coordinates({ itemId }: { itemId: string }): ReactElement {
  const choice = choices.use()
  const isPhone = useIsPhone()
  const stac = useOp('items.get_stac', { item_id: itemId }, { staleTime: Infinity })
  const epsg = epsgOf(stac.data)
  const hasItemSystem = epsg !== null && (epsg === 4326 || epsg === 3857 || definitionOf(epsg) !== null)
  const notation = choice.notation === 'item' && !hasItemSystem ? 'degrees' : choice.notation
  const converter = useConverter(notation, epsg)
  const { at, isPointer } = usePlace()
  const isReady = !needsConverter(notation, epsg) || converter !== null
  const text = isReady ? (formatPlace(notation, at, epsg, converter) ?? 'Outside this system') : '…'
  useEffect(() => {
    if (!choice.hasGraticule || !isReady) return
    return showGraticule(sharedMap(), {
      notation,
      projectionAt: (centre) => projectionFor(notation, centre, epsg, converter),
      coveredPx: () => (isPhone ? sharedMap().element.clientHeight * SHEET : 0),
    })
  }, [choice.hasGraticule, notation, epsg, converter, isReady, isPhone])
  useCopyKey(text)
  return (
    <div className={classes(mapSlotStyles.floating, styles.coordinates)} role="group" aria-label="Coordinates">
      <button
        type="button"
        className={classes(styles.place, ui.numeric)}
        title={`Copy the position of the ${isPointer ? 'pointer' : 'centre'} (C)`}
        onClick={() => void copyText(text)}
      >
        <span className={ui.screenReaderOnly}>Copy {isPointer ? 'pointer' : 'centre'}:</span> {text}
      </button>
      <Menu
        label="Coordinate system"
        align="end"
        button={(trigger) => (
          <button type="button" {...trigger} aria-label="Coordinate system" title="Coordinate system">
            <Icon name="globe" />
          </button>
        )}
      >
        <MenuLabel>Coordinate system</MenuLabel>
        {NOTATIONS.filter((each) => each !== 'item' || hasItemSystem).map((each) => (
          <MenuItem key={each} icon={each === notation ? 'check' : 'pin'} onClick={() => choices.set({ ...choice, notation: each })}>
            {labelOf(each, epsg)}
            {each === notation && <span className={ui.screenReaderOnly}>, selected</span>}
          </MenuItem>
        ))}
      </Menu>
      <button
        type="button"
        aria-pressed={choice.hasGraticule}
        aria-label="Grid lines"
        title="Grid lines"
        className={choice.hasGraticule ? styles.selected : ''}
        onClick={() => choices.set({ ...choice, hasGraticule: !choice.hasGraticule })}
      >
        <Icon name="grid" />
      </button>
    </div>
  )
}

/** The library for projections, once a notation needs it. */
function useConverter(notation: Notation, epsg: number | null): Converter | null {
  const [converter, setConverter] = useState<Converter | null>(null)
  const isNeeded = needsConverter(notation, epsg) && converter === null
  useEffect(() => {
    if (!isNeeded) return
    let isGone = false
    void loadConverter().then((loaded) => !isGone && setConverter(loaded))
    return () => {
      isGone = true
    }
  }, [isNeeded])
  return converter
}

/** The last place of the pointer, also on the way to the button that copies it; the centre after the map has moved under it. */
function usePlace(): { at: Position; isPointer: boolean } {
  const centre = (): Position => {
    const { lng, lat } = sharedMap().map.getCenter().wrap()
    return [lng, lat]
  }
  const [place, setPlace] = useState(() => ({ at: centre(), isPointer: false }))
  useEffect(() => {
    const { map } = sharedMap()
    let frame = 0
    const show = (at: Position, isPointer: boolean) => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => setPlace({ at, isPointer }))
    }
    const onPointer = (event: { lngLat: { wrap(): { lng: number; lat: number } } }) => {
      const { lng, lat } = event.lngLat.wrap()
      show([lng, lat], true)
    }
    const onMoved = () => show(centre(), false)
    map.on('mousemove', onPointer)
    map.on('click', onPointer)
    map.on('move', onMoved)
    return () => {
      cancelAnimationFrame(frame)
      map.off('mousemove', onPointer)
      map.off('click', onPointer)
      map.off('move', onMoved)
    }
  }, [])
  return place
}

/** C copies without leaving the map. */
function useCopyKey(text: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isOnMap = (event.target as HTMLElement).closest(`.${mapSlotStyles.slot}`) !== null
      if (event.key === 'c' && !event.ctrlKey && !event.metaKey && !event.altKey && isOnMap && !isTyping(event)) void copyText(text)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [text])
}
