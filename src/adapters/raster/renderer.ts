import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { canonicalJson } from '#core/canonical.ts'
import { tenantOf } from '#core/tenant.ts'
import type { ConditionalOptions, RenderedImage, MosaicLayer, MosaicRequest, RasterSource, SeriesScene } from '#ports/raster.ts'
import { LoadingCache, type CacheMetrics } from '#raster/cache.ts'
import { MEDIA_TYPES } from '#raster/encode/format.ts'
import type { TileAddress } from '#raster/warp/mercator.ts'
import type { RasterPool } from '#raster/pool/pool.ts'
import { RasterError } from '#raster/types.ts'
import type { SeriesPoint } from '#raster/zonal/series.ts'
import type { SharedTiles } from './shared-tiles.ts'
import { nameOf, type Identified, type Sources } from './sources.ts'

/** Incremented when the same request gives other pixels, so that no cache mixes versions. */
export const RENDERING_VERSION = 3
const TILE_CACHE_BYTES = 64 * 1024 * 1024
const MAX_NAMES = 4096
const MOSAIC_DEADLINE_MS = 15_000
/** As long as a search at the same host can take. */
const REMOTE_DEADLINE_MS = 15_000

interface Bounds {
  readonly signal?: AbortSignal | undefined
  readonly deadlineMs?: number
  /** The part of the file that is read: another part can go to another child. */
  readonly part?: string
}

/** Tiles in a square with this side (as a power of two) share blocks, so that one child renders them. */
const GROUP_BITS = 2

const groupOf = ({ z, x, y }: TileAddress): string => `${z}/${x >> GROUP_BITS}/${y >> GROUP_BITS}`

type Render = (signal: AbortSignal) => Promise<Uint8Array>

/** Runs tasks on rasters in the pool, and caches rendered images. */
export class Renderer {
  readonly #pool: RasterPool
  readonly #sources: Sources
  readonly #tiles = new LoadingCache<Buffer>({ maxBytes: TILE_CACHE_BYTES, sizeOf: (tile) => tile.byteLength + 256 })

  readonly #shared: SharedTiles | null
  readonly #names = new LRUCache<string, string>({ max: MAX_NAMES })

  constructor(pool: RasterPool, sources: Sources, shared: SharedTiles | null) {
    this.#pool = pool
    this.#sources = sources
    this.#shared = shared
  }

  get metrics(): CacheMetrics {
    return this.#tiles.metrics
  }

  /** Runs a task on the content that was identified. */
  async run<T>(name: string, source: RasterSource, input: object, { signal, part = '', ...bounds }: Bounds): Promise<T> {
    const deadlineMs = bounds.deadlineMs ?? (isRemote(source) ? REMOTE_DEADLINE_MS : undefined)
    const seen = await this.#sources.identify(source, signal)
    const task = { ...(await this.#sources.openable(source, seen, signal)), ...input }
    try {
      return (await this.#pool.run(name, task, {
        signal,
        affinity: `${seen.key}/${part}`,
        ...tenancy(),
        ...(deadlineMs ? { deadlineMs } : {}),
      })) as T
    } catch (error) {
      this.#sources.forgetChanged(error, [source])
      throw error
    }
  }

  /** The same with a second raster, which the task receives as `after`. */
  async runPair<T>(name: string, sources: readonly [RasterSource, RasterSource], input: object, bounds: Bounds): Promise<T> {
    const [, second] = sources
    const seen = await this.#sources.identify(second, bounds.signal)
    const after = await this.#sources.openable(second, seen, bounds.signal)
    try {
      return await this.run<T>(name, sources[0], { ...input, after }, bounds)
    } catch (error) {
      this.#sources.forgetChanged(error, [second])
      throw error
    }
  }

