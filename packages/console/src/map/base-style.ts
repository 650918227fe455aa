/**
 * The base map: land, water, borders, relief and names, served by this service and by no other. Coarse land comes first; details
 * are loaded when the map is idle, so that imagery never waits for them.
 */
import type * as maplibre from '/assets/maplibre-gl.mjs'

const PALETTES = {
  light: { water: '#d3e2e8', land: '#f0f2ee', border: '#b9c6c4', river: '#a9c6d2', grid: '#c4d6dd', line: '#0b6e7f', name: '#43535c' },
  dark: { water: '#0c171d', land: '#202e35', border: '#3b4e57', river: '#16303a', grid: '#15232b', line: '#55c4d6', name: '#a9bac3' },
} as const

const GRID_STEP_DEGREES = 15
const SIGNAL = '#f2a33a'
/** The part of the area that the cart covers. */
const COVERED = '#2f9e62'
const EMPTY: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
type Theme = keyof typeof PALETTES
type Paint = maplibre.StyleSpecification['layers']

export function baseStyle(theme: Theme): maplibre.StyleSpecification {
  return {
    version: 8,
    sources: {
      land: { type: 'geojson', data: asset('world-coarse.json'), tolerance: 0.2 },
      borders: { type: 'geojson', data: EMPTY, tolerance: 0.2 },
      grid: { type: 'geojson', data: graticule() },
      footprints: { type: 'geojson', data: EMPTY, promoteId: 'id' },
      coverage: { type: 'geojson', data: EMPTY },
      area: { type: 'geojson', data: EMPTY },
      points: { type: 'geojson', data: EMPTY },
    },
    layers: [...baseLayers(theme), ...overlays(theme)],
  }
}

const asset = (name: string) => `${location.origin}/assets/${name}`

/** Further out, the coarse map has all there is to see. */
const DETAIL_ZOOM = 3
/** Of the prepared tiles; further in, the map library magnifies them. */
const MAX_TILE_ZOOM = 6
const MAX_RELIEF_ZOOM = 5

/** Replaces coarse land, and adds borders; closer, adds relief, rivers, lakes, borders of regions and places. */
export function addDetails(map: maplibre.Map, theme: Theme): void {
  for (const name of ['land', 'borders']) (map.getSource(name) as maplibre.GeoJSONSource).setData(asset(`world-${name}.json`))
  map.addSource('relief', {
    type: 'raster',
    tiles: [asset('basemap/relief/{z}/{x}/{y}')],
    tileSize: 256,
    minzoom: 2,
    maxzoom: MAX_RELIEF_ZOOM,
  })
  map.addSource('world', {
    type: 'vector',
    tiles: [asset('basemap/world/{z}/{x}/{y}')],
    minzoom: DETAIL_ZOOM,
    maxzoom: MAX_TILE_ZOOM,
  })
  for (const layer of detailLayers(theme)) map.addLayer(layer, layer.type === 'symbol' ? undefined : 'borders')
}

/** What another base map replaces; water stays as the ground where that has none. */
export const BUILT_IN_NAMES = ['place-names', 'borders-near']
const BUILT_IN_GROUND = ['grid', 'land', 'borders', 'land-near', 'relief', 'lakes', 'rivers', 'regions', 'river-names', 'lake-names']
export const BUILT_IN_LAYERS = [...BUILT_IN_GROUND, ...BUILT_IN_NAMES]

const byZoom = (...stops: number[]): maplibre.ExpressionSpecification => ['interpolate', ['linear'], ['zoom'], ...stops]

