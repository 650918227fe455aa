import { LRUCache } from 'lru-cache'
import { RasterError, throwIfAborted } from '#raster/types.ts'

export interface CacheMetrics {
  hits: number
  misses: number
  /** Requests that waited for a load that another request had started. */
  joined: number
  evictions: number
  entries: number
  bytes: number
}

interface CacheOptions<V extends {}> {
  maxBytes: number
  sizeOf: (value: V) => number
  /** Called for every value that is evicted, replaced or deleted. Others may still be using it. */
  dropped?: (value: V) => void
}

interface Loading<V> {
  promise: Promise<V>
  controller: AbortController
  waiting: number
}

/**
 * A least-recently-used cache, limited in bytes, that loads a missing value once for all concurrent callers. A caller that
 * aborts does not abort the load for the others; when all have aborted, the load is cancelled.
 */
export class LoadingCache<V extends {}> {
  readonly #values: LRUCache<string, V>
  readonly #loading = new Map<string, Loading<V>>()
  #hits = 0
  #misses = 0
  #joined = 0
  #evictions = 0

  constructor({ maxBytes, sizeOf, dropped }: CacheOptions<V>) {
    this.#values = new LRUCache({
      maxSize: maxBytes, // A value larger than this is not kept.
      sizeCalculation: (value) => Math.max(1, sizeOf(value)),
      dispose: (value, _key, reason) => {
        if (reason === 'evict') this.#evictions += 1
        dropped?.(value)
      },
    })
  }

  get metrics(): CacheMetrics {
    return {
      hits: this.#hits,
      misses: this.#misses,
      joined: this.#joined,
      evictions: this.#evictions,
      entries: this.#values.size,
      bytes: this.#values.calculatedSize,
    }
  }

  /** Whether a value is cached; does not count as a use. */
  has(key: string): boolean {
    return this.#values.has(key)
  }

  /** The cached value, without loading it. */
  peek(key: string): V | undefined {
    return this.#values.get(key)
  }

  /**
   * The cached value, or the loaded one. `accepts` can reject a cached value (a block with too few rows); the load then
   * replaces it.
   */
  async get(
    key: string,
    load: (signal: AbortSignal) => Promise<V>,
    { signal, accepts }: { signal?: AbortSignal | undefined; accepts?: (value: V) => boolean } = {},
  ): Promise<V> {
    throwIfAborted(signal)
    const cached = this.peek(key)
    if (cached !== undefined && (!accepts || accepts(cached))) {
      this.#hits += 1
      return cached
    }
    const loading = this.#loading.get(key)
    // A load that all its callers aborted is ending; a new caller starts its own.
    const running = loading?.controller.signal.aborted ? undefined : loading
    if (running) this.#joined += 1
    else this.#misses += 1
    const value = await this.#wait(running ?? this.#start(key, load), signal)
    // Another caller's load may return less than this one needs; then it is loaded again.
    return running && accepts && !accepts(value) ? this.get(key, load, { signal, accepts }) : value
  }

  delete(key: string): void {
    this.#values.delete(key)
  }

  clear(): void {
    this.#values.clear()
  }

  #start(key: string, load: (signal: AbortSignal) => Promise<V>): Loading<V> {
    const controller = new AbortController()
    const promise = load(controller.signal).then((value) => {
      this.#values.set(key, value)
      return value
    })
    const loading = { promise, controller, waiting: 0 }
    const forget = (): void => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
    // Callers see the failure; without callers it must not end the process as an unhandled rejection.
    promise.then(forget, forget)
    this.#loading.set(key, loading)
    return loading
  }

  async #wait(loading: Loading<V>, signal: AbortSignal | undefined): Promise<V> {
    loading.waiting += 1
    if (!signal) return loading.promise
    const given = Promise.withResolvers<never>()
    const giveUp = (): void => {
      loading.waiting -= 1
      if (loading.waiting === 0) loading.controller.abort(signal.reason)
      given.reject(new RasterError('aborted', 'The raster operation was cancelled', { cause: signal.reason }))
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([loading.promise, given.promise])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }
}
