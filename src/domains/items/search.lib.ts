/** How a search is read, and how its answer is written. */
import type { Static } from 'typebox'
import { requireBaseUrl } from '#core/base-url.ts'
import { requireBounded } from '#core/bounded.ts'
import { isUuid } from '#core/ids.ts'
import { mapInParts } from '#core/in-parts.ts'
import { parseInterval } from '#core/interval.ts'
import { assetsIn } from '#model/imagery/asset-page.ts'
import { requireBbox } from '#model/imagery/footprint.ts'
import { parseQuery, parseSort } from '#model/imagery/item-filter.ts'
import * as itemSearch from '#model/imagery/item-search.ts'
import { toFeature } from '#model/imagery/stac.ts'
import type { Context } from '#operation.ts'
import type { FoundItems, SearchFields } from './search.wire.ts'

/** Everything that can be wrong with a search is found before the database is asked. */
export function readSearch(
  input: SearchFields,
): Omit<itemSearch.Search, 'organizationId' | 'projectId' | 'hiddenProjectIds'> & { baseUrl: string | null } {
  return {
    bbox: input.bbox ? requireBbox(input.bbox, 'bbox') : null,
    interval: input.datetime == null ? null : parseInterval(input.datetime, 'datetime'),
    // An id that is none of ours names no collection; it is not a reason to search everything.
    collectionIds: input.collections == null ? null : input.collections.filter(isUuid),
    type: input.type ?? null,
    query: input.query == null ? [] : parseQuery(requireBounded(input.query, 'query')),
    orders: input.sortby == null ? [] : parseSort(input.sortby),
    limit: input.limit,
    offset: input.offset,
    // Without them features are lightweight.
    withAssets: input.format === 'stac',
    baseUrl: input.base_url == null ? null : requireBaseUrl(input.base_url),
  }
}

export async function find(
  { db, searchMemory, baseUrl }: Context,
  search: itemSearch.Search & { baseUrl: string | null },
): Promise<Static<typeof FoundItems>> {
  const { items, matched, isEstimated } = await itemSearch.search(db, searchMemory, search)
  const view = { baseUrl: search.baseUrl ?? baseUrl, links: 'self' } as const
  const features = await mapInParts(items, (each) => toFeature(each, assetsIn(each.assetList), view))
  return {
    type: 'FeatureCollection',
    features,
    numberMatched: matched!,
    numberReturned: features.length,
    ...(isEstimated ? { numberMatchedEstimated: true as const } : {}),
  }
}
