/**
 * Layers whose style is applied here, each in place of one that the service renders. That one stays until the samples are there, and
 * returns if they cannot be drawn.
 */
import type * as maplibre from '/assets/maplibre-gl.mjs'
import { LIVE_SOURCE, registerLiveSource, type LiveSource } from './live-source.ts'
import type { Look } from './styler.ts'

/** A look that is applied here, and the template of the tiles that it is applied to. */
export interface LiveLook extends Look {
  tiles: string
}

/** A layer of the service, which exists on the map. */
interface ReplacedLayer {
  id: string
  tiles: string
  /** 0 if it is hidden. */
  opacity: number
  source: Omit<maplibre.RasterSourceSpecification, 'type' | 'tiles'>
  live: LiveLook
}

interface Shown {
  layer: ReplacedLayer
  /** The range while a handle moves. */
  preview: Look['range']
  isReady: boolean
}

/** What events of the map library have about a source; its types leave this out. */
interface SourceEvent {
  sourceId?: string
}

const liveId = (id: string) => `${id}-live`

export class LiveLayers {
  readonly #map: maplibre.Map
  readonly #onChange: () => void
  readonly #shown = new Map<string, Shown>()
  /** Templates that were given up. */
  readonly #failed = new Set<string>()
  #isLost = false

  constructor(map: maplibre.Map, onChange: () => void) {
    this.#map = map
    this.#onChange = onChange
    const onLoaded = (event: object) => {
      for (const id of this.#shown.keys()) if ((event as SourceEvent).sourceId === liveId(id)) this.#show(id)
    }
    map.on('sourcedata', onLoaded)
    map.on('idle', () => [...this.#shown.keys()].forEach((id) => this.#show(id)))
    // What is on the graphics processor is gone. The map restores its layers as the service renders them.
    map.on('webglcontextlost', () => (this.#isLost = true))
    map.on('webglcontextrestored', () => void map.once('style.load', () => this.#giveUpAll()))
  }

  static async start(map: maplibre.Map, onChange: () => void): Promise<LiveLayers> {
    await registerLiveSource()
    return new LiveLayers(map, onChange)
  }

  /** Whether the layer is drawn here, and the one of the service is hidden. */
  isReady(id: string): boolean {
    return this.#shown.get(id)?.isReady ?? false
  }

  /** Whether samples are on their way. */
  isLoading(): boolean {
    return [...this.#shown.values()].some(({ isReady }) => !isReady)
  }

  /** Directly above the layer that it replaces. Layers that are not named are removed. */
  set(layers: readonly ReplacedLayer[]): void {
    const wanted = this.#isLost ? [] : layers.filter(({ live }) => !this.#failed.has(live.tiles))
    for (const id of this.#shown.keys()) if (!wanted.some((layer) => layer.id === id)) this.#remove(id)
    for (const layer of wanted) this.#place(layer)
    for (const { id } of layers) this.#hideReplaced(id)
    this.#onChange()
  }

  /** The range while a handle moves, until the look is set; null returns to what it was. */
  preview(id: string, range: Look['range']): void {
    const shown = this.#shown.get(id)
    if (!shown || (range && range[0] >= range[1])) return
    shown.preview = range
    this.#restyle(id, shown)
  }

  #place(layer: ReplacedLayer): void {
    const { id, live, opacity } = layer
    const before = this.#shown.get(id)
    if (before && before.layer.live.tiles !== live.tiles) this.#remove(id)
    const shown = this.#shown.get(id) ?? this.#add(layer)
    const isSame = String(shown.layer.live.range) === String(live.range) && shown.layer.live.colors === live.colors
    shown.layer = layer
    if (!isSame || shown.preview) {
      shown.preview = null
      this.#restyle(id, shown)
    }
    this.#map.setPaintProperty(liveId(id), 'raster-opacity', shown.isReady ? opacity : 0)
    this.#map.moveLayer(liveId(id), layerAfter(this.#map, id))
  }

  #add(layer: ReplacedLayer): Shown {
    const { id, live, tiles, source } = layer
    const own = { ...source, type: LIVE_SOURCE, tiles: [live.tiles], rendered: tiles, look: live, onFailure: () => this.#fail(id, live) }
    this.#map.addSource(liveId(id), own as unknown as maplibre.SourceSpecification)
    const paint = { 'raster-opacity': 0, 'raster-opacity-transition': { duration: 0 }, 'raster-fade-duration': 120 }
    this.#map.addLayer({ id: liveId(id), type: 'raster', source: liveId(id), paint }, layerAfter(this.#map, id))
    const shown = { layer, preview: null, isReady: false }
    this.#shown.set(id, shown)
    return shown
  }

  #restyle(id: string, { layer: { live }, preview }: Shown): void {
    const look = { range: preview ?? live.range, colors: live.colors }
    this.#map.getSource<LiveSource>(liveId(id))?.setLook(look, preview !== null)
  }

  /** Both change in the same frame. */
  #show(id: string): void {
    const shown = this.#shown.get(id)
    if (!shown || shown.isReady || !this.#map.isSourceLoaded(liveId(id))) return
    shown.isReady = true
    this.#map.setPaintProperty(liveId(id), 'raster-opacity', shown.layer.opacity)
    this.#hideReplaced(id)
    this.#onChange()
  }

  /** A hidden layer requests no tiles. */
  #hideReplaced(id: string): void {
    if (this.#map.getLayer(id)) this.#map.setLayoutProperty(id, 'visibility', this.isReady(id) ? 'none' : 'visible')
  }

  #fail(id: string, { tiles }: LiveLook): void {
    this.#failed.add(tiles)
    if (this.#shown.get(id)?.layer.live.tiles !== tiles) return
    this.#remove(id)
    this.#onChange()
  }

  #giveUpAll(): void {
    for (const id of this.#shown.keys()) this.#remove(id)
    this.#onChange()
  }

  #remove(id: string): void {
    this.#shown.delete(id)
    if (this.#map.getLayer(liveId(id))) this.#map.removeLayer(liveId(id))
    if (this.#map.getSource(liveId(id))) this.#map.removeSource(liveId(id))
    this.#hideReplaced(id)
  }
}

/** The layer above one, whichever it is; its own live layer does not count. */
function layerAfter(map: maplibre.Map, id: string): string | undefined {
  const order = map.getLayersOrder().filter((each) => each !== liveId(id))
  return order[order.indexOf(id) + 1]
}
