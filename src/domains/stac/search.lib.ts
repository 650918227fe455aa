/** How a STAC search is read, and how its answer is written. */
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

/** Deeper pages are reached by `next`, which costs the same everywhere. */
const MAX_OFFSET = 100_000
const MAX_FILTER_DEPTH = 32

interface Read extends Omit<itemSearch.Search, 'organizationId' | 'hiddenProjectIds'> {
  filter: Cql2 | null
  resumed: Next | null
  baseUrl: string | null
}

/** Everything that can be wrong with a search is found before the database is asked. */
export function readSearch(input: SearchFields): Read {
  if (input.bbox && input.intersects) throw problem('bad-request', 'Send either bbox or intersects, not both')
  const lang = input['filter-lang']
  if (input.filter && lang != null && lang !== 'cql2-json')
    throw problem('bad-request', `filter-lang must be cql2-json, not '${lang.slice(0, 60)}'`)
  const offset = input.page * input.limit
  if (offset > MAX_OFFSET)
    throw problem('bad-request', `Pages reach ${MAX_OFFSET} items deep; go on with the next of the page before instead`)
  const filter = input.filter ? parseCql2(requireBounded(input.filter, 'filter', MAX_FILTER_DEPTH)) : null
  const orders = input.sortby == null ? [] : parseSort(input.sortby, STAC_COLUMNS)
  const resumed = input.next == null ? null : decodeNext(input.next, orders)
  return {
    projectId: null,
    bbox: input.bbox ? requireBbox(input.bbox, 'bbox') : null,
    shapes: input.intersects ? partsOf(requireArea(input.intersects, 'intersects', ['Polygon']), false) : nearShapes(filter),
    interval: input.datetime == null ? null : parseInterval(input.datetime, 'datetime'),
    // An id that is none of ours names no collection; it is not a reason to search everything.
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

/** A place that every match must touch leads to the cells that are worth reading. */
function nearShapes(filter: Cql2 | null): Part[] | null {
  const shapes = (each: Cql2): Part[] | null =>
    each.op === 's_intersects' ? shapesOf(each.geometries) : each.op === 's_relate' ? shapesOf([each.geometry]) : null
  const parts = filter?.op === 'and' ? filter.args : filter ? [filter] : []
  return parts.map(shapes).find((found) => found !== null) ?? null
}

/** Whole items are paged through by `next` alone: their pages may end early. */
function pagesAround(base: string, page: number, isLast: boolean): Static<typeof FoundFeatures>['links'] {
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

type Wanted = Read & itemSearch.Search

export async function find(
  { db, searchMemory, baseUrl }: Context,
  input: SearchFields,
  wanted: Wanted,
): Promise<Static<typeof FoundFeatures>> {
  const isWhole = input.format === 'stac'
  const base = wanted.baseUrl ?? baseUrl
  const found = await itemSearch.searchPlace(db, searchMemory, wanted)
  const { items } = found
  const next = found.isLast ? null : found.cursors.at(-1)!
  const view = { baseUrl: base, links: isWhole ? 'all' : 'one', key: input.key ?? null } as const
  const pick = picker(input.fields ?? null)
  const { matched, isEstimated } = wanted.resumed ?? found
  return {
    type: 'FeatureCollection',
    links: [
      { rel: 'self', href: withKey(`${base}/stac/search`, input.key), type: 'application/geo+json' },
      { rel: 'root', href: withKey(`${base}/stac`, input.key), type: 'application/json' },
      ...(isWhole || wanted.resumed ? [] : pagesAround(base, input.page, found.isLast)),
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
    features: await mapInParts(items, (each) => pick(toFeature(each, assetsIn(each.assetList), view))),
  }
}
