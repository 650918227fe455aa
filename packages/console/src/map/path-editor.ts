/**
 * Places in a row on the map: set by a click, a tap or, at the centre of the focused map, with Enter; dragged, or moved with the arrow
 * keys. The same place twice ends the path, as a double click does.
 */
import type * as maplibre from '/assets/maplibre-gl.mjs'
import type { Position } from './geo.ts'
import { createHandle, onHandleKeys, pointOf } from './handle.ts'
import { MAX_PATH_POINTS, pathFeatures } from './path.ts'
import type { SharedMap } from './shared-map.ts'
import handleStyles from './area-handles.module.css'

const SOURCE = 'path'
const SIGNAL = '#f2a33a'
/** Two presses this near each other are at the same place. */
const SAME_PX = 6

interface PathEvents {
  onChange(points: readonly Position[]): void
  /** While a place is dragged, or the pointer shows where the next would be. */
  onPreview(points: readonly Position[] | null): void
  onFinish(): void
}

export interface PathEditor {
  show(points: readonly Position[], isDone: boolean): void
  stop(): void
}

/** The editor whose path is on the map: one that was stopped before must not remove the next one's. */
let shownBy: object | null = null

export function editPath({ map, ready }: SharedMap, isClosed: boolean, { onChange, onPreview, onFinish }: PathEvents): PathEditor {
  let points: readonly Position[] = []
  let isDone = false
  let isStopped = false
  let markers: maplibre.Marker[] = []
  let focused: number | null = null
  const draw = (shown: readonly Position[]) =>
    (map.getSource(SOURCE) as maplibre.GeoJSONSource | undefined)?.setData(pathFeatures(shown, isClosed))
  const isSame = (a: Position, b: Position) => {
    const [p, q] = [map.project(a), map.project(b)]
    return Math.hypot(p.x - q.x, p.y - q.y) < SAME_PX
  }
  const add = (at: Position) => {
    const last = isDone ? undefined : points.at(-1)
    if (last && isSame(last, at)) return onFinish()
    if (isDone) return onChange([at])
    if (points.length < MAX_PATH_POINTS) onChange([...points, at])
  }
  const onClick = ({ lngLat: { lng, lat } }: maplibre.MapMouseEvent) => add([lng, lat])
  const onMove = ({ lngLat: { lng, lat } }: maplibre.MapMouseEvent) => {
    if (isDone || points.length === 0) return
    const next = [...points, [lng, lat] as Position]
    draw(next)
    onPreview(next)
  }
  const onOut = () => {
    draw(points)
    onPreview(null)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Enter') {
      const { lng, lat } = map.getCenter()
      add([lng, lat])
    } else if (event.key === 'Backspace') onChange(points.slice(0, -1))
    else return
    event.preventDefault()
  }
  const showMarkers = () => {
    for (const marker of markers) marker.remove()
    markers = points.map((at, index) => markerAt(at, index))
  }
  const markerAt = (at: Position, index: number): maplibre.Marker => {
    const label = `Point ${index + 1} of ${points.length}: ${at[1].toFixed(5)}, ${at[0].toFixed(5)}`
    const { element, marker } = createHandle(map, at, label, handleStyles.corner!)
    const moved = (to: Position) => points.with(index, to)
    let wasDragged = false // A drag ends with a click, too.
    marker.on('drag', () => {
      wasDragged = true
      draw(moved(pointOf(marker)))
      onPreview(moved(pointOf(marker)))
    })
    marker.on('dragend', () => onChange(moved(pointOf(marker))))
    element.addEventListener('click', (event) => {
      event.stopPropagation()
      const isEnd = index === points.length - 1 || (isClosed && index === 0)
      if (!isDone && !wasDragged && isEnd && points.length > 1) onFinish()
    })
    onHandleKeys(map, element, at, {
      onMove: (to) => {
        focused = index
        onChange(moved(to))
      },
      onRemove: () => {
        focused = Math.min(index, points.length - 2)
        onChange(points.toSpliced(index, 1))
      },
    })
    if (focused === index) element.focus({ preventScroll: true })
    return marker
  }
  const stopListening = listen(map, { onClick, onMove, onOut, onKey })
  const own = {}
  const added = ready.then(() => {
    if (isStopped) return
    addLayers(map)
    shownBy = own
  })
  return {
    show: (next, done) => {
      points = next
      isDone = done
      void added.then(() => draw(points))
      showMarkers()
      focused = null
    },
    stop: () => {
      isStopped = true
      stopListening()
      for (const marker of markers) marker.remove()
      void added.then(() => shownBy === own && removeLayers(map))
    },
  }
}

interface MapEvents {
  onClick(event: maplibre.MapMouseEvent): void
  onMove(event: maplibre.MapMouseEvent): void
  onOut(): void
  onKey(event: KeyboardEvent): void
}

/** The returned function stops. */
function listen(map: maplibre.Map, { onClick, onMove, onOut, onKey }: MapEvents): () => void {
  const canvas = map.getCanvas()
  // A double click ends the path; it must not zoom.
  const onDouble = (event: maplibre.MapMouseEvent) => event.preventDefault()
  map.on('click', onClick)
  map.on('mousemove', onMove)
  map.on('mouseout', onOut)
  map.on('dblclick', onDouble)
  canvas.addEventListener('keydown', onKey)
  canvas.style.cursor = 'crosshair'
  return () => {
    map.off('click', onClick)
    map.off('mousemove', onMove)
    map.off('mouseout', onOut)
    map.off('dblclick', onDouble)
    canvas.removeEventListener('keydown', onKey)
    canvas.style.cursor = ''
  }
}

const LAYERS: readonly maplibre.LayerSpecification[] = [
  {
    id: 'path-fill',
    type: 'fill',
    source: SOURCE,
    filter: ['==', ['geometry-type'], 'Polygon'],
    paint: { 'fill-color': SIGNAL, 'fill-opacity': 0.12 },
  },
  { id: 'path-under', type: 'line', source: SOURCE, paint: { 'line-color': '#2b1a00', 'line-width': 4.5, 'line-opacity': 0.65 } },
  { id: 'path-line', type: 'line', source: SOURCE, paint: { 'line-color': SIGNAL, 'line-width': 2.2 } },
]

function addLayers(map: maplibre.Map): void {
  if (!map.getSource(SOURCE)) map.addSource(SOURCE, { type: 'geojson', data: pathFeatures([], false) })
  for (const layer of LAYERS) if (!map.getLayer(layer.id)) map.addLayer(layer)
}

function removeLayers(map: maplibre.Map): void {
  for (const { id } of LAYERS) if (map.getLayer(id)) map.removeLayer(id)
  if (map.getSource(SOURCE)) map.removeSource(SOURCE)
}
