/**
 * Frames over the imagery of the map, of which one is seen. The next ones are loaded while it is, and a frame takes its place only when
 * all of its tiles are drawn.
 */
import type { Box } from './geo.ts'
import { templateOf } from './raster-layer.ts'
import type { SharedMap } from './shared-map.ts'

interface FrameLayer {
  /** A template with {z}, {x} and {y}. It also names the layer. */
  tiles: string
  bounds?: Box | undefined
  attribution?: string | null
}

/** Layers that are shown together. */
export type MapFrame = readonly FrameLayer[]

/** More changes of brightness in a second could harm people with photosensitivity (WCAG 2.3.1). */
const MIN_CHANGE_MS = 334
const AHEAD = 2

const idOf = ({ tiles }: FrameLayer) => `frame ${tiles}`
const idsOf = (frame: MapFrame | null) => (frame ?? []).map(idOf)
const isSame = (one: MapFrame | null, other: MapFrame | null) => idsOf(one).join() === idsOf(other).join()

interface SourceEvent {
  sourceId?: string
}

export interface ShownFrame {
  index: number
  /** Whether some of its tiles could not be loaded. */
  hasGaps: boolean
}

export class FramePlayer {
  readonly #shared: Pick<SharedMap, 'map' | 'ready'>
  readonly #onShown: (shown: ShownFrame | null) => void
  readonly #now: () => number
  #frames: readonly MapFrame[] = []
  #target = 0
  #shown: MapFrame | null = null
  #opacity = 1
  readonly #added = new Set<string>()
  readonly #failed = new Set<string>()
  #changedAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false
  #reported = ''
  #waiting: { frame: MapFrame; resolve(): void }[] = []

  constructor(shared: Pick<SharedMap, 'map' | 'ready'>, onShown: (shown: ShownFrame | null) => void, now = () => performance.now()) {
    this.#shared = shared
    this.#now = now
    this.#onShown = onShown
    shared.map.on('sourcedata', this.#onData)
    shared.map.on('idle', this.#update)
    shared.map.on('error', this.#onError)
  }

  /** The frame that is shown stays until the one in its place can be drawn. */
  setFrames(frames: readonly MapFrame[], target: number): void {
    this.#frames = frames
    this.goTo(target)
  }

  goTo(index: number): void {
    this.#target = index
    void this.#shared.ready.then(this.#update)
  }

  /** Of whatever frame is seen, as of the layer in whose place it is. */
  setOpacity(opacity: number): void {
    this.#opacity = opacity
    if (this.#isClosed) return
    for (const id of idsOf(this.#shown)) this.#shared.map.setPaintProperty(id, 'raster-opacity', opacity)
  }

  /** Goes to a frame and resolves when it is on the map. */
  async show(index: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const frame = this.#frames[index]!
    this.goTo(index)
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      this.#waiting.push({ frame, resolve })
    })
  }

  /** Removes everything from the map. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#shared.map.off('sourcedata', this.#onData)
    this.#shared.map.off('idle', this.#update)
    this.#shared.map.off('error', this.#onError)
    for (const id of this.#added) this.#remove(id)
    this.#onShown(null)
  }

  readonly #onData = (event: object) => {
    if (this.#added.has((event as SourceEvent).sourceId ?? '')) this.#update()
  }

  readonly #onError = (event: object) => {
    const { sourceId = '' } = event as SourceEvent
    if (this.#added.has(sourceId)) this.#failed.add(sourceId)
  }

  readonly #update = (): void => {
    const target = this.#frames[this.#target]
    if (this.#isClosed || !target) return
    const wanted = new Set(idsOf(this.#shown))
    for (let ahead = 0; ahead <= AHEAD; ahead++) {
      const frame = this.#frames[(this.#target + ahead) % this.#frames.length]!
      for (const layer of frame) {
        wanted.add(idOf(layer))
        this.#add(layer)
      }
      if (!this.#isDrawn(frame)) break // One after the other, so that the next frame is not kept waiting by those after it.
    }
    for (const id of this.#added) if (!wanted.has(id)) this.#remove(id)
    if (this.#isDrawn(target)) this.#showSoon(target)
  }

  /** A tile that failed counts as drawn: it is a gap. */
  #isDrawn(frame: MapFrame): boolean {
    const { map } = this.#shared
    return !map.isMoving() && frame.every((layer) => map.isSourceLoaded(idOf(layer)))
  }

  #showSoon(frame: MapFrame): void {
    clearTimeout(this.#timer)
    if (isSame(frame, this.#shown)) return this.#report(frame)
    const waitMs = this.#changedAt + MIN_CHANGE_MS - this.#now()
    if (waitMs > 0) {
      this.#timer = setTimeout(this.#update, waitMs)
      return
    }
    const { map } = this.#shared
    for (const id of idsOf(frame)) map.setPaintProperty(id, 'raster-opacity', this.#opacity)
    for (const id of idsOf(this.#shown)) if (!idsOf(frame).includes(id)) map.setPaintProperty(id, 'raster-opacity', 0)
    this.#shown = frame
    this.#changedAt = this.#now()
    this.#report(frame)
    this.#update() // What is no longer shown can go.
  }

  #report(frame: MapFrame): void {
    const shown = { index: this.#frames.indexOf(frame), hasGaps: idsOf(frame).some((id) => this.#failed.has(id)) }
    const report = JSON.stringify([shown, idsOf(frame)])
    if (report !== this.#reported) this.#onShown(shown)
    this.#reported = report
    const reached = this.#waiting.filter((waiting) => isSame(waiting.frame, frame))
    this.#waiting = this.#waiting.filter((waiting) => !reached.includes(waiting))
    for (const { resolve } of reached) resolve()
  }

  #add(layer: FrameLayer): void {
    const id = idOf(layer)
    if (this.#added.has(id)) return
    this.#added.add(id)
    const { map } = this.#shared
    const { tiles, source } = templateOf(layer)
    map.addSource(id, { type: 'raster', tiles: [tiles], ...source })
    // Above all imagery, and below areas and marks. A layer with opacity 0 loads its tiles.
    const order = map.getLayersOrder()
    map.addLayer(
      {
        id,
        type: 'raster',
        source: id,
        paint: { 'raster-opacity': 0, 'raster-opacity-transition': { duration: 0, delay: 0 }, 'raster-fade-duration': 0 },
      },
      order[order.indexOf('above-rasters') + 1],
    )
  }

  #remove(id: string): void {
    const { map } = this.#shared
    this.#added.delete(id)
    this.#failed.delete(id)
    if (map.getLayer(id)) map.removeLayer(id)
    if (map.getSource(id)) map.removeSource(id)
  }
}
