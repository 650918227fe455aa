/**
 * A source of data tiles that a raster layer draws like any other: zooming, fading, opacity and order are those of the map library. Its
 * tiles hold samples, and their colours are drawn when the look changes, without a request.
 */
import * as maplibre from '/assets/maplibre-gl.mjs'
import { loadDataTile } from '../../api/data-tiles.ts'
import { readDataTile, type DataTile } from './data-tile.ts'
import { Styler, type Look, type StyledTile } from './styler.ts'

type Tile = Parameters<maplibre.RasterTileSource['loadTile']>[0]
type Options = maplibre.RasterSourceSpecification & {
  /** The same layer as the service renders it, for a map that is restored. */
  rendered: string
  look: Look
  /** Called once, when this cannot draw the layer as the service would. */
  onFailure: (reason: unknown) => void
}

export const LIVE_SOURCE = 'live'
/** Of what the map library knows about the context; its types leave the painter's parts out. */
interface Painter {
  context: { gl: WebGL2RenderingContext; setCustomLayerDefaults(): void; setDirty(): void }
  setBaseState(): void
}

class LiveSource extends maplibre.RasterTileSource {
  readonly #live: Pick<Options, 'rendered' | 'onFailure'>
  readonly #tiles = new Set<LiveTexture>()
  #look: Look
  /** Only what is on screen follows each movement of a handle. */
  #isPreview = false
  #frame = 0
  #checked: Look | null = null
  #styler: Styler | null = null
  #hasFailed = false

  constructor(id: string, options: maplibre.SourceSpecification, dispatcher: never, parent: never) {
    const { rendered, look, onFailure, ...raster } = options as Options
    super(id, { ...raster, type: 'raster' }, dispatcher, parent)
    this.#live = { rendered, onFailure }
    this.#look = look
  }

  setLook(look: Look, isPreview: boolean): void {
    this.#look = look
    this.#isPreview = isPreview
    for (const tile of this.#tiles) tile.isStale = true
    this.map?.triggerRepaint()
  }

  override serialize(): maplibre.RasterSourceSpecification {
    return { ...(super.serialize() as maplibre.RasterSourceSpecification), tiles: [this.#live.rendered] }
  }

  override async loadTile(tile: Tile): Promise<void> {
    const { z, x, y } = tile.tileID.canonical
    const url = this.tiles[0]!.replace('{z}', String(z)).replace('{x}', String(x)).replace('{y}', String(y))
    const abort = new AbortController()
    tile.abortController = abort
    try {
      const data = await readDataTile(await loadDataTile(url, abort.signal))
      if (abort.signal.aborted) throw abort.signal.reason
      const texture = new LiveTexture(this.#painter.context.gl, data, (shown) => this.#isShown(shown))
      this.#tiles.add(texture)
      tile.texture = texture
      tile.state = 'loaded'
    } catch (error) {
      tile.state = abort.signal.aborted ? 'unloaded' : 'errored'
      if (!abort.signal.aborted) this.#fail(error)
    } finally {
      delete (tile as { abortController?: AbortController }).abortController
    }
  }

  override async unloadTile(tile: Tile): Promise<void> {
    const texture = tile.texture as LiveTexture | undefined
    if (!texture) return
    this.#tiles.delete(texture)
    if (texture.styled) this.#styler?.release(texture.styled)
    tile.texture = undefined
  }

  override onRemove(): void {
    super.onRemove()
    for (const { styled } of this.#tiles) if (styled) this.#styler?.release(styled)
    this.#tiles.clear()
    this.#styler?.destroy()
    this.#styler = null
  }

  /** Before each frame. */
  prepare(): void {
    const shown = this.#frame++
    const isDue = (tile: LiveTexture) => tile.isStale && (!this.#isPreview || tile.styled === null || tile.frame === shown)
    const due = [...this.#tiles].filter(isDue)
    if (due.length === 0) return
    const painter = this.#painter
    painter.context.setCustomLayerDefaults()
    try {
      this.#draw(due, painter.context.gl)
    } catch (error) {
      this.#fail(error)
    }
    painter.context.setDirty()
    painter.setBaseState()
  }

  get #painter(): Painter {
    return this.map.painter as unknown as Painter
  }

  #isShown(tile: LiveTexture): void {
    tile.frame = this.#frame
    if (tile.isStale) this.map.triggerRepaint() // It came into view while a handle moves.
  }

  #draw(tiles: readonly LiveTexture[], gl: WebGL2RenderingContext): void {
    const styler = (this.#styler ??= new Styler(gl))
    for (const tile of tiles) {
      tile.styled ??= styler.upload(tile.take())
      tile.isStale = false
      styler.draw(tile.styled, this.#look)
      if (this.#isPreview || this.#checked === this.#look || tile.styled.probes.length === 0) continue
      if (!styler.isRight(tile.styled, this.#look)) throw new Error('This graphics processor computes other values than the service')
      this.#checked = this.#look
    }
  }

  #fail(reason: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    // Layers cannot be removed in the middle of a frame.
    queueMicrotask(() => this.#live.onFailure(reason))
  }
}

/** What the map library binds to draw a tile, in place of its own texture. */
class LiveTexture {
  readonly useMipmap = true
  readonly #gl: WebGL2RenderingContext
  readonly #onShown: (tile: LiveTexture) => void
  #data: DataTile | null
  styled: StyledTile | null = null
  isStale = true
  /** When it was last on screen. */
  frame = -1

  constructor(gl: WebGL2RenderingContext, data: DataTile, onShown: (tile: LiveTexture) => void) {
    this.#gl = gl
    this.#data = data
    this.#onShown = onShown
  }

  /** Samples are kept on the graphics processor only. */
  take(): DataTile {
    const data = this.#data!
    this.#data = null
    return data
  }

  get texture(): WebGLTexture | null {
    return this.styled?.colors ?? null
  }

  bind(magnified: number, wrap: number, minified: number | null): void {
    const gl = this.#gl
    this.#onShown(this)
    gl.bindTexture(gl.TEXTURE_2D, this.texture)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, magnified)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, minified ?? magnified)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, wrap)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, wrap)
  }
}

export type { LiveSource }

let registered: Promise<void> | null = null
/** Makes the source known to the map library, once. */
export const registerLiveSource = (): Promise<void> =>
  (registered ??= maplibre.addSourceType(LIVE_SOURCE, LiveSource as unknown as Parameters<typeof maplibre.addSourceType>[1]))
