/**
 * Corners of an area as buttons on the map: they are dragged with pointer or finger, reached with Tab and moved with the arrow keys.
 * Between two corners, a smaller button adds one.
 */
import type * as maplibre from '/assets/maplibre-gl.mjs'
import { addCornerAfter, cornersIn, middleAfter, moveCorner, positionOf, removeCorner, type Corner } from './edit-rings.ts'
import type { AreaShape, Position } from './geo.ts'
import { createHandle, onHandleKeys, pointOf } from './handle.ts'
import type { SharedMap } from './shared-map.ts'
import styles from './area-handles.module.css'

/** More would be slow, and too close to hit: of a larger area, those in view are shown. */
const MAX_HANDLES = 150

interface HandleEvents {
  /** While a corner is dragged. */
  onMove(area: AreaShape): void
  /** A change that can be undone. */
  onChange(area: AreaShape, selected: Corner | null): void
  onSelect(corner: Corner): void
}

export interface AreaHandles {
  show(area: AreaShape, selected: Corner | null): void
  stop(): void
}

const same = (a: Corner | null, b: Corner) => a !== null && a.polygon === b.polygon && a.ring === b.ring && a.index === b.index

/** Where a corner is, if not in the outer ring of the first polygon. */
const partOf = ({ polygon, ring }: Corner): string => (polygon > 0 ? ` of area ${polygon + 1}` : '') + (ring > 0 ? `, hole ${ring}` : '')

export function showHandles({ map }: SharedMap, { onMove, onChange, onSelect }: HandleEvents): AreaHandles {
  let area: AreaShape | null = null
  let selected: Corner | null = null
  let markers: maplibre.Marker[] = []
  const clear = () => {
    for (const marker of markers) marker.remove()
    markers = []
  }
  const handle = (at: Position, label: string, className: string) => {
    const created = createHandle(map, at, label, className)
    markers.push(created.marker)
    return created
  }
  const addCorner = (corner: Corner, all: number) => {
    const current = area!
    const at = positionOf(current, corner)!
    const place = `${at[1].toFixed(5)}, ${at[0].toFixed(5)}`
    const label = `Corner ${corner.index + 1} of ${all}${partOf(corner)}: ${place}`
    const { element, marker } = handle(at, label, `${styles.corner}${same(selected, corner) ? ` ${styles.selected}` : ''}`)
    marker.on('drag', () => onMove(moveCorner(current, corner, pointOf(marker))))
    marker.on('dragend', () => onChange(moveCorner(current, corner, pointOf(marker)), corner))
    element.addEventListener('focus', () => onSelect(corner))
    element.addEventListener('click', (event) => {
      event.stopPropagation()
      onSelect(corner)
    })
    onHandleKeys(map, element, at, {
      onMove: (to) => onChange(moveCorner(current, corner, to), corner),
      onRemove: () => onChange(removeCorner(current, corner), null),
    })
    if (same(selected, corner)) element.focus({ preventScroll: true })
  }
  const addMiddle = (corner: Corner) => {
    const current = area!
    const next = { ...corner, index: corner.index + 1 }
    const { element, marker } = handle(middleAfter(current, corner), `Add a corner after corner ${corner.index + 1}`, styles.middle!)
    let wasDragged = false // A drag ends with a click, too.
    const add = () => onChange(addCornerAfter(current, corner, pointOf(marker)), next)
    marker.on('dragstart', () => {
      wasDragged = true
    })
    marker.on('drag', () => onMove(addCornerAfter(current, corner, pointOf(marker))))
    marker.on('dragend', add)
    element.addEventListener('click', (event) => {
      event.stopPropagation()
      if (!wasDragged) add()
    })
  }
  const draw = () => {
    clear()
    if (!area) return
    const shape = area
    const bounds = map.getBounds()
    const all = cornersIn(shape)
    const shown =
      all.length <= MAX_HANDLES ? all : all.filter((corner) => bounds.contains(positionOf(shape, corner)!)).slice(0, MAX_HANDLES)
    const sizes = Map.groupBy(all, ({ polygon, ring }) => `${polygon} ${ring}`)
    for (const corner of shown) {
      addCorner(corner, sizes.get(`${corner.polygon} ${corner.ring}`)!.length)
      addMiddle(corner)
    }
  }
  const onMapMoved = () => {
    if (area && cornersIn(area).length > MAX_HANDLES) draw()
  }
  map.on('moveend', onMapMoved)
  return {
    show: (next, corner) => {
      area = next
      selected = corner
      draw()
    },
    stop: () => {
      map.off('moveend', onMapMoved)
      clear()
    },
  }
}
