/** Searches the sources of a saved search, each with its own deadline; a source that fails is reported and does not affect the others. */
import { areaBounds } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import * as hostStates from '#model/vendors/host-state.ts'
import type { SavedSearch } from '#model/scenes/saved-search.ts'
import type { Context } from '#operation.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import type { Source } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'

/** For one source: retries and all pages. */
const SOURCE_DEADLINE_MS = 30_000
const PAGE_SIZE = 100

type Terms = Pick<SavedSearch, 'area' | 'sourceIds' | 'collections'>

interface SearchedSource {
  readonly source: Source
  readonly collections: readonly string[]
}

/** The open sources that cover the area and have the collections. */
export function openSources(vendors: Vendors, { area, sourceIds, collections }: Terms): SearchedSource[] {
  const [west, south, east, north] = areaBounds(area as unknown as AreaGeometry)
  const covers = ({ coverage }: Source): boolean =>
    coverage.length === 0 || coverage.some(([w, s, e, n]) => w <= east && e >= west && s <= north && n >= south)
  return vendors.sources
    .filter((source) => source.accessModel === 'open' && (!sourceIds || sourceIds.includes(source.id)) && covers(source))
    .map((source) => ({
      source,
      collections: source.collections
        .filter(({ id, renderStrategy }) => renderStrategy === 'cog' && (!collections || collections.includes(id)))
        .map(({ id }) => id),
    }))
    .filter((searched) => searched.collections.length > 0)
}

export interface SourceScenes {
  readonly source: Source
  readonly scenes: readonly Scene[]
  /** Whether there are more than were read. */
  readonly hasMore: boolean
  readonly error: string | null
}

interface Window {
  readonly from: Date
  readonly to: Date
  readonly maxCloudCover: number | null
  readonly pages: number
}

/** Scenes acquired in a window. Sources that do not respond lately are not waited for. */
export async function findScenes(
  { db, vendors, signal }: Pick<Context, 'db' | 'vendors' | 'signal'>,
  area: SavedSearch['area'],
  searched: readonly (SearchedSource & Window)[],
): Promise<SourceScenes[]> {
  const states = await hostStates.list(db)
  return await Promise.all(
    searched.map(async (each): Promise<SourceScenes> => {
      const { source } = each
      const state = states.get(source.hostName)
      if (!source.simulated && state?.status === 'unreachable')
        return { source, scenes: [], hasMore: true, error: `${source.title} has not responded since ${state.since!.toISOString()}` }
      return await findIn({ vendors, signal }, area, each)
    }),
  )
}

async function findIn(
  { vendors, signal }: Pick<Context, 'vendors' | 'signal'>,
  area: SavedSearch['area'],
  { source, collections, from, to, maxCloudCover, pages }: SearchedSource & Window,
): Promise<SourceScenes> {
  const endsAtMs = performance.now() + SOURCE_DEADLINE_MS
  const scenes: Scene[] = []
  let cursor: string | null = null
  try {
    for (let page = 0; page < pages; page++) {
      const query = {
        collections,
        intersects: area as unknown as AreaGeometry,
        from,
        to,
        limit: PAGE_SIZE,
        cursor,
        ...(maxCloudCover === null ? {} : { cloudCover: { operator: 'LTE' as const, percent: maxCloudCover } }),
      }
      const options = { signal, failFast: true, deadlineMs: Math.max(1, endsAtMs - performance.now()) }
      const result = await vendors.catalog(source.hostName).search(query, options)
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
