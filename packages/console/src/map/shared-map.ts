/** One map for all screens. Each says what is on it; the camera and loaded tiles stay when the screen changes. */
import * as maplibre from '/assets/maplibre-gl.mjs'
import { currentToken } from '../api/session.ts'
import { currentTheme, onTheme } from '../ui/theme.ts'
import { whenIdle } from '../ui/when-idle.ts'
import slotStyles from './map-slot.module.css'
import { currentBackdrop, onBackdrop, setUnavailable, backdropName, knownBaseMaps } from './backdrop.ts'
import { BackdropLayers } from './backdrop-layers.ts'
import { addDetails, baseStyle, paintFills, repaint } from './base-style.ts'
import { boxOf, type Box, type Position } from './geo.ts'
import type { LiveLayers, LiveLook } from './live/live-layers.ts'
import { templateOf, twice, type RasterLayer } from './raster-layer.ts'

interface Footprint {
  id: string
  geometry: GeoJSON.Geometry | null
  colour?: string
}

export interface Picture {
  id: string
  url: string
  /** Corners from the top left, clockwise. */
  corners: [Position, Position, Position, Position]
}

const EMPTY: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
const MAX_FOOTPRINTS = 2_000

const STYLE_SHEET = '/assets/maplibre-gl.css'

/** Loaded before our own rules, which override it; without it, a map measures itself wrongly. */
function loadStyles(): Promise<void> {
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = STYLE_SHEET
  document.head.prepend(link)
  return new Promise((resolve) => {
    link.onload = () => resolve()
    link.onerror = () => resolve()
  })
}
await loadStyles()

/** Requests of a map to this service carry the token of the session; others never do. */
export const authorizeTiles: maplibre.RequestTransformFunction = (url) => {
  const token = currentToken()
  const isOurs = url.startsWith(`${location.origin}/api/`)
  return { url, ...(isOurs && token ? { headers: { Authorization: `Bearer ${token}` } } : {}) }
}

const opacityOf = ({ visible, isCovered, opacity }: RasterLayer) => (visible === false || isCovered ? 0 : (opacity ?? 1))

class SharedMap {
  readonly element = document.createElement('div')
  readonly map: maplibre.Map
  /** Layers can be added. The base map may still be loading. */
  readonly ready: Promise<void>
  #rasters: RasterLayer[] = []
  /** Loaded when the first layer needs it. */
  #live: Promise<LiveLayers> | null = null
  #pictures = new Map<string, string>()
  #isHeatMap = false
  #footprintCount = 0
  #hovered: string | null = null
  #selected = new Set<string>()

  constructor() {
    this.element.className = slotStyles.sharedMap!
    this.map = new maplibre.Map({
      container: this.element,
      style: baseStyle(currentTheme()),
      center: [134, -25],
      zoom: 3.2,
      maxZoom: 22,
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      transformRequest: authorizeTiles,
    })
    this.map.touchZoomRotate.disableRotation()
    this.map.addControl(new maplibre.ScaleControl({ unit: 'metric' }), 'bottom-left')
    this.map.addControl(
      new maplibre.AttributionControl({ compact: true, customAttribution: 'Base map: Natural Earth. Places: GeoNames, CC BY 4.0' }),
      'bottom-right',
    )
    const canvas = this.map.getCanvas()
    canvas.setAttribute('role', 'application')
    canvas.setAttribute(
      'aria-label',
      'Map. Use the arrow keys to move and plus and minus to zoom. The lists beside it have the same content.',
    )
    this.ready = new Promise((resolve) => this.map.once('style.load', () => resolve()))
    const backdrop = new BackdropLayers(this.map, () => setUnavailable(backdropName(currentBackdrop(), knownBaseMaps())))
    this.map.once('idle', () =>
      whenIdle(() => {
        addDetails(this.map, currentTheme())
        backdrop.hideBuiltIn()
      }),
    )
    const showBackdrop = () => void this.ready.then(() => backdrop.show(currentBackdrop()))
    onBackdrop(showBackdrop)
    if (currentBackdrop()) showBackdrop()
    this.map.on('error', () => undefined) // A tile that fails is a gap; it must not fill the console.
    this.map.on('movestart', () => this.element.setAttribute('aria-busy', 'true'))
    this.map.on('dataloading', () => this.element.setAttribute('aria-busy', 'true'))
    this.map.on('idle', () => this.element.setAttribute('aria-busy', 'false'))
    void this.ready.then(() => this.element.querySelector('.maplibregl-ctrl-attrib')?.classList.remove('maplibregl-compact-show'))
    onTheme(
      () =>
        void this.ready.then(() => {
          repaint(this.map, currentTheme())
          if (currentBackdrop()?.kind === 'map') void backdrop.show(currentBackdrop())
        }),
    )
    new ResizeObserver(() => this.map.resize()).observe(this.element)
  }

