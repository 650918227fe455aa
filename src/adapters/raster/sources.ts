/** Locates rasters, identifies their current content, and defines how a child process opens them. */
import { LRUCache } from 'lru-cache'
import { StorageError, type Storage } from '#ports/storage.ts'
import type { Clock } from '#core/clock.ts'
import { LoadingCache } from '#raster/cache.ts'
import type { RasterPool } from '#raster/pool/pool.ts'
import { RasterError, type RasterInfo } from '#raster/types.ts'
import { eachForgiven, type Failure } from '#raster/zonal/series.ts'
import type { OpenableSource } from './handlers.ts'
import { bandsOf, createStacks, usedMembers, type SeenStack } from './stacks.ts'
import type { FileSource, RasterSource, StackMember, StackSource } from '#ports/raster.ts'
import type { FileUrls } from '#ports/vendors/catalog.ts'

export interface SourceOptions {
  clock: Clock
  storage: Storage
  /** Hosts that URLs of callers may use. */
  hosts: readonly string[]
  egressAllow: readonly string[]
  /** Files of catalogue sources that need a signature. */
  files: FileUrls
  /** How many times longer than usual a task and a host may take. */
  deadlineFactor?: number
}

const MIB = 1024 * 1024
const IDENTITY_CACHE_BYTES = 8 * MIB
/** Longer than a child waits for a host, so that the error names the host. */
const IDENTIFY_DEADLINE_MS = 15_000
const IDENTIFY_MANY_DEADLINE_MS = 25_000
/** A stack has no location of its own. */
const NO_REACH = { hosts: [], egressAllow: [] }
/** How long a remote file is assumed unchanged. Our own files never change. */
const IDENTITY_SECONDS = 60
/** A signed URL of an object is used for one such period and valid for two, so that it never expires during a read. */
const SIGNED_STRETCH_SECONDS = 3_600

/** The content as it was last identified. */
interface Identity {
  key: string
  info: RasterInfo
}

interface Seen extends Identity {
  seenAtMs: number
  located: Located
}

export type Identified = Seen | SeenStack<Seen>

/** As sent to a child, with the key of the content. */
export interface Openable {
  source: OpenableSource
  key: string
}

/** A source as a child can open it. */
interface Located {
  source: OpenableSource
  /** Identifies the signed URL of an object; null if it has only one. */
  stretch: number | null
}

/** Returns how a child opens a source; signed URLs are created once per period. */
function createLocator(options: SourceOptions) {
  const signed = new LRUCache<string, Promise<string>>({ max: MAX_REMEMBERED })
  return async (source: FileSource, signal: AbortSignal | undefined): Promise<Located> => {
    if ('path' in source) return { source: { ...source, hosts: [], egressAllow: [] }, stretch: null }
    const { deadlineFactor = 1 } = options
    if ('url' in source) {
      const isSigned = options.files.isSigned(source.url)
      return { source: { ...source, ...reachFor(source.url, options), deadlineFactor, isSigned }, stretch: null }
    }
    if (options.storage.kind === 'files') {
      const object = await options.storage.source(source.object, signal).catch(missing)
      await object.close()
      return { source: { path: object.path!, hosts: [], egressAllow: [] }, stretch: null }
    }
    const stretch = Math.floor(options.clock.now().getTime() / (SIGNED_STRETCH_SECONDS * 1000))
    const name = nameOf(source)
    const url = await remembered(signed, `${name}#${stretch}`, () =>
      options.storage.signGet({ ...source.object, isInternal: true, expiresInSeconds: 2 * SIGNED_STRETCH_SECONDS }),
    )
    const { host } = new URL(url) // The operator's own store: it may be private, and nothing else is reached through it.
    return { source: { url, name, hosts: [host], egressAllow: [host], deadlineFactor }, stretch }
  }
}

export type Sources = ReturnType<typeof createSources>

