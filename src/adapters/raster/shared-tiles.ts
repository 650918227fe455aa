/**
 * Tiles in the object store, which all processes share, behind the memory of each. A tile is stored under the organization that requested
 * it and under the name of everything that its pixels depend on; access is checked before anything is looked up. The store can fail or
 * be slow at any time: then tiles are rendered as if it were not there.
 */
import { buffer } from 'node:stream/consumers'
import type { Clock } from '#core/clock.ts'
import { isUuid } from '#core/ids.ts'
import { asPlatform, tenantOf } from '#core/tenant.ts'
import { StorageError, type Storage } from '#ports/storage.ts'
import { generationAt, tileKey, TILE_BUCKET, type TileCacheBounds } from '#ports/tile-cache.ts'
import type { CacheMetrics } from '#raster/cache.ts'

interface SharedTilesOptions {
  storage: Storage
  clock: Clock
  bounds: TileCacheBounds
  deadlineFactor: number
}

/** Rendering a tile takes about as long. */
const LOOKUP_MS = 100
const WRITE_MS = 10_000
/** Beyond this, tiles are rendered without a lookup. */
const MAX_LOOKUPS = 64
const MAX_WRITERS = 4
/** Tiles that wait to be written; beyond this, they are not. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024
const MAX_TILE_BYTES = 4 * 1024 * 1024
/** After this many failures in a row, the store is left alone for a while. */
const MAX_FAILURES = 3
const PAUSE_MS = 30_000
/** The share of the whole cache that a process can write in each period, so that the bound holds between two sweeps. */
const WRITTEN_SHARE = 1 / 8
const WRITTEN_PERIOD_MS = 600_000

export type SharedTiles = ReturnType<typeof createSharedTiles>

export function createSharedTiles(options: SharedTilesOptions) {
  const { clock, bounds } = options
  const store = createPatientStore(options)
  const queue = createQueue(store.write, budgetOf(options))
  const counts = { hits: 0, misses: 0 }
  let lookups = 0

  const keep = (owner: string, name: string, tile: Buffer): void => {
    if (!store.isPaused()) queue.add(tileKey(owner, generationAt(bounds, clock.now()), name), tile)
  }

  /** A tile of the generation before is moved to the present one, so that those in use stay. */
  const find = async (owner: string, name: string): Promise<Buffer | null> => {
    if (store.isPaused() || lookups >= MAX_LOOKUPS) return null
    const present = generationAt(bounds, clock.now())
    lookups++
    try {
      const [current, previous] = await store.readAll([present, present - 1].map((generation) => tileKey(owner, generation, name)))
      if (!current && previous) keep(owner, name, previous)
      return current ?? previous ?? null
    } finally {
      lookups--
    }
  }

  return {
    /** The stored tile, or the rendered one, which is stored afterwards. Only calls of organizations use the store. */
    async get(name: string, render: () => Promise<Buffer>): Promise<Buffer> {
      const owner = tenantOf()
      if (owner === null || !isUuid(owner)) return await render()
      const stored = await asPlatform(() => find(owner, name))
      counts[stored ? 'hits' : 'misses']++
      if (stored) return stored
      const tile = await render()
      keep(owner, name, tile)
      return tile
    },
    get metrics(): CacheMetrics {
      const { dropped: evictions, entries, bytes } = queue.state()
      return { ...counts, joined: 0, evictions, entries, bytes }
    },
    close: queue.close,
  }
}

/** The store, with deadlines, and left alone for a while after several failures in a row. */
function createPatientStore({ storage, clock, deadlineFactor }: SharedTilesOptions) {
  let failures = 0
  let pausedUntilMs = 0
  let bucket: Promise<void> | null = null
  const nowMs = () => clock.now().getTime()
  const deadline = (ms: number) => AbortSignal.timeout(ms * deadlineFactor)
  const failed = (): void => {
    failures++
    if (failures >= MAX_FAILURES) pausedUntilMs = nowMs() + PAUSE_MS
  }

  const read = async (key: string, signal: AbortSignal): Promise<Buffer | null> => {
    try {
      const tile = await withDeadline(signal, async () => await buffer(await storage.read({ bucket: TILE_BUCKET, key }, { signal })))
      failures = 0
      return tile
    } catch (error) {
      if (error instanceof StorageError && error.code === 'not-found') failures = 0
      else failed()
      return null
    }
  }

  return {
    isPaused: (): boolean => nowMs() < pausedUntilMs,
    async readAll(keys: readonly string[]): Promise<(Buffer | null)[]> {
      const signal = deadline(LOOKUP_MS)
      return await Promise.all(keys.map((key) => read(key, signal)))
    },
    async write(key: string, tile: Buffer): Promise<void> {
      const signal = deadline(WRITE_MS)
      try {
        await withDeadline(signal, async () => {
          await (bucket ??= storage.createBucket(TILE_BUCKET))
          await storage.put({ bucket: TILE_BUCKET, key }, tile, { contentType: 'application/octet-stream', signal })
        })
        failures = 0
      } catch {
        bucket = null
        failed()
      }
    },
  }
}

/** Says whether the process can write this much more in this period. */
function budgetOf({ clock, bounds }: SharedTilesOptions): (bytes: number) => boolean {
  let written = { period: 0, bytes: 0 }
  return (bytes) => {
    const period = Math.floor(clock.now().getTime() / WRITTEN_PERIOD_MS)
    if (written.period !== period) written = { period, bytes: 0 }
    if (written.bytes + bytes > bounds.maxBytes * WRITTEN_SHARE) return false
    written.bytes += bytes
    return true
  }
}

/** Tiles on their way to the store. */
function createQueue(write: (key: string, tile: Buffer) => Promise<void>, admit: (bytes: number) => boolean) {
  const pending = new Map<string, Buffer>()
  let bytes = 0
  let writers = 0
  let dropped = 0
  let isClosed = false

  const pump = (): void => {
    while (writers < MAX_WRITERS && pending.size > 0) {
      const [key, tile] = pending.entries().next().value!
      pending.delete(key)
      bytes -= tile.byteLength
      writers++
      void asPlatform(() => write(key, tile)).finally(() => {
        writers--
        pump()
      })
    }
  }

  return {
    state: () => ({ dropped, entries: pending.size, bytes }),
    add(key: string, tile: Buffer): void {
      if (isClosed || pending.has(key) || tile.byteLength > MAX_TILE_BYTES) return
      if (bytes + tile.byteLength > MAX_PENDING_BYTES || !admit(tile.byteLength)) {
        dropped++
        return
      }
      pending.set(key, tile)
      bytes += tile.byteLength
      setImmediate(pump) // After the response.
    },
    close(): void {
      isClosed = true
      pending.clear()
      bytes = 0
    },
  }
}

/** Stores can take longer than their signal to end; nobody waits for that. */
async function withDeadline<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const giveUp = () => late.reject(new StorageError('unavailable', 'The store did not respond in time'))
  signal.addEventListener('abort', giveUp, { once: true })
  const working = work()
  working.catch(() => {})
  try {
    return await Promise.race([working, late.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
