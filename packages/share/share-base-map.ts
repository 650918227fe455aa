/**
 * What the map has beside coarse land: relief, rivers, lakes, borders and places near by, and a choice of the operator's base maps.
 * It is loaded after the imagery, which never waits for it.
 */
import type * as maplibre from '/assets/maplibre-gl.mjs'

export interface BaseColours {
  water: string
  land: string
  border: string
  name: string
}

const DETAIL_ZOOM = 3
const MAX_TILE_ZOOM = 6
const MAX_RELIEF_ZOOM = 5
const SOURCE = 'base-'
const KEPT = 'gt-share-base-map'
/** Image and outlines are above this layer. */
const ABOVE = 'outline-area'
const BUILT_IN = ['grid', 'land', 'borders', 'names', 'land-near', 'relief', 'lakes', 'rivers', 'regions', 'borders-near', 'place-names']
const NAMES = ['borders-near', 'place-names']

type Layers = maplibre.StyleSpecification['layers']

const asset = (path: string) => `${location.origin}/assets/${path}`
const byZoom = (...stops: number[]): maplibre.ExpressionSpecification => ['interpolate', ['linear'], ['zoom'], ...stops]

function detailLayers({ water, land, border, name }: BaseColours): Layers {
  const world = { source: 'world', minzoom: DETAIL_ZOOM }
  const line = (id: string, layer: string, colour: string, width: maplibre.ExpressionSpecification) =>
    ({ id, type: 'line', ...world, 'source-layer': layer, paint: { 'line-color': colour, 'line-width': width } }) as const
  return [
    { id: 'land-near', type: 'fill', ...world, 'source-layer': 'land', paint: { 'fill-color': land } },
    { id: 'relief', type: 'raster', source: 'relief', paint: { 'raster-opacity': byZoom(2, 0.15, 5, 0.35, 9, 0.3, 12, 0) } },
    { id: 'lakes', type: 'fill', ...world, 'source-layer': 'lakes', paint: { 'fill-color': water } },
    line('rivers', 'rivers', water, byZoom(3, 0.5, 10, 2.2)),
    line('regions', 'regions', border, byZoom(4, 0.4, 10, 1.2)),
    line('borders-near', 'borders', border, byZoom(3, 0.7, 10, 2)),
    {
      id: 'place-names',
      type: 'symbol',
      ...world,
      'source-layer': 'places',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': ['Noto Sans Regular'],
        'text-size': byZoom(3, 11, 10, 15),
        'text-max-width': 7,
        'symbol-sort-key': ['get', 'rank'],
      },
      paint: { 'text-color': name, 'text-halo-color': land, 'text-halo-width': 1.3 },
    },
  ]
}

const below = (map: maplibre.Map) => (map.getLayer('image') ? 'image' : ABOVE)

export function addNearDetails(map: maplibre.Map, colours: BaseColours): void {
  if (map.getSource('world')) return
  map.addSource('relief', {
    type: 'raster',
    tiles: [asset('basemap/relief/{z}/{x}/{y}')],
    tileSize: 256,
    minzoom: 2,
    maxzoom: MAX_RELIEF_ZOOM,
  })
  map.addSource('world', { type: 'vector', tiles: [asset('basemap/world/{z}/{x}/{y}')], minzoom: DETAIL_ZOOM, maxzoom: MAX_TILE_ZOOM })
  for (const layer of detailLayers(colours)) map.addLayer(layer, layer.type === 'symbol' ? undefined : 'borders')
}

export function repaintNearDetails(map: maplibre.Map, colours: BaseColours): void {
  if (!map.getSource('world')) return
  for (const layer of detailLayers(colours))
    for (const [name, value] of Object.entries(layer.paint ?? {}))
      map.setPaintProperty(layer.id, name as Parameters<typeof map.setPaintProperty>[1], value)
}

interface BaseMap {
  id: string
  name: string
}

interface Document {
  sources: Record<string, { tiles?: string[]; data?: unknown }>
  layers: maplibre.LayerSpecification[]
  sprites: { id: string; url: string }[]
  attribution: string
}

/** A list of the operator's base maps over the map, if there are any; what was chosen is remembered in this browser. */
export async function offerBaseMaps(map: maplibre.Map, theme: () => 'light' | 'dark'): Promise<void> {
  const response = await fetch('/assets/maps')
  const { maps } = response.ok ? ((await response.json()) as { maps: BaseMap[] }) : { maps: [] }
  if (maps.length === 0) return
  const label = document.createElement('label')
  label.className = 'maplibregl-ctrl maplibregl-ctrl-group base-map-choice'
  const select = document.createElement('select')
  select.setAttribute('aria-label', 'Base map')
  for (const { id, name } of [{ id: '', name: 'Built-in map' }, ...maps]) select.add(new Option(name, id))
  const notice = document.createElement('span')
  notice.setAttribute('role', 'status')
  label.append(select, notice)
  let shown: string[] = []
  const clear = () => {
    for (const id of shown) if (map.getLayer(id)) map.removeLayer(id)
    for (const id of Object.keys(map.getStyle().sources)) if (id.startsWith(SOURCE)) map.removeSource(id)
    shown = []
  }
  const show = async () => {
    const { value } = select
    localStorage.setItem(KEPT, value)
    notice.textContent = ''
    const document = value ? await readStyle(value, theme()) : null
    if (select.value !== value) return
    clear()
    if (value && !document) notice.textContent = `${maps.find(({ id }) => id === value)!.name} is unavailable.`
    if (document) shown = addStyle(map, document)
    const isRaster = document?.layers.every(({ type }) => type === 'raster') === true
    for (const id of BUILT_IN)
      if (map.getLayer(id)) map.setLayoutProperty(id, 'visibility', !document || (isRaster && NAMES.includes(id)) ? 'visible' : 'none')
  }
  select.addEventListener('change', () => void show())
  map.addControl({ onAdd: () => label, onRemove: () => label.remove() }, 'top-right')
  const kept = localStorage.getItem(KEPT)
  if (!kept || !maps.some(({ id }) => id === kept)) return
  select.value = kept
  await show()
}

async function readStyle(id: string, theme: string): Promise<Document | null> {
  const response = await fetch(`/assets/maps/${encodeURIComponent(id)}/style?theme=${theme}`).catch(() => null)
  return response?.ok ? ((await response.json()) as Document) : null
}

const absolute = (path: string) => (path.startsWith('/') ? location.origin + path : path)
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Returns the IDs of its layers. */
function addStyle(map: maplibre.Map, { sources, layers, sprites, attribution }: Document): string[] {
  for (const { id, url } of sprites) {
    if (map.getSprite().some((sprite) => sprite.id === id)) map.removeSprite(id)
    map.addSprite(id, absolute(url))
  }
  for (const [index, [key, source]] of Object.entries(sources).entries())
    map.addSource(SOURCE + key, {
      ...source,
      ...(source.tiles ? { tiles: source.tiles.map(absolute) } : {}),
      ...(typeof source.data === 'string' ? { data: absolute(source.data) } : {}),
      ...(index === 0 && attribution ? { attribution: escaped(attribution) } : {}),
    } as maplibre.SourceSpecification)
  return layers.map((layer) => {
    const own = 'source' in layer ? { ...layer, source: SOURCE + String(layer.source) } : layer
    map.addLayer(own as maplibre.LayerSpecification, layer.type === 'symbol' ? undefined : below(map))
    return layer.id
  })
}
