/** Where rasters lie, which content they have at the moment, and how a child of the pool may open them. */
import { StorageError, type Storage } from '#ports/storage.ts'
import type { Clock } from '#core/clock.ts'
import { LoadingCache } from '#raster/cache.ts'
import type { RasterPool } from '#raster/pool/pool.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import { eachForgiven, type Failure } from '#raster/zonal/series.ts'
import type { OpenableSource } from './handlers.ts'
import type { RasterSource } from '#ports/raster.ts'

export interface SourceOptions {
  clock: Clock
  storage: Storage
  /** Hosts that addresses of callers may name. */
  hosts: readonly string[]
  egressAllow: readonly string[]
  /** How many times longer than usual a task and a host may take. */
  deadlineFactor?: number
}

const MIB = 1024 * 1024
const IDENTITY_CACHE_BYTES = 8 * MIB
/** More than a child waits for a host, so that the host is what the caller is told of. */
const IDENTIFY_DEADLINE_MS = 15_000
const IDENTIFY_MANY_DEADLINE_MS = 25_000
/** How long a remote file is taken to be the one that we looked at last. Our own files never change. */
const IDENTITY_SECONDS = 60
/** A signed address of an object is used for one such stretch, and lives for two: no reading outlives it. */
const SIGNED_STRETCH_SECONDS = 3_600

/** A content as it was last looked at. */
interface Identity {
  key: string
  info: RasterInfo
}

export interface Seen extends Identity {
  seenAtMs: number
  located: Located
}

/** A source as a child can open it. */
interface Located {
  source: OpenableSource
  /** Tells one signed address of an object from the next; null when there is but one. */
  stretch: number | null
}

/** Says how a child opens a source; signed addresses are made once for a stretch of time. */
function createLocator(options: SourceOptions) {
  const signed = new Map<string, Promise<string>>()
  return async (source: RasterSource, signal: AbortSignal | undefined): Promise<Located> => {
    if ('path' in source) return { source: { ...source, hosts: [], egressAllow: [] }, stretch: null }
    const { deadlineFactor = 1 } = options
    if ('url' in source) return { source: { ...source, ...reachFor(source.url, options), deadlineFactor }, stretch: null }
    if (options.storage.kind === 'files') {
      const object = await options.storage.source(source.object, signal).catch(missing)
      await object.close()
      return { source: { path: object.path!, hosts: [], egressAllow: [] }, stretch: null }
    }
    const stretch = Math.floor(options.clock.now().getTime() / (SIGNED_STRETCH_SECONDS * 1000))
    const name = nameOf(source)
    const url = await remembered(signed, `${name}#${stretch}`, () =>
      options.storage.signGet({ ...source.object, expiresInSeconds: 2 * SIGNED_STRETCH_SECONDS }),
    )
    const { host } = new URL(url) // The operator's own store: it may be private, and nothing else is reached through it.
    return { source: { url, name, hosts: [host], egressAllow: [host], deadlineFactor }, stretch }
  }
}

export type Sources = ReturnType<typeof createSources>

export function createSources(pool: RasterPool, options: SourceOptions) {
  const identities = new LoadingCache<Seen>({ maxBytes: IDENTITY_CACHE_BYTES, sizeOf: () => 8 * 1024 })
  const nowMs = () => options.clock.now().getTime()

  const locate = createLocator(options)
  const identify = async (source: RasterSource, signal: AbortSignal | undefined): Promise<Seen> => {
    requireHost(source, options)
    const name = nameOf(source)
    const load = async (loadSignal: AbortSignal) => {
      const located = await locate(source, loadSignal)
      return {
        ...((await pool.run(
          'identify',
          { source: located.source },
          { signal: loadSignal, affinity: name, deadlineMs: IDENTIFY_DEADLINE_MS },
        )) as Identity),
        located,
        seenAtMs: nowMs(),
      }
    }
    const seen = await identities.get(name, load, { signal })
    if (!('url' in source) || nowMs() - seen.seenAtMs < IDENTITY_SECONDS * 1000) return seen
    identities.delete(name)
    return await identities.get(name, load, { signal })
  }

  const isKnown = (source: RasterSource): boolean => {
    const seen = identities.peek(nameOf(source))
    return seen !== undefined && (!('url' in source) || nowMs() - seen.seenAtMs < IDENTITY_SECONDS * 1000)
  }
  /** Those that nobody has looked at of late are opened in one task. */
  const identifyMany = async (
    wanted: readonly RasterSource[],
    signal: AbortSignal | undefined,
  ): Promise<(Seen | { failure: Failure })[]> => {
    if (wanted.length === 0) return []
    const unknown = wanted.filter((source) => !isKnown(source))
    const located = await eachForgiven(unknown, async (source) => {
      requireHost(source, options)
      return await locate(source, signal)
    })
    const found = await lookedAt(pool, located, nameOf(wanted[0]!), signal)
    const failures = new Map<RasterSource, { failure: Failure }>()
    for (const [index, source] of unknown.entries()) {
      const opened = found[index]!
      if ('failure' in opened) failures.set(source, opened)
      else {
        identities.delete(nameOf(source))
        await identities.get(nameOf(source), async () => ({ ...opened, seenAtMs: nowMs() }), { signal })
      }
    }
    return await Promise.all(wanted.map(async (source) => failures.get(source) ?? (await identify(source, signal))))
  }

  return {
    identify,
    identifyMany,
    locate,
    mayRead: (address: string): boolean => mayRead(address, options),
    /** The source and the content that it must have, as a child is told of them. */
    async openable(source: RasterSource, { key, located }: Seen, signal: AbortSignal | undefined) {
      const { source: found, stretch } = located.stretch === null ? located : await locate(source, signal)
      return { source: { ...found, expectedKey: key }, key: stretch === null ? key : `${key}#${stretch}` }
    },
    /** After a failure that says that a file has changed: the next caller looks anew. */
    forgetChanged(error: unknown, sources: readonly RasterSource[]): void {
      if (error instanceof RasterError && error.code === 'source_changed') for (const source of sources) identities.delete(nameOf(source))
    },
    metrics: () => identities.metrics,
  }
}