/** Single files. */
function createFiles(pool: RasterPool, options: SourceOptions) {
  const identities = new LoadingCache<Seen>({ maxBytes: IDENTITY_CACHE_BYTES, sizeOf: () => 8 * 1024 })
  const nowMs = () => options.clock.now().getTime()

  const locate = createLocator(options)
  const identify = async (source: FileSource, signal: AbortSignal | undefined): Promise<Seen> => {
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

  const isKnown = (source: FileSource): boolean => {
    const seen = identities.peek(nameOf(source))
    return seen !== undefined && (!('url' in source) || nowMs() - seen.seenAtMs < IDENTITY_SECONDS * 1000)
  }
  /** Sources that were not identified recently are opened in one task. */
  const identifyMany = async (
    requested: readonly FileSource[],
    signal: AbortSignal | undefined,
  ): Promise<(Seen | { failure: Failure })[]> => {
    if (requested.length === 0) return []
    const unknown = requested.filter((source) => !isKnown(source))
    const located = await eachForgiven(unknown, async (source) => {
      requireHost(source, options)
      return await locate(source, signal)
    })
    const identified = await lookedAt(pool, located, nameOf(requested[0]!), signal)
    const failures = new Map<FileSource, { failure: Failure }>()
    for (const [index, source] of unknown.entries()) {
      const opened = identified[index]!
      if ('failure' in opened) failures.set(source, opened)
      else {
        identities.delete(nameOf(source))
        await identities.get(nameOf(source), async () => ({ ...opened, seenAtMs: nowMs() }), { signal })
      }
    }
    return await Promise.all(requested.map(async (source) => failures.get(source) ?? (await identify(source, signal))))
  }

  return {
    locate,
    identify,
    identifyMany,
    /** The file with the content it must have, as sent to a child. */
    async openable(source: FileSource, { key, located }: Seen, signal: AbortSignal | undefined): Promise<Openable> {
      const { source: current, stretch } = located.stretch === null ? located : await locate(source, signal)
      return { source: { ...current, expectedKey: key }, key: stretch === null ? key : `${key}#${stretch}` }
    },
    forget: (source: FileSource): void => identities.delete(nameOf(source)),
    metrics: () => identities.metrics,
  }
}

/** Files, and stacks of them. */
export function createSources(pool: RasterPool, options: SourceOptions) {
  const files = createFiles(pool, options)
  const stacks = createStacks(files.identifyMany)
  const identify = (source: RasterSource, signal: AbortSignal | undefined): Promise<Identified> =>
    'stack' in source ? stacks.identify(source, signal) : files.identify(source, signal)
  const describe = (source: RasterSource, signal: AbortSignal | undefined): Promise<Identified> =>
    'stack' in source ? stacks.describe(source, signal) : files.identify(source, signal)
  /** All files in one task, and the files of each stack in another. */
  const eachOf =
    (one: typeof identify) =>
    async (requested: readonly RasterSource[], signal: AbortSignal | undefined): Promise<(Identified | { failure: Failure })[]> => {
      const single = await files.identifyMany(
        requested.flatMap((source) => ('stack' in source ? [] : [source])),
        signal,
      )
      const several = await eachForgiven(
        requested.filter((source) => 'stack' in source),
        (source) => one(source, signal),
      )
      const [nextFile, nextStack] = [single.values(), several.values()]
      return requested.map((source) => ('stack' in source ? nextStack : nextFile).next().value!)
    }

  return {
    identify,
    identifyMany: eachOf(identify),
    describe,
    describeMany: eachOf(describe),
    canRead: (address: string): boolean => canRead(address, options),
    /** How a child opens a source whose content was not identified. */
    async locate(source: RasterSource, signal: AbortSignal | undefined): Promise<OpenableSource> {
      if (!('stack' in source)) return (await files.locate(source, signal)).source
      const used = usedMembers(source)
      return await asStack(source, async ({ source: file }, index) =>
        used.includes(index) ? { source: (await files.locate(file, signal)).source, key: nameOf(file) } : null,
      )
    },
    /** The source with the content it must have, as sent to a child. */
    async openable(source: RasterSource, identified: Identified, signal: AbortSignal | undefined): Promise<Openable> {
      if (!('stack' in source)) return await files.openable(source, identified as Seen, signal)
      const seen = (identified as SeenStack<Seen>).files
      const stack = await asStack(source, async (member, index) => {
        const file = seen[index] ?? null
        return file && 'located' in file ? await files.openable(member.source, file, signal) : file
      })
      return { source: stack, key: identified.key }
    },
    /** After a `source_changed` error, the next call identifies the content again. */
    forgetChanged(error: unknown, sources: readonly RasterSource[]): void {
      if (error instanceof RasterError && error.code === 'source_changed') sources.flatMap(filesOf).forEach(files.forget)
    },
    metrics: files.metrics,
  }
}

type OpenMember = (member: StackMember, index: number) => Promise<Openable | { readonly problem: string } | null>

/** A stack as sent to a child. A file that cannot be read yet is sent as its problem. */
async function asStack({ stack }: StackSource, open: OpenMember): Promise<OpenableSource> {
  const files = stack.map((member, index) => (member.problem === undefined ? open(member, index) : { problem: member.problem }))
  return { ...NO_REACH, stack: { bands: bandsOf(stack), files: await Promise.all(files) } }
}

/** Runs in the child that reads the first source, which reads all of them next. */
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
    const result = next.next().value!
    return 'failure' in result ? result : { ...result, located: each }
  })
}

