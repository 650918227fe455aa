/** Searches the sources of a saved search, each with its own deadline; a source that fails is reported and does not affect the others. */
import { areaBounds, polygonsOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import * as hostStates from '#model/vendors/host-state.ts'
import type { SavedSearch } from '#model/scenes/saved-search.ts'
import * as accounts from '#model/vendors/account.ts'
import type { Context } from '#operation.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import type { Source } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'

/** For one source: retries and all pages. */
const SOURCE_DEADLINE_MS = 30_000
const PAGE_SIZE = 100

type Terms = Pick<SavedSearch, 'area' | 'sourceIds' | 'collections' | 'autoAdd'>

/** Whether scenes become items, which only open ones can; otherwise they are found or reported. */
export const addsScenes = ({ autoAdd }: Pick<Terms, 'autoAdd'>): boolean => autoAdd !== null && autoAdd.mode !== 'notify'

interface SearchedSource {
  readonly source: Source
  readonly collections: readonly string[]
}

/** The sources that cover the area and have the collections: open ones, and those for sale that the search names and only reports. */
export function searchedSources(vendors: Vendors, terms: Terms): SearchedSource[] {
  const { area, sourceIds, collections } = terms
  const isForItems = addsScenes(terms)
  const isChosen = ({ id, accessModel }: Source): boolean =>
    sourceIds ? sourceIds.includes(id) && (accessModel === 'open' || !isForItems) : accessModel === 'open'
  const [west, south, east, north] = areaBounds(area as unknown as AreaGeometry)
  const covers = ({ coverage }: Source): boolean =>
    coverage.length === 0 || coverage.some(([w, s, e, n]) => w <= east && e >= west && s <= north && n >= south)
  return vendors.sources
    .filter((source) => isChosen(source) && covers(source))
    .map((source) => ({
      source,
      collections: source.collections
        .filter(({ id, renderStrategy }) => (renderStrategy === 'cog' || !isForItems) && (!collections || collections.includes(id)))
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
  { area, organizationId }: Pick<SavedSearch, 'area' | 'organizationId'>,
  searched: readonly (SearchedSource & Window)[],
): Promise<SourceScenes[]> {
  const states = await hostStates.list(db)
  return await Promise.all(
    searched.map(async (each): Promise<SourceScenes> => {
      const { source } = each
      const state = states.get(source.hostName)
      if (!source.simulated && state?.status === 'unreachable')
        return { source, scenes: [], hasMore: true, error: `${source.title} has not responded since ${state.since!.toISOString()}` }
      const accountId = await accounts.accountFor(db, source, organizationId)
      if (accountId === null && !source.hasInstallationAccount)
        return { source, scenes: [], hasMore: true, error: accounts.missingAccount(source) }
      return await findIn({ vendors, signal }, area, { ...each, accountId })
    }),
  )
}

async function findIn(
  { vendors, signal }: Pick<Context, 'vendors' | 'signal'>,
  area: SavedSearch['area'],
  { source, accountId, collections, from, to, maxCloudCover, pages }: SearchedSource & Window & accounts.UsableSource,
): Promise<SourceScenes> {
  const endsAtMs = performance.now() + SOURCE_DEADLINE_MS
  const scenes: Scene[] = []
  let hasMore = false
  try {
    // Sources take one polygon.
    for (const coordinates of polygonsOf(area as unknown as AreaGeometry)) {
      let cursor: string | null = null
      for (let page = 0; page < pages; page++) {
        const query = {
          collections,
          intersects: { type: 'Polygon' as const, coordinates: [...coordinates] },
          from,
          to,
          limit: PAGE_SIZE,
          cursor,
          ...(maxCloudCover === null ? {} : { cloudCover: { operator: 'LTE' as const, percent: maxCloudCover } }),
        }
        const options = { signal, failFast: true, deadlineMs: Math.max(1, endsAtMs - performance.now()) }
        const result = await vendors.catalog(source.hostName, accountId).search(query, options)
        scenes.push(...result.scenes)
        cursor = result.cursor
        if (cursor === null) break
      }
      hasMore ||= cursor !== null
    }
    return { source, scenes: distinct(scenes), hasMore, error: null }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof VendorError)) throw error
    return { source, scenes: distinct(scenes), hasMore: true, error: error.message }
  }
}

/** A scene can lie in several polygons. */
const distinct = (scenes: readonly Scene[]): Scene[] => [
  ...new Map(scenes.map((scene) => [JSON.stringify([scene.collection, scene.id]), scene])).values(),
]