/** In the child that reads the first of them, which reads them all next. */
async function lookedAt(
  pool: RasterPool,
  located: readonly (Located | { failure: Failure })[],
  affinity: string,
  signal: AbortSignal | undefined,
): Promise<((Identity & { located: Located }) | { failure: Failure })[]> {
  const openable = located.flatMap((each) => ('failure' in each ? [] : [each.source]))
  const bounds = { signal, affinity, deadlineMs: IDENTIFY_MANY_DEADLINE_MS }
  const opened = openable.length === 0 ? [] : await pool.run('identifyMany', { sources: openable }, bounds)
  const next = (opened as (Identity | { failure: Failure })[]).values()
  return located.map((each) => {
    if ('failure' in each) return each
    const found = next.next().value!
    return 'failure' in found ? found : { ...found, located: each }
  })
}

export const nameOf = (source: RasterSource): string =>
  'object' in source ? `object:${source.object.bucket}/${source.object.key}` : 'path' in source ? source.path : source.url

/** A file that should be there and is not is no bug of whoever asks for it. */
function missing(error: unknown): never {
  if (error instanceof StorageError && error.code === 'not-found')
    throw new RasterError('source_unavailable', 'The file is not in the object store')
  throw error
}

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

const names = (hosts: readonly string[], url: URL): boolean => hosts.includes(url.hostname) || hosts.includes(url.host)

interface Reach {
  readonly hosts: readonly string[]
  readonly egressAllow: readonly string[]
}

/** What an address may lead to. The operator's own store is among it, private or not. */
function reachFor(address: string, { hosts, egressAllow, storage }: Omit<SourceOptions, 'clock'>): Reach {
  const url = URL.parse(address)
  const own = url && storage.owns(url) ? [url.host] : []
  return { hosts: [...hosts, ...egressAllow, ...own], egressAllow: [...egressAllow, ...own] }
}

/** https, or http where the operator opened the way to that very host. */
function mayRead(address: string, options: Omit<SourceOptions, 'clock'>): boolean {
  const { hosts, egressAllow } = reachFor(address, options)
  const url = URL.parse(address)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' ? names(hosts, url) : url.protocol === 'http:' && names(egressAllow, url)
}

/** Addresses come from callers: only hosts that the operator knows are asked anything at all. */
function requireHost(source: RasterSource, options: SourceOptions): void {
  if (!('url' in source)) return
  const url = URL.parse(source.url)
  if (!url || !['https:', 'http:'].includes(url.protocol)) throw new RasterError('invalid_argument', 'url must be an https address')
  const { hosts } = reachFor(source.url, options)
  if (!names(hosts, url)) throw new RasterError('invalid_argument', hostProblem(url.host, options))
}

/** Says whose choice it is, and what was chosen; hosts of the private network are nobody's business. */
function hostProblem(host: string, { hosts, egressAllow }: Pick<SourceOptions, 'hosts' | 'egressAllow'>): string {
  const allowed = [...new Set(hosts)].filter((each) => !egressAllow.includes(each)).toSorted()
  const which = allowed.length > 0 ? `; the allowed hosts are ${allowed.join(', ')}` : ''
  const named = `url names the host '${host.slice(0, MAX_HOST)}', which is not allowed`
  return `${named}: the operator lists the hosts of rasters in the setting COG_HOSTS${which}`
}

/** As much of a host as is repeated. */
const MAX_HOST = 100
