/** Parses a STAC search and creates its response. */
import type { Static } from 'typebox'
import { requireBaseUrl } from '#core/base-url.ts'
import { requireBounded } from '#core/bounded.ts'
import { parseCql2 } from '#core/cql2.ts'
import type { Cql2 } from '#core/cql2-tree.ts'
import { requireArea } from '#core/geometry.ts'
import { isUuid } from '#core/ids.ts'
import { mapInParts } from '#core/in-parts.ts'
import { parseInterval } from '#core/interval.ts'
import { problem } from '#core/problem.ts'
import { assetsIn } from '#model/imagery/asset-page.ts'
import { shapesOf } from '#model/imagery/cql2-sql.ts'
import { partsOf, requireBbox, type Part } from '#model/imagery/footprint.ts'
import { parseQuery, parseSort, STAC_COLUMNS } from '#model/imagery/item-filter.ts'
import * as itemSearch from '#model/imagery/item-search.ts'
import { withKey } from '#core/stac.ts'
import { toFeature } from '#model/imagery/stac.ts'
import type { Context } from '#operation.ts'
import { decodeNext, encodeNext, type Next } from './next.lib.ts'
import { picker } from './fields.lib.ts'
import type { FoundFeatures, SearchFields } from './search.wire.ts'

/** Deeper pages need `next`, whose cost does not grow with depth. */
const MAX_OFFSET = 100_000
const MAX_FILTER_DEPTH = 32

interface ParsedSearch extends Omit<itemSearch.Search, 'organizationId' | 'hiddenProjectIds'> {
  filter: Cql2 | null
  resumed: Next | null
  baseUrl: string | null
}

/** Validates the whole search before any query. */
export function parseSearch(input: SearchFields): ParsedSearch {
  if (input.bbox && input.intersects) throw problem('bad-request', 'Send either bbox or intersects, not both')
  const lang = input['filter-lang']
  if (input.filter && lang != null && lang !== 'cql2-json')
    throw problem('bad-request', `filter-lang must be cql2-json, not '${lang.slice(0, 60)}'`)
  const offset = input.page * input.limit
  if (offset > MAX_OFFSET)
    throw problem('bad-request', `page can reach at most ${MAX_OFFSET} items; continue with next of the previous page`)
  const filter = input.filter ? parseCql2(requireBounded(input.filter, 'filter', MAX_FILTER_DEPTH)) : null
  const orders = input.sortby == null ? [] : parseSort(input.sortby, STAC_COLUMNS)
  const resumed = input.next == null ? null : decodeNext(input.next, orders)
  return {
    projectId: null,
    bbox: input.bbox ? requireBbox(input.bbox, 'bbox') : null,
    shapes: input.intersects ? partsOf(requireArea(input.intersects, 'intersects', ['Polygon']), false) : requiredShapes(filter),
    interval: input.datetime == null ? null : parseInterval(input.datetime, 'datetime'),
    // An invalid ID matches no collection; it must not widen the search to all of them.
    collectionIds: input.collections == null ? null : input.collections.filter(isUuid),
    ids: input.ids ?? null,
    type: null,
    query: input.query == null ? [] : parseQuery(requireBounded(input.query, 'query'), STAC_COLUMNS),
    orders,
    limit: input.limit,
    offset: resumed ? 0 : offset,
    after: resumed?.cursor ?? null,
    counting: resumed ? 'none' : input.format === 'stac' ? 'cheap' : 'full',
    mayEndEarly: input.format === 'stac',
    withAssets: input.format === 'stac',
    filter,
    resumed,
    baseUrl: input.base_url === undefined ? null : requireBaseUrl(input.base_url),
  }
}

/** Geometries that every match must touch, for the spatial index. */
function requiredShapes(filter: Cql2 | null): Part[] | null {
  const shapes = (part: Cql2): Part[] | null =>
    part.op === 's_intersects' ? shapesOf(part.geometries) : part.op === 's_relate' ? shapesOf([part.geometry]) : null
  const parts = filter?.op === 'and' ? filter.args : filter ? [filter] : []
  return parts.map(shapes).find((geometries) => geometries !== null) ?? null
}

/** Page links of lightweight features. Pages of complete items can end early, so those use `next` only. */
function pageLinks(base: string, page: number, isLast: boolean): Static<typeof FoundFeatures>['links'] {
  const link = (rel: 'next' | 'prev', to: number) => ({
    rel,
    href: `${base}/v1/op/stac.search`,
    type: 'application/geo+json',
    method: 'POST' as const,
    body: { page: to },
    merge: true as const,
  })
  return [...(isLast ? [] : [link('next', page + 1)]), ...(page === 0 ? [] : [link('prev', page - 1)])]
}

type Search = ParsedSearch & itemSearch.Search

export async function find(
  { db, searchMemory, baseUrl }: Context,
  input: SearchFields,
  search: Search,
): Promise<Static<typeof FoundFeatures>> {
  const isWhole = input.format === 'stac'
  const base = search.baseUrl ?? baseUrl
  const result = await itemSearch.searchPlace(db, searchMemory, search)
  const { items } = result
  const next = result.isLast ? null : result.cursors.at(-1)!
  const view = { baseUrl: base, links: isWhole ? 'all' : 'one', key: input.key ?? null } as const
  const pick = picker(input.fields ?? null)
  const { matched, isEstimated } = search.resumed ?? result
  return {
    type: 'FeatureCollection',
    links: [
      { rel: 'self', href: withKey(`${base}/stac/search`, input.key), type: 'application/geo+json' },
      { rel: 'root', href: withKey(`${base}/stac`, input.key), type: 'application/json' },
      ...(isWhole || search.resumed ? [] : pageLinks(base, input.page, result.isLast)),
    ],
    context: {
      limit: input.limit,
      returned: items.length,
      ...(matched === null ? {} : { matched }),
      page: input.page,
      ...(matched === null ? {} : { pages: Math.ceil(matched / input.limit) }),
      ...(isEstimated ? { matched_estimated: true as const } : {}),
    },
    ...(next ? { next: encodeNext({ cursor: next, matched, isEstimated }) } : {}),
    features: await mapInParts(items, (item) => pick(toFeature(item, assetsIn(item.assetList), view))),
  }
}
