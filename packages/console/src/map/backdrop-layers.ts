/** Puts a backdrop on a map, below imagery, and takes the former one away. */
import type * as maplibre from '/assets/maplibre-gl.mjs'
import { readBaseMap, type BaseMapDocument } from '../api/base-maps.ts'
import { currentTheme } from '../ui/theme.ts'
import { imageryTiles, type Backdrop } from './backdrop.ts'
import { BUILT_IN_LAYERS, BUILT_IN_NAMES } from './base-style.ts'

const SOURCE = 'backdrop-'
/** As many failed tiles in a row, and none that arrived, mean that the map cannot be used. */
const MAX_FAILURES = 4

/** What events of the map library have about a source; its types leave this out. */
interface SourceEvent {
  sourceId?: string
  tile?: unknown
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
const absolute = (path: string) => (path.startsWith('/') ? `${location.origin}${path}` : path)

export class BackdropLayers {
  readonly #map: maplibre.Map
  readonly #onFailure: () => void
  #layers: string[] = []
  #sources: string[] = []
  #sprites: string[] = []
  #failures = 0
  /** Which built-in layers are hidden. */
  #hidden: 'nothing' | 'all' | 'all but names' = 'nothing'
  #round = 0

  constructor(map: maplibre.Map, onFailure: () => void = () => undefined) {
    this.#map = map
    this.#onFailure = onFailure
    map.on('error', (event) => {
      const { sourceId } = event as SourceEvent
      if (!sourceId?.startsWith(SOURCE) || ++this.#failures !== MAX_FAILURES) return
      this.#clear()
      this.#onFailure()
    })
    map.on('sourcedata', (event) => {
      const { sourceId, tile } = event as SourceEvent
      if (sourceId?.startsWith(SOURCE) && tile) this.#failures = 0
    })
  }

  /** A base map that cannot be reached leaves the built-in one. */
  async show(backdrop: Backdrop): Promise<void> {
    const round = ++this.#round
    try {
      const document = backdrop?.kind === 'map' ? await readBaseMap(backdrop.id, currentTheme()) : null
      if (round !== this.#round) return
      this.#clear()
      if (document) this.#add(document)
      else if (backdrop) this.#addImagery(backdrop)
    } catch {
      if (round !== this.#round) return
      this.#clear()
      this.#onFailure()
    }
  }

  /** Layers of the built-in map are added when it is idle: those are hidden too. */
  hideBuiltIn(): void {
    const isShown = (id: string) => this.#hidden === 'nothing' || (this.#hidden === 'all but names' && BUILT_IN_NAMES.includes(id))
    for (const id of BUILT_IN_LAYERS)
      if (this.#map.getLayer(id)) this.#map.setLayoutProperty(id, 'visibility', isShown(id) ? 'visible' : 'none')
  }

  #clear(): void {
    for (const id of this.#layers) if (this.#map.getLayer(id)) this.#map.removeLayer(id)
    for (const id of this.#sources) if (this.#map.getSource(id)) this.#map.removeSource(id)
    for (const id of this.#sprites) this.#map.removeSprite(id)
    this.#layers = []
    this.#sources = []
    this.#sprites = []
    this.#failures = 0
    this.#hidden = 'nothing'
    this.hideBuiltIn()
  }

  #add({ sources, layers, sprites, attribution }: BaseMapDocument): void {
    for (const { id, url } of sprites) {
      this.#map.addSprite(id, absolute(url))
      this.#sprites.push(id)
    }
    for (const [index, [key, source]] of Object.entries(sources).entries()) {
      this.#map.addSource(`${SOURCE}${key}`, {
        ...ofThisService(source),
        ...(index === 0 && attribution ? { attribution: escaped(attribution) } : {}),
      } as maplibre.SourceSpecification)
      this.#sources.push(`${SOURCE}${key}`)
    }
    for (const layer of layers) {
      const own = 'source' in layer ? { ...layer, source: `${SOURCE}${String(layer.source)}` } : layer
      this.#map.addLayer(own as maplibre.LayerSpecification, layer.type === 'symbol' ? undefined : 'above-base')
      this.#layers.push(layer.id)
    }
    // Names help to find one's way on images, which have none.
    this.#hidden = layers.every(({ type }) => type === 'raster') ? 'all but names' : 'all'
    this.hideBuiltIn()
  }

  #addImagery(backdrop: NonNullable<Backdrop>): void {
    const id = `${SOURCE}imagery`
    this.#map.addSource(id, { type: 'raster', tiles: [imageryTiles(backdrop).replace('{y}.', '{y}@2x.')], tileSize: 512 })
    this.#map.addLayer({ id, type: 'raster', source: id }, 'above-base')
    this.#sources.push(id)
    this.#layers.push(id)
  }
}

function ofThisService(source: maplibre.SourceSpecification): object {
  const { tiles, data } = source as { tiles?: string[]; data?: unknown }
  return {
    ...source,
    ...(tiles ? { tiles: tiles.map(absolute) } : {}),
    ...(typeof data === 'string' ? { data: absolute(data) } : {}),
  }
}
