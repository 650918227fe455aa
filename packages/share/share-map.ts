/** The map: a base drawn from open data that the service carries itself, the footprints, and one image at a time. */
import * as maplibre from '/assets/maplibre-gl.mjs'
import { MapLayers, type DrawnLayer } from './map-layers.ts'
import type { SharedItem, Tiles } from './share-api.ts'
import type * as BaseMapModule from './share-base-map.ts'

export interface ShareMap {
  /** Outlines of what is shared; the chosen one stands out. */
  outline(items: readonly SharedItem[], onPick: (id: string) => void): void
  choose(item: SharedItem): void
  /** Null takes the image away. */
  draw(tiles: Tiles | null): void
  setOpacity(share: number): void
  /** The layers of a shared map, from top to bottom, and what is written on it. */
  drawLayers(layers: readonly DrawnLayer[], annotations: GeoJSON.FeatureCollection): void
  /** Draws a second image right of a divider; null takes both away. */
  compare(tiles: Tiles | null): void
  fit(item: Pick<SharedItem, 'bbox'>, animate: boolean): void
  /** Goes to a place that was shown before. */
  goTo(place: Place): void
  clear(): void
}

export interface Place {
  longitude: number
  latitude: number
  zoom: number
}

export interface Pointed {
  longitude: number
  latitude: number
  /** In pixels from the left of the map. */
  x: number
}

export interface MapEvents {
  /** Scrolls the page around it unless Ctrl is pressed, or two fingers are on the map. */
  isEmbedded?: boolean
  onMoved?(place: Place): void
  onRefused(): void
  onDrawing(busy: boolean): void
  /** The pointer rests on a place, or a finger has touched it; null when it has left. */
  onPointer?(at: Pointed | null): void
}

const PALETTES = {
  light: { water: '#d8e4ea', land: '#f5f3ee', border: '#bdb8ab', grid: '#c3d2da', line: '#0b6e7f', halo: '#ffffff', name: '#6f6a5d' },
  dark: { water: '#12202a', land: '#26333b', border: '#465560', grid: '#1d2d37', line: '#5cc2d2', halo: '#0e161b', name: '#93a4b0' },
} as const

type Palette = (typeof PALETTES)[keyof typeof PALETTES]

const GRID_STEP_DEGREES = 15
const EMPTY: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }

export function createMap(container: HTMLElement, events: MapEvents): ShareMap {
  const { onDrawing } = events
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const palette = () => PALETTES[dark.matches ? 'dark' : 'light']
  const map = openMap(container, palette(), events.isEmbedded ?? false)
  report(map, events)

  // Layers can be added; the base map may still be loading, and imagery never waits for it.
  const ready = new Promise<void>((resolve) => map.once('style.load', () => resolve()))
  map.once('idle', () => addDetails(map))
  const stack = layerStack(map, ready, events)
  const repaintNear = addNearWhenDrawn(map, dark, palette, () => stack.isUsed() || map.getLayer('image') !== undefined)
  let second: maplibre.Map | null = null
  dark.addEventListener('change', () => {
    for (const each of [map, second]) if (each) repaint(each, palette())
    repaintNear()
  })

  return {
    outline(items, onPick) {
      void ready.then(() => {
        source(map, 'outlines').setData({ type: 'FeatureCollection', features: items.flatMap(outlineOf) })
        whenPicked(map, onPick)
      })
    },
    choose(item) {
      void ready.then(() => map.setFilter('outline-chosen', ['==', ['get', 'id'], item.id]))
    },
    draw(tiles) {
      void ready.then(() => {
        removeImage(map)
        onDrawing(true)
        if (tiles) addImage(map, tiles)
        else map.triggerRepaint()
      })
    },
    drawLayers: stack.draw,
    setOpacity(share) {
      if (!map.getLayer('image')) return
      onDrawing(true)
      map.setPaintProperty('image', 'raster-opacity', share)
    },
    compare(tiles) {
      void ready.then(() => {
        second?.remove()
        second = tiles ? openSecond(map, palette(), tiles) : null
      })
    },
    fit({ bbox }, animate) {
      if (!bbox) return
      const [west, south, east, north] = bbox
      void ready.then(() =>
        map.fitBounds([west, south, east < west ? east + 360 : east, north], {
          padding: paddingOf(container),
          maxZoom: 17,
          animate,
          duration: 1_600,
        }),
      )
    },
    goTo({ longitude, latitude, zoom }) {
      void ready.then(() => map.jumpTo({ center: [longitude, latitude], zoom }))
    },
    clear() {
      void ready.then(() => {
        removeImage(map)
        stack.clear()
        source(map, 'outlines').setData(EMPTY)
        map.jumpTo(wholeGlobe(container))
      })
    },
  }
}

