/** The layers of a named map in their order, with its annotations above them; for the console and for the page of a link. */
import type * as maplibre from '/assets/maplibre-gl.mjs'
import { BlendedLayer, type Blend } from './blended-layer.ts'

export interface DrawnLayer {
  id: string
  /** A template with {z}, {x} and {y}; null for a vector layer. */
  tiles: string | null
  shapes: GeoJSON.FeatureCollection | null
  colour: string
  opacity: number
  isVisible: boolean
  blend: 'normal' | Blend
  /** West, south, east, north; null for the whole world. */
  bounds: [number, number, number, number] | null
  minzoom: number
  maxzoom: number
}

interface Place {
  map: maplibre.Map
  /** Layers can be added. */
  ready: Promise<void>
  /** The layer of the map that they are drawn below. */
  below: string
  load(url: string, signal: AbortSignal): Promise<ImageBitmap | null>
}

interface Shown {
  layer: DrawnLayer
  /** Of the map library, from bottom to top. */
  ids: string[]
  blended: BlendedLayer | null
}

const ANNOTATIONS = 'map-annotations'
const EMPTY: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
const AREAS: maplibre.FilterSpecification = ['in', ['geometry-type'], ['literal', ['Polygon', 'MultiPolygon']]]
const POINTS: maplibre.FilterSpecification = ['in', ['geometry-type'], ['literal', ['Point', 'MultiPoint']]]
/** Outlines of areas too. */
const LINES: maplibre.FilterSpecification = ['!', ['in', ['geometry-type'], ['literal', ['Point', 'MultiPoint']]]]

export class MapLayers {
  readonly #place: Place
  readonly #map: maplibre.Map
  #shown = new Map<string, Shown>()
  #hasAnnotations = false
  #isCleared = false

  constructor(place: Place) {
    this.#place = place
    this.#map = place.map
  }

  /** From top to bottom. */
  show(layers: readonly DrawnLayer[]): void {
    void this.#place.ready.then(() => {
      if (this.#isCleared) return
      const wanted = new Map(layers.map((layer) => [layer.id, layer]))
      for (const [id, { layer }] of this.#shown) if (isOther(layer, wanted.get(id))) this.#remove(id)
      for (const layer of layers.toReversed()) {
        const shown = this.#shown.get(layer.id) ?? this.#add(layer)
        shown.layer = layer
        this.#paint(shown)
        for (const id of shown.ids) this.#map.moveLayer(id, this.#place.below)
      }
    })
  }

  annotate(shapes: GeoJSON.FeatureCollection): void {
    void this.#place.ready.then(() => {
      if (this.#isCleared) return
      if (!this.#hasAnnotations) this.#addAnnotations()
      this.#map.getSource<maplibre.GeoJSONSource>(ANNOTATIONS)!.setData(shapes)
    })
  }

  clear(): void {
    this.#isCleared = true
    void this.#place.ready.then(() => {
      for (const id of this.#shown.keys()) this.#remove(id)
      if (!this.#hasAnnotations) return
      for (const id of ANNOTATION_LAYERS) this.#map.removeLayer(id)
      this.#map.removeSource(ANNOTATIONS)
    })
  }

