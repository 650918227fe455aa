import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { Storage } from '#adapters/storage/port.ts'
import { canonicalJson } from '#core/canonical.ts'
import type { Clock } from '#core/clock.ts'
import { LoadingCache } from '#raster/cache.ts'
import { MEDIA_TYPES } from '#raster/encode/index.ts'
import { RasterPool } from '#raster/pool/pool.ts'
import type { Statistics } from '#raster/statistics/index.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import type { OpenableSource } from './handlers.ts'
import type { Asking, Drawn, RasterService, RasterSource } from './port.ts'

export interface RasterServiceOptions {
  clock: Clock
  storage: Storage
  /** Hosts that addresses of callers may name. */
  hosts: readonly string[]
  egressAllow: readonly string[]
  poolSize?: number
}

/** Rises when the same request would be drawn with other pixels, so that no cache mixes the two. */
const DRAWING_VERSION = 1
const MIB = 1024 * 1024
const TILE_CACHE_BYTES = 64 * MIB
const IDENTITY_CACHE_BYTES = 8 * MIB
/** How long a remote file is taken to be the one that we looked at last. Our own files never change. */
const IDENTITY_SECONDS = 60
/** A signed address of an object is used for one such stretch, and lives for two: no reading outlives it. */
const SIGNED_STRETCH_SECONDS = 3_600
const STATISTICS_DEADLINE_MS = 30_000

/** A content as it was last looked at. */
interface Identity {
  key: string
  info: RasterInfo
}

interface Seen extends Identity {
  seenAtMs: number
  located: Located
}

/** A source as a child can open it. */
interface Located {
  source: OpenableSource
  /** Tells one signed address of an object from the next; null when there is but one. */
  stretch: number | null
}