/** Once imagery is on the map: nothing is loaded before it that it does not need. Returns how to paint it in other colours. */
function addNearWhenDrawn(map: maplibre.Map, dark: MediaQueryList, palette: () => Palette, hasImagery: () => boolean): () => void {
  let baseMap: typeof BaseMapModule | null = null
  const add = async () => {
    baseMap = await import('./share-base-map.ts')
    baseMap.addNearDetails(map, palette())
    await baseMap.offerBaseMaps(map, () => (dark.matches ? 'dark' : 'light'))
  }
  const onIdle = () => {
    if (!hasImagery()) return
    map.off('idle', onIdle)
    void add()
  }
  map.on('idle', onIdle)
  return () => baseMap?.repaintNearDetails(map, palette())
}

function openMap(container: HTMLElement, colours: Palette, isEmbedded: boolean): maplibre.Map {
  const map = new maplibre.Map({
    container,
    style: baseStyle(colours),
    ...wholeGlobe(container),
    maxZoom: 22,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    cooperativeGestures: isEmbedded,
  })
  map.touchZoomRotate.disableRotation()
  map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right')
  map.addControl(new maplibre.FullscreenControl({ container: document.body }), 'top-right')
  map.addControl(new maplibre.ScaleControl({ unit: 'metric' }), 'bottom-right')
  map.addControl(new maplibre.AttributionControl({ compact: true, customAttribution: 'Base map: Natural Earth' }), 'bottom-right')
  // It begins unfolded; over a small map that is in the way.
  if (container.clientWidth < 760)
    map.once('style.load', () => container.querySelector('.maplibregl-ctrl-attrib')?.classList.remove('maplibregl-compact-show'))
  const frame = document.getElementById('frame')
  if (frame) container.append(frame) // Below the map's buttons.
  return map
}

/** The layers of a shared map, made when there are some. */
function layerStack(map: maplibre.Map, ready: Promise<void>, { onDrawing, onRefused }: MapEvents) {
  let layers: MapLayers | null = null
  return {
    isUsed: () => layers !== null,
    draw(wanted: readonly DrawnLayer[], annotations: GeoJSON.FeatureCollection): void {
      onDrawing(true)
      layers ??= new MapLayers({ map, ready, below: 'outline-area', load: (url, signal) => loadImage(url, signal, onRefused) })
      layers.show(wanted)
      layers.annotate(annotations)
    },
    clear(): void {
      layers?.clear()
      layers = null
    },
  }
}

async function loadImage(url: string, signal: AbortSignal, onRefused: () => void): Promise<ImageBitmap | null> {
  const response = await fetch(url, { signal })
  if (response.status === 401) onRefused()
  return response.ok ? await createImageBitmap(await response.blob()) : null
}

/** What happens on the map is told to whoever has opened it. */
function report(map: maplibre.Map, { onRefused, onDrawing, onMoved, onPointer }: MapEvents): void {
  map.on('error', ({ error }) => {
    if ((error as { status?: number }).status === 401) onRefused()
  })
  map.on('movestart', () => onDrawing(true))
  map.on('idle', () => onDrawing(false))
  map.on('moveend', () => {
    const { lng, lat } = map.getCenter()
    onMoved?.({ longitude: lng, latitude: lat, zoom: map.getZoom() })
  })

  if (onPointer) watchPointer(map, onPointer)
}