/** Between land and imagery; names are above everything. */
function detailLayers(theme: Theme): Paint {
  const colours = PALETTES[theme]
  const world = { source: 'world', minzoom: DETAIL_ZOOM }
  const halo = { 'text-color': colours.name, 'text-halo-color': colours.land, 'text-halo-width': 1.3 }
  const font = { 'text-font': ['Noto Sans Regular'], 'text-field': ['get', 'name'] as maplibre.ExpressionSpecification }
  return [
    { id: 'land-near', type: 'fill', ...world, 'source-layer': 'land', paint: { 'fill-color': colours.land } },
    {
      id: 'relief',
      type: 'raster',
      source: 'relief',
      paint: { 'raster-opacity': byZoom(2, 0.15, 5, 0.35, 9, 0.3, 12, 0), 'raster-fade-duration': 120 },
    },
    { id: 'lakes', type: 'fill', ...world, 'source-layer': 'lakes', paint: { 'fill-color': colours.water } },
    {
      id: 'rivers',
      type: 'line',
      ...world,
      'source-layer': 'rivers',
      paint: { 'line-color': colours.river, 'line-width': byZoom(3, 0.5, 10, 2.2) },
    },
    {
      id: 'regions',
      type: 'line',
      ...world,
      minzoom: 4,
      'source-layer': 'regions',
      paint: { 'line-color': colours.border, 'line-width': byZoom(4, 0.4, 10, 1.2), 'line-dasharray': [3, 2] },
    },
    {
      id: 'borders-near',
      type: 'line',
      ...world,
      'source-layer': 'borders',
      paint: { 'line-color': colours.border, 'line-width': byZoom(3, 0.7, 10, 2) },
    },
    {
      id: 'river-names',
      type: 'symbol',
      ...world,
      minzoom: 5,
      'source-layer': 'rivers',
      layout: { ...font, 'symbol-placement': 'line', 'text-size': 11, 'symbol-spacing': 400 },
      paint: { ...halo, 'text-opacity': 0.85 },
    },
    {
      id: 'lake-names',
      type: 'symbol',
      ...world,
      minzoom: 5,
      'source-layer': 'lakes',
      layout: { ...font, 'text-size': 11, 'text-max-width': 7 },
      paint: { ...halo, 'text-halo-color': colours.water },
    },
    {
      id: 'place-names',
      type: 'symbol',
      ...world,
      'source-layer': 'places',
      layout: {
        ...font,
        'text-size': [
          'interpolate',
          ['linear'],
          ['zoom'],
          3,
          ['case', ['get', 'capital'], 12, 11],
          10,
          ['case', ['get', 'capital'], 17, 14],
        ],
        'text-max-width': 7,
        'symbol-sort-key': ['get', 'rank'],
      },
      paint: halo,
    },
  ]
}