  /** Many rasters in one task. A failure of one of them is its own result. */
  async runSeries(scenes: readonly SeriesScene[], input: object, { signal, deadlineMs }: Bounds): Promise<SeriesPoint[]> {
    if (scenes.length === 0) return []
    const sources = scenes.map(({ source }) => source)
    const seen = await this.#sources.identifyMany(sources, signal)
    const opened = await Promise.all(
      seen.flatMap((each, index) => ('failure' in each ? [] : [this.#sceneOf(scenes[index]!, each, signal)])),
    )
    const bounds = { signal, affinity: nameOf(sources[0]!), ...tenancy(), ...(deadlineMs ? { deadlineMs } : {}) }
    const points = ((await this.#pool.run('series', { scenes: opened, ...input }, bounds)) as SeriesPoint[]).values()
    return seen.map((each, index) => {
      const point = 'failure' in each ? each : points.next().value!
      if ('failure' in point) this.#sources.forgetChanged(new RasterError(point.failure.code, point.failure.message), [sources[index]!])
      return point
    })
  }

  async #sceneOf({ source, expression }: SeriesScene, seen: Identified, signal: AbortSignal | undefined) {
    return { ...(await this.#sources.openable(source, seen, signal)), expression }
  }

  async draw(
    task: string,
    source: RasterSource,
    input: { tile?: TileAddress; options: object },
    contentType: string,
    conditional: ConditionalOptions,
  ): Promise<RenderedImage> {
    const { key } = await this.#sources.identify(source, conditional.signal)
    const part = input.tile ? groupOf(input.tile) : ''
    return await this.#named([task, key, input], contentType, conditional, (signal) =>
      this.run<Uint8Array>(task, source, input, { signal, part }),
    )
  }

  async mosaic(
    layers: readonly MosaicLayer[],
    { tile, ...options }: MosaicRequest,
    conditional: ConditionalOptions,
  ): Promise<RenderedImage> {
    const seen = await Promise.all(layers.map(({ source }) => this.#sources.identify(source, conditional.signal)))
    const styles = layers.map(({ source: _source, ...style }, index) => ({ ...defined(style), key: seen[index]!.key }))
    const input = { tile, options: defined(options) }
    return await this.#named(['mosaic', styles, input], MEDIA_TYPES[options.format], conditional, async (signal) => {
      const opened = await Promise.all(
        layers.map(async ({ source }, index) => ({ ...styles[index]!, ...(await this.#sources.openable(source, seen[index]!, signal)) })),
      )
      try {
        return (await this.#pool.run(
          'mosaic',
          { ...input, layers: opened },
          { signal, affinity: `${seen[0]?.key ?? ''}/${groupOf(tile)}`, ...tenancy(), deadlineMs: MOSAIC_DEADLINE_MS },
        )) as Uint8Array
      } catch (error) {
        const requested = layers.map(({ source }) => source)
        this.#sources.forgetChanged(error, requested)
        throw error
      }
    })
  }

  /** Names are digests; those of recent requests are cached. */
  #nameOf(identity: unknown): string {
    const key = JSON.stringify(identity)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const name = nameFor(identity)
    this.#names.set(key, name)
    return name
  }

  /** An image is named by everything that it depends on: the same name, the same pixels. */
  async #named(identity: unknown, contentType: string, conditional: ConditionalOptions, render: Render): Promise<RenderedImage> {
    const name = this.#nameOf(identity)
    const etag = `"${name}"`
    if (matches(conditional.ifNoneMatch ?? null, etag)) return { etag, contentType, body: null }
    const load = async (signal: AbortSignal): Promise<Buffer> => asBuffer(await render(signal))
    const loadShared = (signal: AbortSignal): Promise<Buffer> => this.#shared?.get(name, () => load(signal)) ?? load(signal)
    return { etag, contentType, body: await this.#tiles.get(name, loadShared, { signal: conditional.signal }) }
  }
}

const isRemote = (source: RasterSource): boolean =>
  'stack' in source ? source.stack.some((member) => 'url' in member.source) : 'url' in source

/** Shares the memory, because nobody else uses what came from a child, and copies of tiles would be most of the garbage. */
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

/** The organization of the current call, for the fair queue of the pool. */
export function tenancy(): { tenant?: string } {
  const tenant = tenantOf()
  return tenant === null ? {} : { tenant }
}

/** The same for requests that are equal in everything they depend on. */
export function nameFor(identity: unknown): string {
  return createHash('sha256')
    .update(canonicalJson([RENDERING_VERSION, identity]))
    .digest('base64url')
    .slice(0, 27)
}

function matches(ifNoneMatch: string | null, etag: string): boolean {
  return (
    ifNoneMatch !== null && (ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
  )
}

/** Absent and undefined mean the same to a caller but differ in a cache key. */
export function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
}