/** Beside the first, and always where that one is. */
function openSecond(first: maplibre.Map, colours: Palette, tiles: Tiles): maplibre.Map {
  const container = document.getElementById('second')!
  container.setAttribute('aria-busy', 'true')
  const place = () => ({ center: first.getCenter(), zoom: first.getZoom() })
  const map = new maplibre.Map({
    container,
    style: baseStyle(colours),
    ...place(),
    maxZoom: 22,
    interactive: false,
    attributionControl: false,
  })
  const follow = () => map.jumpTo(place())
  first.on('move', follow)
  map.once('remove', () => first.off('move', follow))
  map.once('idle', () => addDetails(map))
  map.once('style.load', () => {
    addImage(map, tiles)
    follow()
    map.on('idle', () => container.setAttribute('aria-busy', 'false'))
  })
  return map
}

/** A pointer on its way asks for nothing: only where it rests is worth a question. */
const REST_MS = 120

function watchPointer(map: maplibre.Map, onPointer: (at: Pointed | null) => void): void {
  let timer = 0
  const tell = ({ lngLat, point }: maplibre.MapMouseEvent) => {
    const { lng, lat } = lngLat.wrap()
    onPointer({ longitude: lng, latitude: lat, x: point.x })
  }
  map.on('mousemove', (event) => {
    clearTimeout(timer)
    timer = window.setTimeout(tell, REST_MS, event)
  })
  map.on('click', (event) => {
    clearTimeout(timer)
    tell(event)
  })
  map.on('mouseout', () => {
    if (!matchMedia('(hover: hover)').matches) return // A finger is lifted, and what it touched is to be read.
    clearTimeout(timer)
    onPointer(null)
  })
}

function whenPicked(map: maplibre.Map, onPick: (id: string) => void): void {
  map.on('click', 'outline-area', ({ features }) => {
    const id = features?.[0]?.properties['id']
    if (typeof id === 'string') onPick(id)
  })
  map.on('mouseenter', 'outline-area', () => {
    map.getCanvas().style.cursor = 'pointer'
  })
  map.on('mouseleave', 'outline-area', () => {
    map.getCanvas().style.cursor = ''
  })
}

function addImage(map: maplibre.Map, tiles: Tiles): void {
  // Twice the size, a quarter of the requests.
  const template = tiles.tiles[0].replace('{y}.', '{y}@2x.')
  const { bounds, minzoom } = tiles
  map.addSource('image', {
    type: 'raster',
    tiles: [template],
    tileSize: 512,
    bounds,
    minzoom: Math.max(0, minzoom - 1),
    maxzoom: Math.max(minzoom, tiles.maxzoom - 1),
  })
  map.addLayer({ id: 'image', type: 'raster', source: 'image', paint: { 'raster-fade-duration': 150 } }, 'outline-area')
}

/** The globe as large as looks well: a little more than the short side of the screen, or most of the long one. */
function wholeGlobe({ clientWidth, clientHeight }: HTMLElement): { center: [number, number]; zoom: number } {
  const acrossPx = Math.max(1.15 * Math.min(clientWidth, clientHeight), 0.8 * Math.max(clientWidth, clientHeight))
  return { center: [20, 12], zoom: Math.log2((Math.max(320, acrossPx) * Math.PI) / 512) }
}

const source = (map: maplibre.Map, id: string) => map.getSource(id) as maplibre.GeoJSONSource

function removeImage(map: maplibre.Map): void {
  if (map.getLayer('image')) map.removeLayer('image')
  if (map.getSource('image')) map.removeSource('image')
}

/** What the legend takes of a narrow screen, from above, and of a wide one, from the right. */
const LEGEND_PX = 136
const LEGEND_WIDE_PX = 310

/** Room for the panel: beside the map on wide screens, below it on narrow ones. */
function paddingOf(container: HTMLElement): maplibre.PaddingOptions {
  const panel = document.getElementById('panel')?.getBoundingClientRect()
  if (!panel) return { top: 30, right: 30, bottom: 30, left: 30 }
  const wide = container.clientWidth >= 760
  return {
    top: wide ? 40 : LEGEND_PX, // The legend lies there.
    right: wide ? Math.min(LEGEND_WIDE_PX, container.clientWidth * 0.22) : 60,
    bottom: wide ? 40 : Math.min(panel.height + 24, container.clientHeight * 0.6),
    left: wide ? panel.right + 40 : 16,
  }
}