/** The files of a source that are used. */
const filesOf = (source: RasterSource): readonly FileSource[] =>
  'stack' in source ? usedMembers(source).map((index) => source.stack[index]!.source) : [source]

export const nameOf = (source: RasterSource): string =>
  'stack' in source
    ? JSON.stringify(filesOf(source).map(nameOf))
    : 'object' in source
      ? `object:${source.object.bucket}/${source.object.key}`
      : 'path' in source
        ? source.path
        : source.url

/** A missing file is not the caller's fault. */
function missing(error: unknown): never {
  if (error instanceof StorageError && error.code === 'not-found')
    throw new RasterError('source_unavailable', 'The file is missing from the object store')
  throw error
}

const MAX_REMEMBERED = 1_000

/** Caches the newest results; a failure is not cached. */
function remembered<T>(known: LRUCache<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const cached = known.get(name)
  if (cached) return cached
  const created = make()
  known.set(name, created)
  created.catch(() => known.delete(name))
  return created
}

const names = (hosts: readonly string[], url: URL): boolean => hosts.includes(url.hostname) || hosts.includes(url.host)

interface Reach {
  readonly hosts: readonly string[]
  readonly egressAllow: readonly string[]
}

/** The hosts that a URL may reach, including the operator's own store, private or not. */
function reachFor(address: string, { hosts, egressAllow, storage }: Pick<SourceOptions, 'hosts' | 'egressAllow' | 'storage'>): Reach {
  const url = URL.parse(address)
  const own = url && storage.owns(url) ? [url.host] : []
  return { hosts: [...hosts, ...egressAllow, ...own], egressAllow: [...egressAllow, ...own] }
}

/** https, or http to a host that the operator allows. */
function canRead(address: string, options: Pick<SourceOptions, 'hosts' | 'egressAllow' | 'storage'>): boolean {
  const { hosts, egressAllow } = reachFor(address, options)
  const url = URL.parse(address)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' ? names(hosts, url) : url.protocol === 'http:' && names(egressAllow, url)
}

/** URLs come from callers: only hosts that the operator lists receive any request. */
function requireHost(source: FileSource, options: SourceOptions): void {
  if (!('url' in source)) return
  const url = URL.parse(source.url)
  if (!url || !['https:', 'http:'].includes(url.protocol)) throw new RasterError('invalid_argument', 'url must be an https URL')
  const { hosts } = reachFor(source.url, options)
  if (!names(hosts, url)) throw new RasterError('invalid_argument', hostProblem(url.host, options))
}

/** States which setting applies and the allowed hosts, but not hosts of the private network. */
function hostProblem(host: string, { hosts, egressAllow }: Pick<SourceOptions, 'hosts' | 'egressAllow'>): string {
  const allowed = [...new Set(hosts)].filter((each) => !egressAllow.includes(each)).toSorted()
  const list = allowed.length > 0 ? `; the allowed hosts are ${allowed.join(', ')}` : ''
  const named = `the host '${host.slice(0, MAX_HOST)}' of url is not allowed`
  return `${named}; the operator lists allowed hosts in COG_HOSTS${list}`
}

/** Maximum length of a host name in an error. */
const MAX_HOST = 100