export function createRasterService(options: RasterServiceOptions): RasterService {
  const pool = new RasterPool({ module: new URL('./handlers.ts', import.meta.url), size: options.poolSize ?? Math.max(1, availableParallelism()) })
  const tiles = new LoadingCache<Buffer>({ maxBytes: TILE_CACHE_BYTES, sizeOf: (tile) => tile.byteLength + 256 })
  const identities = new LoadingCache<Seen>({ maxBytes: IDENTITY_CACHE_BYTES, sizeOf: () => 8 * 1024 })
  const signed = new Map<string, Promise<string>>()
  const nowMs = () => options.clock.now().getTime()

  const locate = async (source: RasterSource, signal: AbortSignal | undefined): Promise<Located> => {
    const { hosts, egressAllow } = options
    if (!('object' in source)) return { source: { ...source, hosts, egressAllow }, stretch: null }
    if (options.storage.kind === 'files') {
      const object = await options.storage.source(source.object, signal)
      await object.close()
      return { source: { path: object.path!, hosts: [], egressAllow: [] }, stretch: null }
    }
    const stretch = Math.floor(nowMs() / (SIGNED_STRETCH_SECONDS * 1000))
    const name = nameOf(source)
    const url = await remembered(signed, `${name}#${stretch}`, () => options.storage.signGet({ ...source.object, expiresInSeconds: 2 * SIGNED_STRETCH_SECONDS }))
    const { host } = new URL(url) // The operator's own store: it may be private, and nothing else is reached through it.
    return { source: { url, name, hosts: [host], egressAllow: [host] }, stretch }
  }

  const identify = async (source: RasterSource, signal: AbortSignal | undefined): Promise<Seen> => {
    requireHost(source, [...options.hosts, ...options.egressAllow])
    const name = nameOf(source)
    const load = async (loadSignal: AbortSignal) => {
      const located = await locate(source, loadSignal)
      return { ...((await pool.run('identify', { source: located.source }, { signal: loadSignal, affinity: name })) as Identity), located, seenAtMs: nowMs() }
    }
    const seen = await identities.get(name, load, { signal })
    if (!('url' in source) || nowMs() - seen.seenAtMs < IDENTITY_SECONDS * 1000) return seen
    identities.delete(name)
    return await identities.get(name, load, { signal })
  }

  /** Runs a task on the content that was identified. When the file has changed since, the next caller looks anew. */
  const run = async <T>(name: string, source: RasterSource, input: object, { signal, deadlineMs }: { signal?: AbortSignal | undefined; deadlineMs?: number }): Promise<T> => {
    const { key, located } = await identify(source, signal)
    const { source: openable, stretch } = located.stretch === null ? located : await locate(source, signal)
    const task = { source: { ...openable, expectedKey: key }, key: stretch === null ? key : `${key}#${stretch}`, ...input }
    try {
      return (await pool.run(name, task, { signal, affinity: key, ...(deadlineMs ? { deadlineMs } : {}) })) as T
    } catch (error) {
      if (error instanceof RasterError && error.code === 'source_changed') identities.delete(nameOf(source))
      throw error
    }
  }

  const draw = async (task: string, source: RasterSource, input: object, contentType: string, asking: Asking): Promise<Drawn> => {
    const { key } = await identify(source, asking.signal)
    const name = createHash('sha256').update(canonicalJson([DRAWING_VERSION, task, key, input])).digest('base64url').slice(0, 27)
    const etag = `"${name}"`
    if (matches(asking.ifNoneMatch ?? null, etag)) return { etag, contentType, body: null }
    const body = await tiles.get(name, async (signal) => Buffer.from(await run<Uint8Array>(task, source, input, { signal })), { signal: asking.signal })
    return { etag, contentType, body }
  }

  return {
    describe: async (source, signal): Promise<RasterInfo> => (await identify(source, signal)).info,
    tile: (source, { tile, ...drawing }, asking = {}) => draw('tile', source, { tile, options: defined(drawing) }, MEDIA_TYPES[drawing.format], asking),
    terrain: (source, { tile, ...drawing }, asking = {}) => draw('terrain', source, { tile, options: defined(drawing) }, 'image/webp', asking),
    thumbnail: (source, drawing, asking = {}) => draw('thumbnail', source, { options: { ...defined(drawing), format: 'jpeg' } }, 'image/jpeg', asking),
    statistics: (source, { signal: _signal, ...wanted }, signal) => run<Statistics>('statistics', source, { options: defined(wanted) }, { signal, deadlineMs: STATISTICS_DEADLINE_MS }),
    metrics: () => ({ ...prefixed('pool', pool.metrics), ...prefixed('tiles', tiles.metrics), ...prefixed('sources', identities.metrics) }),
    close: () => pool.close(),
  }
}

const nameOf = (source: RasterSource): string => ('object' in source ? `object:${source.object.bucket}/${source.object.key}` : 'path' in source ? source.path : source.url)

const MAX_REMEMBERED = 1_000

/** The newest answers; a failure is forgotten at once. */
function remembered<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(name)
  if (found) return found
  const made = make()
  known.set(name, made)
  made.catch(() => known.delete(name))
  if (known.size > MAX_REMEMBERED) known.delete(known.keys().next().value!)
  return made
}

/** Addresses come from callers: only hosts that the operator knows are asked anything at all. */
function requireHost(source: RasterSource, hosts: readonly string[]): void {
  if (!('url' in source)) return
  const url = URL.parse(source.url)
  if (!url || !['https:', 'http:'].includes(url.protocol)) throw new RasterError('invalid_argument', 'url must be an https address')
  if (!hosts.includes(url.hostname) && !hosts.includes(url.host)) throw new RasterError('invalid_argument', `url names the host '${url.hostname.slice(0, 100)}', which is not among the allowed ones`)
}

function matches(ifNoneMatch: string | null, etag: string): boolean {
  return ifNoneMatch !== null && (ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
}

/** Absent and undefined are one to a caller and two to a cache key. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
}

function prefixed(name: string, metrics: object): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([key, value]) => [`${name}_${key}`, value as number]))
}