function outlineOf(item: SharedItem): GeoJSON.Feature[] {
  const geometry = item.geometry ?? (item.bbox ? boxOf(item.bbox) : null)
  return geometry ? [{ type: 'Feature', properties: { id: item.id }, geometry }] : []
}

function boxOf([west, south, east, north]: [number, number, number, number]): GeoJSON.Geometry {
  return {
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
  }
}

/** Coarse land is replaced; borders and names are added. */
const DETAILS = { land: '/assets/world-land.json', borders: '/assets/world-borders.json', names: '/assets/world-names.json' }

function addDetails(map: maplibre.Map): void {
  for (const [name, path] of Object.entries(DETAILS)) source(map, name).setData(location.origin + path)
}

function baseStyle(colours: Palette): maplibre.StyleSpecification {
  return {
    version: 8,
    projection: { type: 'globe' },
    sources: {
      land: { type: 'geojson', data: `${location.origin}/assets/world-coarse.json`, tolerance: 0.2 },
      borders: { type: 'geojson', data: EMPTY, tolerance: 0.2 },
      names: { type: 'geojson', data: EMPTY },
      grid: { type: 'geojson', data: graticule() },
      outlines: { type: 'geojson', data: EMPTY },
    },
    layers: [
      { id: 'water', type: 'background', paint: { 'background-color': colours.water } },
      { id: 'grid', type: 'line', source: 'grid', paint: { 'line-color': colours.grid, 'line-width': 0.7 } },
      { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': colours.land, 'fill-outline-color': colours.border } },
      {
        id: 'borders',
        type: 'line',
        source: 'borders',
        paint: { 'line-color': colours.border, 'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 8, 1.4] },
      },
      {
        id: 'names',
        type: 'symbol',
        source: 'names',
        layout: {
          'text-field': ['get', 'name'],
          'text-font': ['Noto Sans Regular'],
          'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10, 6, 15],
          'text-max-width': 7,
          'symbol-sort-key': ['get', 'rank'],
        },
        paint: { 'text-color': colours.name, 'text-halo-color': colours.land, 'text-halo-width': 1.2 },
      },
      { id: 'outline-area', type: 'fill', source: 'outlines', paint: { 'fill-color': colours.line, 'fill-opacity': 0 } },
      { id: 'outline', type: 'line', source: 'outlines', paint: { 'line-color': colours.line, 'line-width': 1.2, 'line-opacity': 0.75 } },
      {
        id: 'outline-chosen',
        type: 'line',
        source: 'outlines',
        filter: ['==', ['get', 'id'], ''],
        paint: { 'line-color': colours.line, 'line-width': 2.4 },
      },
    ],
  }
}

function repaint(map: maplibre.Map, colours: Palette): void {
  map.setPaintProperty('water', 'background-color', colours.water)
  map.setPaintProperty('grid', 'line-color', colours.grid)
  map.setPaintProperty('land', 'fill-color', colours.land)
  map.setPaintProperty('land', 'fill-outline-color', colours.border)
  map.setPaintProperty('borders', 'line-color', colours.border)
  map.setPaintProperty('names', 'text-color', colours.name)
  map.setPaintProperty('names', 'text-halo-color', colours.land)
  for (const id of ['outline', 'outline-chosen']) map.setPaintProperty(id, 'line-color', colours.line)
}

/** Meridians and parallels; each is cut into short pieces, so that it bends with the globe. */
function graticule(): GeoJSON.MultiLineString {
  const range = (from: number, to: number, step: number) =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
  const meridians = range(-180, 165, GRID_STEP_DEGREES).map((x) => range(-85, 85, 5).map((y) => [x, y]))
  const parallels = range(-75, 75, GRID_STEP_DEGREES).map((y) => range(-180, 180, 5).map((x) => [x, y]))
  return { type: 'MultiLineString', coordinates: [...meridians, ...parallels] }
}