  setRasters(layers: RasterLayer[]): void {
    void this.ready.then(() => {
      const wanted = new Map(layers.map((layer) => [layer.id, layer]))
      for (const { id, tiles } of this.#rasters) if (wanted.get(id)?.tiles !== tiles) this.#removeRaster(id)
      for (const layer of layers) {
        if (!this.map.getSource(layer.id)) this.#addRaster(layer)
        this.map.setPaintProperty(layer.id, 'raster-opacity', opacityOf(layer))
        this.map.moveLayer(layer.id, 'above-rasters')
      }
      this.#rasters = layers
      this.#paintFills()
      void this.#setLive()
    })
  }

  /** Shows a layer with another range while a handle moves, until its look is set; null returns to what it was. */
  previewRange(id: string, range: LiveLook['range']): void {
    void this.#live?.then((live) => live.preview(id, range))
  }

  async #setLive(): Promise<void> {
    const isWanted = this.#rasters.some(({ live }) => live)
    if (!this.#live && !isWanted) return
    this.#live ??= import('./live/live-layers.ts').then(({ LiveLayers }) =>
      LiveLayers.start(this.map, () => void this.#live?.then((live) => this.#showLive(live))),
    )
    const live = await this.#live
    live.set(
      this.#rasters.flatMap((layer) =>
        layer.live
          ? [{ ...layer, ...templateOf(layer), live: { ...layer.live, tiles: twice(layer.live.tiles) }, opacity: opacityOf(layer) }]
          : [],
      ),
    )
  }

