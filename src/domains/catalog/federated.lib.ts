/** Searches several sources concurrently, each with its own deadline; a source that fails is reported and does not affect the others. */
import { setTimeout as pause } from 'node:timers/promises'
import { areaBounds } from '#core/area.ts'
import { problem } from '#core/problem.ts'
import * as hostStates from '#model/vendors/host-state.ts'
import type { Context } from '#operation.ts'
import type { UsableSource } from '#model/vendors/account.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import type { Source, SourceCollection } from '#ports/vendors/source.ts'
import { collectionsFor, type Filters } from './search.lib.ts'

/** For one source, including the wait in its queue, retries and all pages. */
const SOURCE_DEADLINE_MS = 5_000
/**
 * A search that has scenes of some sources waits this long for the next response of any source, and not for the deadline of a
 * source that hangs. A source whose last probe was slow gets a multiple of the time that the probe took.
 */
const GRACE_MS = 2_000
const PROBE_FACTOR = 2
const MAX_DETAIL_LENGTH = 1_000

interface SelectedSource extends UsableSource {
  readonly collections: readonly string[]
}

interface Selection {
  source_ids?: readonly string[] | null
  data_types?: readonly string[] | null
  full_catalog?: boolean | null
}

/** The sources that cover the area and have the requested collections and types of data. */
export function selectSources(
  usable: readonly UsableSource[],
  filters: Filters,
  { source_ids, data_types, full_catalog }: Selection,
): SelectedSource[] {
  const known = usable.map(({ source }) => source.id)
  const unknown = source_ids?.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw problem('not-found', `Unknown source '${unknown.slice(0, 100)}'. Known sources: ${known.join(', ') || 'none'}`, {
      members: { known_sources: known },
    })
  return usable.flatMap(({ source, accountId }) => {
    if ((source_ids?.length && !source_ids.includes(source.id)) || !covers(source, filters)) return []
    const ofType = (collection: SourceCollection) => !data_types?.length || data_types.includes(collection.dataType)
    const matching = { ...source, collections: source.collections.filter(ofType) }
    if (matching.collections.length === 0) return []
    const collections = collectionsFor(matching, filters.collections, full_catalog === true && !data_types?.length)
    return collections ? [{ source, accountId, collections }] : []
  })
}

function covers({ coverage }: Source, { bbox, intersects }: Filters): boolean {
  const box = bbox ?? (intersects && areaBounds(intersects))
  if (coverage.length === 0 || !box) return true
  const [west, south, east, north] = box
  const spans =
    west <= east
      ? [[west, east]]
      : [
          [west, 180],
          [-180, east],
        ]
  return coverage.some(([w, s, e, n]) => s <= north && n >= south && spans.some(([from, to]) => w <= to! && e >= from!))
}

interface SourceResult {
  readonly source: Source
  readonly scenes: readonly Scene[]
  /** Whether the source has more scenes than requested. */
  readonly hasMore: boolean
  readonly error: string | null
}

type SearchContext = Pick<Context, 'db' | 'vendors' | 'signal'>

/** One page of each source, at most `limit` scenes. It does not wait for sources that are unreachable or much slower than the others. */
export async function searchAll(
  context: SearchContext,
  selected: readonly SelectedSource[],
  filters: Filters,
  limit: number,
  pages = 1,
): Promise<SourceResult[]> {
  const states = await hostStates.list(context.db)
  const done = new AbortController()
  const responses = createResponses(done.signal)
  try {
    return await Promise.all(
      selected.map(async (each) => {
        const { source } = each
        const found: Found = { scenes: [], hasMore: true }
        const state = states.get(source.hostName)
        const graceMs = Math.max(GRACE_MS, PROBE_FACTOR * (state?.responseMs ?? 0))
        const error =
          outageOf(source, state) ??
          (await Promise.race([
            searchOne(context, each, { filters, limit, pages, found, responded: () => responses.add(source) }),
            responses
              .noneAfterOthers(source, graceMs)
              .then(() => `${source.hostName} did not respond in time; search it alone with catalog.search to wait longer`),
          ]))
        return { source, scenes: [...found.scenes], hasMore: found.hasMore, error }
      }),
    )
  } finally {
    done.abort()
  }
}

/** When sources responded last. */
function createResponses(signal: AbortSignal) {
  const atMs = new Map<Source, number>()
  let next = Promise.withResolvers<void>()
  return {
    add(source: Source): void {
      atMs.set(source, performance.now())
      next.resolve()
      next = Promise.withResolvers()
    },
    /** Resolves once another source has responded, and then none has for this long. */
    async noneAfterOthers(source: Source, ms: number): Promise<void> {
      while (![...atMs.keys()].some((other) => other !== source)) await next.promise
      for (;;) {
        const leftMs = Math.max(...atMs.values()) + ms - performance.now()
        if (leftMs <= 0) return
        await pause(leftMs, undefined, { signal }).catch(ended)
      }
    },
  }
}

/** The search has ended, and nobody waits for this any more. */
const ended = (): Promise<never> => new Promise(() => {})

function outageOf({ title }: Source, state: hostStates.HostState | undefined): string | null {
  if (state?.status !== 'unreachable') return null
  return `${title} has not responded since ${state.since!.toISOString()}: ${state.error}`
}

/** What a source has returned so far. */
interface Found {
  scenes: Scene[]
  hasMore: boolean
}

interface SourceSearch {
  readonly filters: Filters
  readonly limit: number
  readonly pages: number
  /** Pages are added as they arrive, because the search may end before the last one. */
  readonly found: Found
  readonly responded: () => void
}

/** Returns why the source failed; null if it did not. A call that is no longer waited for still counts for the health of its host. */
async function searchOne(
  { vendors, signal }: SearchContext,
  { source, accountId, collections }: SelectedSource,
  { filters, limit, pages, found, responded }: SourceSearch,
): Promise<string | null> {
  const endsAtMs = performance.now() + SOURCE_DEADLINE_MS
  let cursor: string | null = null
  try {
    for (let page = 0; page < pages; page++) {
      const options = { signal, failFast: true, deadlineMs: Math.max(1, endsAtMs - performance.now()) }
      const result = await vendors.catalog(source.hostName, accountId).search({ ...filters, collections, limit, cursor }, options)
      responded()
      found.scenes.push(...result.scenes)
      cursor = result.cursor
      if (cursor === null) break
    }
    found.hasMore = cursor !== null
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof VendorError)) throw error
    return error.message
  }
}

/** The result of one source, as responses report it. */
export const toReport = ({ source, scenes, error }: SourceResult) => ({
  source_id: source.id,
  title: source.title,
  count: scenes.length,
  error,
})

export const hasFailed = ({ scenes, error }: SourceResult): boolean => error !== null && scenes.length === 0

export const allFailed = (results: readonly SourceResult[]) =>
  problem('bad-gateway', `No source could be searched: ${results.map(({ error }) => error).join('; ')}`.slice(0, MAX_DETAIL_LENGTH), {
    members: { sources: results.map(toReport) },
  })
