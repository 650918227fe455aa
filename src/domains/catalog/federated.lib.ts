/** Several sources asked side by side, each within its own deadline; one that fails says so and spoils nothing. */
import { areaBounds } from '#core/area.ts'
import { problem } from '#core/problem.ts'
import type { Context } from '#operation.ts'
import { VendorError, type Scene, type Source, type SourceCollection, type Vendors } from '#ports/vendors.ts'
import { collectionsFor, type Filters } from './search.lib.ts'

/** For one source, whatever it takes: waiting in line, retries and pages included. */
const SOURCE_DEADLINE_MS = 5_000
const MAX_DETAIL_LENGTH = 1_000

interface Chosen {
  readonly source: Source
  readonly collections: readonly string[]
}

interface Choice {
  source_ids?: readonly string[] | null
  data_types?: readonly string[] | null
  full_catalog?: boolean | null
}

/** The sources that cover the place and have what is asked for. */
export function chooseSources(vendors: Vendors, filters: Filters, { source_ids, data_types, full_catalog }: Choice): Chosen[] {
  const known = vendors.sources.map(({ id }) => id)
  const unknown = source_ids?.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw problem('not-found', `There is no source '${unknown.slice(0, 100)}'. Known sources: ${known.join(', ') || 'none'}`, {
      members: { known_sources: known },
    })
  return vendors.sources.flatMap((source) => {
    if ((source_ids?.length && !source_ids.includes(source.id)) || !covers(source, filters)) return []
    const ofType = (collection: SourceCollection) => !data_types?.length || data_types.includes(collection.dataType)
    const fitting = { ...source, collections: source.collections.filter(ofType) }
    if (fitting.collections.length === 0) return []
    const collections = collectionsFor(fitting, filters.collections, full_catalog === true && !data_types?.length)
    return collections ? [{ source, collections }] : []
  })
}

function covers({ coverage }: Source, { bbox, intersects }: Filters): boolean {
  const wanted = bbox ?? (intersects && areaBounds(intersects))
  if (coverage.length === 0 || !wanted) return true
  const [west, south, east, north] = wanted
  const spans =
    west <= east
      ? [[west, east]]
      : [
          [west, 180],
          [-180, east],
        ]
  return coverage.some(([w, s, e, n]) => s <= north && n >= south && spans.some(([from, to]) => w <= to! && e >= from!))
}

interface SourceAnswer {
  readonly source: Source
  readonly scenes: readonly Scene[]
  /** Whether there are more than were asked for. */
  readonly hasMore: boolean
  readonly error: string | null
}

type Asking = Pick<Context, 'vendors' | 'signal'>

/** One page of each source, at most `limit` scenes. */
export async function askAll(
  context: Asking,
  chosen: readonly Chosen[],
  filters: Filters,
  limit: number,
  pages = 1,
): Promise<SourceAnswer[]> {
  return await Promise.all(chosen.map((each) => askOne(context, each, { filters, limit, pages })))
}

async function askOne(
  { vendors, signal }: Asking,
  { source, collections }: Chosen,
  { filters, limit, pages }: { filters: Filters; limit: number; pages: number },
): Promise<SourceAnswer> {
  const endsAtMs = performance.now() + SOURCE_DEADLINE_MS
  const scenes: Scene[] = []
  let cursor: string | null = null
  try {
    for (let page = 0; page < pages; page++) {
      const deadlineMs = Math.max(1, endsAtMs - performance.now())
      const found = await vendors.catalog(source.hostName).search({ ...filters, collections, limit, cursor }, { signal, deadlineMs })
      scenes.push(...found.scenes)
      cursor = found.cursor
      if (cursor === null) break
    }
    return { source, scenes, hasMore: cursor !== null, error: null }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof VendorError)) throw error
    return { source, scenes, hasMore: true, error: error.message }
  }
}

/** What a merged search says of a source. */
export const toReport = ({ source, scenes, error }: SourceAnswer) => ({
  source_id: source.id,
  title: source.title,
  count: scenes.length,
  error,
})

export const hasFailed = ({ scenes, error }: SourceAnswer): boolean => error !== null && scenes.length === 0

export const allFailed = (answers: readonly SourceAnswer[]) =>
  problem('bad-gateway', `No source could be searched: ${answers.map(({ error }) => error).join('; ')}`.slice(0, MAX_DETAIL_LENGTH), {
    members: { sources: answers.map(toReport) },
  })
