/** Parses searches and writes their responses. */
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
import type { ItemSearchResult, SearchFields } from './search.wire.ts'

/** Rejects invalid input before the database is queried. */
export function readSearch(
  input: SearchFields,
): Omit<itemSearch.Search, 'organizationId' | 'projectId' | 'hiddenProjectIds'> & { baseUrl: string | null } {
  return {
    bbox: input.bbox ? requireBbox(input.bbox, 'bbox') : null,
    interval: input.datetime == null ? null : parseInterval(input.datetime, 'datetime'),
    // An ID that is not a UUID matches no collection; the filter still applies.
    collectionIds: input.collections == null ? null : input.collections.filter(isUuid),
    type: input.type ?? null,
    query: input.query == null ? [] : parseQuery(requireBounded(input.query, 'query')),
    orders: input.sortby == null ? [] : parseSort(input.sortby),
    limit: input.limit,
    offset: input.offset,
    // Features without assets are lightweight.
    withAssets: input.format === 'stac',
    baseUrl: input.base_url == null ? null : requireBaseUrl(input.base_url),
  }
}

export async function searchItems(
  { db, searchMemory, baseUrl }: Context,
  search: itemSearch.Search & { baseUrl: string | null },
): Promise<Static<typeof ItemSearchResult>> {
  const { items, matched, isEstimated } = await itemSearch.search(db, searchMemory, search)
  const view = { baseUrl: search.baseUrl ?? baseUrl, links: 'self' } as const
  const features = await mapInParts(items, (item) => toFeature(item, assetsIn(item.assetList), view))
  return {
    type: 'FeatureCollection',
    features,
    numberMatched: matched!,
    numberReturned: features.length,
    ...(isEstimated ? { numberMatchedEstimated: true as const } : {}),
  }
}