  #add(layer: DrawnLayer): Shown {
    const shown = layer.tiles === null ? this.#addShapes(layer) : this.#addTiles(layer, layer.tiles)
    this.#shown.set(layer.id, shown)
    return shown
  }

  #addTiles(layer: DrawnLayer, template: string): Shown {
    const id = `map-${layer.id}`
    const tiles = template.replace('{y}.', '{y}@2x.') // Twice the size, a quarter of the requests.
    // Tiles of twice the size have the detail of the next zoom.
    const minzoom = Math.max(0, layer.minzoom - 1)
    const maxzoom = Math.max(minzoom, layer.maxzoom - 1)
    if (layer.blend !== 'normal') {
      const { load } = this.#place
      const blended = new BlendedLayer(id, { tiles, minzoom, maxzoom, bounds: layer.bounds, load }, layer.blend)
      this.#map.addLayer(blended, this.#place.below)
      return { layer, ids: [id], blended }
    }
    const bounds = layer.bounds ? { bounds: layer.bounds } : {}
    this.#map.addSource(id, { type: 'raster', tiles: [tiles], tileSize: 512, minzoom, maxzoom, ...bounds })
    this.#map.addLayer({ id, type: 'raster', source: id, paint: { 'raster-fade-duration': 120 } }, this.#place.below)
    return { layer, ids: [id], blended: null }
  }

  #addShapes(layer: DrawnLayer): Shown {
    const source = `map-${layer.id}`
    this.#map.addSource(source, { type: 'geojson', data: layer.shapes ?? EMPTY })
    const ids = [`${source}-fill`, `${source}-line`, `${source}-point`]
    this.#map.addLayer({ id: ids[0]!, type: 'fill', source, filter: AREAS }, this.#place.below)
    this.#map.addLayer({ id: ids[1]!, type: 'line', source, filter: LINES }, this.#place.below)
    this.#map.addLayer({ id: ids[2]!, type: 'circle', source, filter: POINTS }, this.#place.below)
    return { layer, ids, blended: null }
  }

  #paint({ layer, ids, blended }: Shown): void {
    const opacity = layer.isVisible ? layer.opacity : 0
    if (blended && layer.blend !== 'normal') return blended.set(opacity, layer.blend)
    if (layer.tiles !== null) return void this.#map.setPaintProperty(ids[0]!, 'raster-opacity', opacity)
    const paint: [string, string, string | number][] = [
      [ids[0]!, 'fill-color', layer.colour],
      [ids[0]!, 'fill-opacity', opacity * 0.25],
      [ids[1]!, 'line-color', layer.colour],
      [ids[1]!, 'line-width', 2],
      [ids[1]!, 'line-opacity', opacity],
      [ids[2]!, 'circle-color', layer.colour],
      [ids[2]!, 'circle-radius', 5],
      [ids[2]!, 'circle-opacity', opacity],
    ]
    for (const [id, name, value] of paint) this.#map.setPaintProperty(id, name as 'fill-color', value as string)
    this.#map.getSource<maplibre.GeoJSONSource>(`map-${layer.id}`)!.setData(layer.shapes ?? EMPTY)
  }

  #remove(id: string): void {
    for (const each of this.#shown.get(id)?.ids ?? []) if (this.#map.getLayer(each)) this.#map.removeLayer(each)
    if (this.#map.getSource(`map-${id}`)) this.#map.removeSource(`map-${id}`)
    this.#shown.delete(id)
  }

  /** Texts are drawn by the map library as text. */
  #addAnnotations(): void {
    this.#hasAnnotations = true
    const source = ANNOTATIONS
    const colour: maplibre.ExpressionSpecification = ['get', 'colour']
    this.#map.addSource(source, { type: 'geojson', data: EMPTY })
    const [fill, line, point, text] = ANNOTATION_LAYERS
    const paint = { 'fill-color': colour, 'fill-opacity': 0.15 }
    this.#map.addLayer({ id: fill, type: 'fill', source, filter: AREAS, paint })
    const stroke = { 'line-color': colour, 'line-width': 2.5 }
    this.#map.addLayer({ id: line, type: 'line', source, filter: LINES, paint: stroke })
    const dot = { 'circle-color': colour, 'circle-radius': 6, 'circle-stroke-color': '#ffffff', 'circle-stroke-width': 2 }
    this.#map.addLayer({ id: point, type: 'circle', source, filter: POINTS, paint: dot })
    this.#map.addLayer({
      id: text,
      type: 'symbol',
      source,
      layout: {
        'text-field': ['get', 'text'],
        'text-font': ['Noto Sans Regular'],
        'text-size': 13,
        'text-anchor': 'top',
        'text-offset': [0, 0.8],
        'text-max-width': 14,
      },
      paint: { 'text-color': '#14202b', 'text-halo-color': '#ffffff', 'text-halo-width': 1.6 },
    })
  }
}

const ANNOTATION_LAYERS = ['annotation-fill', 'annotation-line', 'annotation-point', 'annotation-text'] as const

/** Whether a layer must be made anew: its tiles are others, or it is drawn in another way. */
const isOther = (before: DrawnLayer, after: DrawnLayer | undefined): boolean =>
  !after ||
  before.tiles !== after.tiles ||
  (before.blend === 'normal') !== (after.blend === 'normal') ||
  String(before.bounds) !== String(after.bounds)
