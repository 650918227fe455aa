/** Pages of one host's scenes: the cursor, and what stands behind it. */
import type { Context } from '#operation.ts'
import type { ScenePage, Source } from '#ports/vendors.ts'
import { collectionsFor, parseFilters, requireSource, type Filters } from './search.lib.ts'
import type { FilterFields } from './wire.ts'

export interface HostSearch {
  readonly source: Source
  /** Null: the host has none of the collections. */
  readonly filters: Filters | null
  /** What a cursor of this search is bound to. */
  readonly asked: unknown
  readonly cursor: string | null
}

type SearchInput = FilterFields & { host_name: string; next?: string | null }

export async function readSearch({ vendors, cursors }: Pick<Context, 'vendors' | 'cursors'>, input: SearchInput): Promise<HostSearch> {
  const { host_name, next, full_catalog } = input
  const source = requireSource(vendors, host_name)
  const filters = parseFilters(input)
  const collections = collectionsFor(source, filters.collections, full_catalog === true)
  const { collections: wanted, ids, datetime, query, bbox, intersects } = input
  const asked = { host_name, wanted, ids, datetime, query, bbox, intersects, full_catalog }
  const cursor = next == null ? null : await cursors.open(cursorIn(next), asked)
  return { source, filters: collections && { ...filters, collections }, asked, cursor }
}

/** A client may send back the cursor, or the whole address of the link that it came in. */
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

export const sealed = async ({ cursors }: Pick<Context, 'cursors'>, { asked }: HostSearch, cursor: string | null): Promise<string | null> =>
  cursor === null ? null : await cursors.seal(cursor, asked)
