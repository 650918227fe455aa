/** Pages of one host's scenes, with cursors that are bound to their search. */
import type { Context } from '#operation.ts'
import type { ScenePage, Source } from '#ports/vendors.ts'
import { collectionsFor, parseFilters, requireSource, type Filters } from './search.lib.ts'
import type { FilterFields } from './wire.ts'

export interface HostSearch {
  readonly source: Source
  /** Null if the host has none of the requested collections. */
  readonly filters: Filters | null
  /** The search that its cursors are bound to. */
  readonly criteria: unknown
  readonly cursor: string | null
}

type SearchInput = FilterFields & { host_name: string; next?: string | null }

export async function readSearch({ vendors, cursors }: Pick<Context, 'vendors' | 'cursors'>, input: SearchInput): Promise<HostSearch> {
  const { host_name, next, full_catalog } = input
  const source = requireSource(vendors, host_name)
  const filters = parseFilters(input)
  const collections = collectionsFor(source, filters.collections, full_catalog === true)
  const { collections: wanted, ids, datetime, query, bbox, intersects } = input
  const criteria = { host_name, wanted, ids, datetime, query, bbox, intersects, full_catalog }
  const cursor = next == null ? null : await cursors.open(cursorIn(next), criteria)
  return { source, filters: collections && { ...filters, collections }, criteria, cursor }
}

/** Clients can send the cursor, or the whole URL of the `next` link. */
function cursorIn(next: string): string {
  return URL.parse(next)?.searchParams.get('next') ?? next
}

export async function searchPage(
  { vendors, signal }: Pick<Context, 'vendors' | 'signal'>,
  { source, filters, cursor }: HostSearch,
  limit: number,
): Promise<ScenePage> {
  if (!filters) return { scenes: [], cursor: null }
  return await vendors.catalog(source.hostName).search({ ...filters, limit, cursor }, { signal })
}

export const sealNext = async (
  { cursors }: Pick<Context, 'cursors'>,
  { criteria }: HostSearch,
  cursor: string | null,
): Promise<string | null> => (cursor === null ? null : await cursors.seal(cursor, criteria))
