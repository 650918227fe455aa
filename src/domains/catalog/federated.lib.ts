/** Searches several sources concurrently, each with its own deadline; a source that fails is reported and does not affect the others. */
import { areaBounds } from '#core/area.ts'
import { problem } from '#core/problem.ts'
import type { Context } from '#operation.ts'
import { VendorError, type Scene, type Source, type SourceCollection, type Vendors } from '#ports/vendors.ts'
import { collectionsFor, type Filters } from './search.lib.ts'

/** For one source, including the wait in its queue, retries and all pages. */
const SOURCE_DEADLINE_MS = 5_000
const MAX_DETAIL_LENGTH = 1_000

interface SelectedSource {
  readonly source: Source
  readonly collections: readonly string[]
}

interface Selection {
  source_ids?: readonly string[] | null
  data_types?: readonly string[] | null
  full_catalog?: boolean | null
}

/** The sources that cover the area and have the requested collections and types of data. */
export function selectSources(vendors: Vendors, filters: Filters, { source_ids, data_types, full_catalog }: Selection): SelectedSource[] {
  const known = vendors.sources.map(({ id }) => id)
  const unknown = source_ids?.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw problem('not-found', `Unknown source '${unknown.slice(0, 100)}'. Known sources: ${known.join(', ') || 'none'}`, {
      members: { known_sources: known },
    })
  return vendors.sources.flatMap((source) => {
    if ((source_ids?.length && !source_ids.includes(source.id)) || !covers(source, filters)) return []
    const ofType = (collection: SourceCollection) => !data_types?.length || data_types.includes(collection.dataType)
    const matching = { ...source, collections: source.collections.filter(ofType) }
    if (matching.collections.length === 0) return []
    const collections = collectionsFor(matching, filters.collections, full_catalog === true && !data_types?.length)
    return collections ? [{ source, collections }] : []
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

type SearchContext = Pick<Context, 'vendors' | 'signal'>

/** One page of each source, at most `limit` scenes. */
export async function searchAll(
  context: SearchContext,
  selected: readonly SelectedSource[],
  filters: Filters,
  limit: number,
  pages = 1,
): Promise<SourceResult[]> {
  return await Promise.all(selected.map((source) => searchOne(context, source, { filters, limit, pages })))
}

async function searchOne(
  { vendors, signal }: SearchContext,
  { source, collections }: SelectedSource,
  { filters, limit, pages }: { filters: Filters; limit: number; pages: number },
): Promise<SourceResult> {
  const endsAtMs = performance.now() + SOURCE_DEADLINE_MS
  const scenes: Scene[] = []
  let cursor: string | null = null
  try {
    for (let page = 0; page < pages; page++) {
      const deadlineMs = Math.max(1, endsAtMs - performance.now())
      const result = await vendors.catalog(source.hostName).search({ ...filters, collections, limit, cursor }, { signal, deadlineMs })
      scenes.push(...result.scenes)
      cursor = result.cursor
      if (cursor === null) break
    }
    return { source, scenes, hasMore: cursor !== null, error: null }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof VendorError)) throw error
    return { source, scenes, hasMore: true, error: error.message }
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