  /** Says which layers are drawn here, for whoever looks at the page from outside. */
  #showLive(live: LiveLayers): void {
    const drawn = this.#rasters.flatMap(({ id }) => (live.isReady(id) ? [id] : []))
    this.element.dataset['live'] = live.isLoading() ? 'loading' : drawn.join(' ')
  }

  #paintFills(): void {
    const hasImagery = this.#pictures.size > 0 || this.#rasters.some(({ visible, opacity }) => visible !== false && opacity !== 0)
    paintFills(this.map, { footprints: this.#footprintCount, isHeatMap: this.#isHeatMap, hasImagery })
  }

  #addRaster(layer: RasterLayer): void {
    const { id } = layer
    const { tiles, source } = templateOf(layer)
    this.map.addSource(id, { type: 'raster', tiles: [tiles], ...source })
    this.map.addLayer({ id, type: 'raster', source: id, paint: { 'raster-fade-duration': 120 } }, 'above-rasters')
  }

  #removeRaster(id: string): void {
    if (this.map.getLayer(id)) this.map.removeLayer(id)
    if (this.map.getSource(id)) this.map.removeSource(id)
  }

  setPictures(pictures: readonly Picture[]): void {
    void this.ready.then(() => {
      for (const [id, url] of this.#pictures) {
        if (pictures.some((picture) => picture.id === id && picture.url === url)) continue
        this.#removeRaster(`picture-${id}`)
        this.#pictures.delete(id)
      }
      for (const { id, url, corners } of pictures) {
        if (this.#pictures.has(id)) continue
        this.#pictures.set(id, url)
        this.map.addSource(`picture-${id}`, { type: 'image', url, coordinates: corners })
        this.map.addLayer({ id: `picture-${id}`, type: 'raster', source: `picture-${id}` }, 'above-rasters')
      }
      this.#paintFills()
    })
  }

  /** As a heat map, overlaps are darker, and only footprints that are hovered or selected have outlines. */
  setFootprints(footprints: readonly Footprint[], { isHeatMap = false } = {}): void {
    void this.ready.then(() => {
      const features = footprints
        .slice(0, MAX_FOOTPRINTS)
        .flatMap(({ id, geometry, colour }): GeoJSON.Feature[] =>
          geometry ? [{ type: 'Feature', properties: { id, colour: colour ?? null }, geometry }] : [],
        )
      this.#source('footprints').setData({ type: 'FeatureCollection', features })
      this.#footprintCount = features.length
      this.#isHeatMap = isHeatMap
      this.#paintFills()
      this.#hovered = null
      for (const id of this.#selected) this.map.setFeatureState({ source: 'footprints', id }, { selected: true })
    })
  }

  setHovered(id: string | null): void {
    void this.ready.then(() => {
      if (id === this.#hovered) return
      if (this.#hovered) this.map.setFeatureState({ source: 'footprints', id: this.#hovered }, { hovered: false })
      if (id) this.map.setFeatureState({ source: 'footprints', id }, { hovered: true })
      this.#hovered = id
    })
  }

  setSelected(ids: readonly string[]): void {
    void this.ready.then(() => {
      for (const id of this.#selected) this.map.setFeatureState({ source: 'footprints', id }, { selected: false })
      for (const id of ids) this.map.setFeatureState({ source: 'footprints', id }, { selected: true })
      this.#selected = new Set(ids)
    })
  }

  setArea(geometry: GeoJSON.Geometry | null): void {
    void this.ready.then(() => this.#source('area').setData(geometry ? { type: 'Feature', properties: {}, geometry } : EMPTY))
  }

  /** The part of the area that is covered, for example by the scenes of an order. */
  setCoverage(geometry: GeoJSON.Geometry | null): void {
    void this.ready.then(() => this.#source('coverage').setData(geometry ? { type: 'Feature', properties: {}, geometry } : EMPTY))
  }

  /** Small marks, for example pinned pixels. */
  setPoints(points: readonly Position[]): void {
    void this.ready.then(() =>
      this.#source('points').setData({
        type: 'FeatureCollection',
        features: points.map((at) => ({ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: at } })),
      }),
    )
  }

  fit(box: Box | null | undefined, options: { animate?: boolean; maxZoom?: number; padding?: maplibre.PaddingOptions } = {}): void {
    if (!box) return
    const [west, south, east, north] = box
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
    this.map.fitBounds([west, south, east < west ? east + 360 : east, north], {
      padding: options.padding ?? this.padding(),
      maxZoom: options.maxZoom ?? 17,
      animate: (options.animate ?? true) && !isCalm,
      duration: 700,
    })
  }

  fitGeometry(geometry: GeoJSON.Geometry | null | undefined): void {
    this.fit(boxOf(geometry))
  }

  /** Keeps what is shown clear of panels over the map; on phones, of the sheet. */
  padding(): maplibre.PaddingOptions {
    const { clientWidth, clientHeight } = this.element
    if (clientWidth < 760) return { top: 66, left: 24, right: 24, bottom: Math.round(clientHeight * 0.58) }
    return { top: 70, left: 50, right: 70, bottom: Math.min(150, Math.round(clientHeight * 0.25)) }
  }

  footprintsAt(point: maplibre.PointLike): string[] {
    const features = this.map.queryRenderedFeatures(point, { layers: ['footprint-area'] })
    return [...new Set(features.map(({ properties }) => String(properties['id'])))]
  }

  viewBox(): Box {
    const bounds = this.map.getBounds()
    const clamp = (value: number, limit: number) => Math.max(-limit, Math.min(limit, value))
    return [clamp(bounds.getWest(), 180), clamp(bounds.getSouth(), 85), clamp(bounds.getEast(), 180), clamp(bounds.getNorth(), 85)]
  }

  clear(): void {
    this.setRasters([])
    this.setPictures([])
    this.setFootprints([])
    this.setArea(null)
    this.setCoverage(null)
    this.setPoints([])
    this.setSelected([])
  }

  #source(id: string): maplibre.GeoJSONSource {
    return this.map.getSource(id) as maplibre.GeoJSONSource
  }
}

let shared: SharedMap | null = null
export type { SharedMap }

export function sharedMap(): SharedMap {
  shared ??= new SharedMap()
  return shared
}