function baseLayers(theme: Theme): Paint {
  const colours = PALETTES[theme]
  return [
    { id: 'water', type: 'background', paint: { 'background-color': colours.water } },
    { id: 'grid', type: 'line', source: 'grid', paint: { 'line-color': colours.grid, 'line-width': 0.7 } },
    { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': colours.land, 'fill-outline-color': colours.border } },
    {
      id: 'borders',
      type: 'line',
      source: 'borders',
      paint: { 'line-color': colours.border, 'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.5, 8, 1.4] },
    },
    // The operator's base map and a backdrop are inserted below this layer.
    { id: 'above-base', type: 'background', layout: { visibility: 'none' } },
    // Imagery is inserted below this layer, overlays are above it.
    { id: 'above-rasters', type: 'background', layout: { visibility: 'none' } },
  ]
}

const state = (name: string, on: number, off: number): maplibre.ExpressionSpecification => [
  'case',
  ['boolean', ['feature-state', name], false],
  on,
  off,
]

const FILL = 0.05
/** The first footprint of a heat map, which has no outlines to show it. */
const HEAT_FILL = 0.22
/** Where all footprints overlap: they show how much is covered, and the map stays visible. */
const MAX_TINT = 0.3
const MAX_HEAT = 0.6
/** Footprints that overlap add up to at most this tint. */
const fillOf = (fill: number, most: number, footprints: number) => Math.min(fill, 1 - (1 - most) ** (1 / Math.max(1, footprints)))
const fillOpacity = (footprints: number, isHeatMap: boolean) =>
  state('hovered', 0.16, isHeatMap ? fillOf(HEAT_FILL, MAX_HEAT, footprints) : fillOf(FILL, MAX_TINT, footprints))
/** With more footprints than this, only those that are hovered or selected have a clear outline. */
const MAX_OUTLINED = 24
const lineOpacity = (footprints: number, isHeatMap: boolean): maplibre.ExpressionSpecification => [
  'case',
  ['any', ['boolean', ['feature-state', 'hovered'], false], ['boolean', ['feature-state', 'selected'], false]],
  1,
  isHeatMap ? 0 : footprints > MAX_OUTLINED ? 0.2 : 0.8,
]
const AREA_FILL = 0.08

interface Fills {
  footprints: number
  /** Only hovered and selected footprints have outlines. */
  isHeatMap: boolean
  hasImagery: boolean
}

/** Footprints and areas over imagery are outlines, so that it keeps its colours. */
export function paintFills(map: maplibre.Map, { footprints, isHeatMap, hasImagery }: Fills): void {
  map.setPaintProperty('footprint-area', 'fill-opacity', hasImagery ? 0 : fillOpacity(footprints, isHeatMap))
  map.setPaintProperty('footprint', 'line-opacity', lineOpacity(footprints, isHeatMap))
  map.setPaintProperty('area-fill', 'fill-opacity', hasImagery ? 0 : AREA_FILL)
}

/** A light stroke over a dark one is visible on any imagery, in either theme. */
function overlays(theme: Theme): Paint {
  const colour: maplibre.ExpressionSpecification = ['coalesce', ['get', 'colour'], PALETTES[theme].line]
  const hover: maplibre.ExpressionSpecification = ['case', ['boolean', ['feature-state', 'hovered'], false], SIGNAL, colour]
  return [
    {
      id: 'footprint-area',
      type: 'fill',
      source: 'footprints',
      paint: { 'fill-color': hover, 'fill-opacity': fillOpacity(0, false) },
    },
    {
      id: 'footprint',
      type: 'line',
      source: 'footprints',
      paint: { 'line-color': hover, 'line-width': state('selected', 2.6, 1.1), 'line-opacity': lineOpacity(0, false) },
    },
    { id: 'coverage-fill', type: 'fill', source: 'coverage', paint: { 'fill-color': COVERED, 'fill-opacity': 0.28 } },
    { id: 'coverage-line', type: 'line', source: 'coverage', paint: { 'line-color': COVERED, 'line-width': 1.5 } },
    { id: 'area-under', type: 'line', source: 'area', paint: { 'line-color': '#2b1a00', 'line-width': 4, 'line-opacity': 0.55 } },
    { id: 'area-fill', type: 'fill', source: 'area', paint: { 'fill-color': SIGNAL, 'fill-opacity': AREA_FILL } },
    { id: 'area-line', type: 'line', source: 'area', paint: { 'line-color': SIGNAL, 'line-width': 2 } },
    {
      id: 'points',
      type: 'circle',
      source: 'points',
      paint: { 'circle-radius': 5, 'circle-color': '#ffffff', 'circle-stroke-color': '#13202a', 'circle-stroke-width': 2 },
    },
  ]
}

export function repaint(map: maplibre.Map, theme: Theme): void {
  const colours = PALETTES[theme]
  map.setPaintProperty('water', 'background-color', colours.water)
  map.setPaintProperty('grid', 'line-color', colours.grid)
  map.setPaintProperty('land', 'fill-color', colours.land)
  map.setPaintProperty('land', 'fill-outline-color', colours.border)
  map.setPaintProperty('borders', 'line-color', colours.border)
  for (const layer of map.getSource('world') ? detailLayers(theme) : [])
    for (const [name, value] of Object.entries(layer.paint ?? {}))
      map.setPaintProperty(layer.id, name as Parameters<typeof map.setPaintProperty>[1], value)
  for (const layer of overlays(theme)) {
    if (layer.id === 'footprint-area')
      map.setPaintProperty(layer.id, 'fill-color', (layer as maplibre.FillLayerSpecification).paint!['fill-color'])
    if (layer.id === 'footprint')
      map.setPaintProperty(layer.id, 'line-color', (layer as maplibre.LineLayerSpecification).paint!['line-color'])
  }
}

function graticule(): GeoJSON.MultiLineString {
  const range = (from: number, to: number, step: number) =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
  const meridians = range(-180, 165, GRID_STEP_DEGREES).map((x) => range(-85, 85, 5).map((y) => [x, y]))
  const parallels = range(-75, 75, GRID_STEP_DEGREES).map((y) => range(-180, 180, 5).map((x) => [x, y]))
  return { type: 'MultiLineString', coordinates: [...meridians, ...parallels] }
}
