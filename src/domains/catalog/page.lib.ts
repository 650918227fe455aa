/** Pages of one host's scenes, with cursors that are bound to their search. */
import * as hostStates from '#model/vendors/host-state.ts'
import type { Context } from '#operation.ts'
import type { UsableSource } from '#model/vendors/account.ts'
import type { ScenePage } from '#ports/vendors/catalog.ts'
import { collectionsFor, parseFilters, requireUsable, type Filters } from './search.lib.ts'
import type { FilterFields } from './wire.ts'

export interface HostSearch extends UsableSource {
  /** Null if the host has none of the requested collections. */
  readonly filters: Filters | null
  /** The search that its cursors are bound to. */
  readonly criteria: unknown
  readonly cursor: string | null
}

type SearchInput = FilterFields & { host_name: string; next?: string | null }

type ReadContext = Pick<Context, 'db' | 'principal' | 'vendors' | 'cursors'>

export async function readSearch(context: ReadContext, input: SearchInput): Promise<HostSearch> {
  const { host_name, next, full_catalog } = input
  const { source, accountId } = await requireUsable(context, host_name)
  const filters = parseFilters(input)
  const collections = collectionsFor(source, filters.collections, full_catalog === true)
  const { collections: wanted, ids, datetime, query, bbox, intersects } = input
  const criteria = { host_name, wanted, ids, datetime, query, bbox, intersects, full_catalog }
  const cursor = next == null ? null : await context.cursors.open(cursorIn(next), criteria)
  return { source, accountId, filters: collections && { ...filters, collections }, criteria, cursor }
}

/** Clients can send the cursor, or the whole URL of the `next` link. */
function cursorIn(next: string): string {
  return URL.parse(next)?.searchParams.get('next') ?? next
}

/** A host that did not respond to the last probe is given less time than usual, so that nobody waits for it in vain. */
const UNREACHABLE_DEADLINE_MS = 3_000

export async function searchPage(
  { db, vendors, signal }: Pick<Context, 'db' | 'vendors' | 'signal'>,
  { source, accountId, filters, cursor }: HostSearch,
  limit: number,
): Promise<ScenePage> {
  if (!filters) return { scenes: [], cursor: null }
  const isUnreachable = !source.simulated && (await hostStates.list(db)).get(source.hostName)?.status === 'unreachable'
  const deadline = isUnreachable ? { deadlineMs: UNREACHABLE_DEADLINE_MS } : {}
  return await vendors.catalog(source.hostName, accountId).search({ ...filters, limit, cursor }, { signal, ...deadline })
}

export const sealNext = async (
  { cursors }: Pick<Context, 'cursors'>,
  { criteria }: HostSearch,
  cursor: string | null,
): Promise<string | null> => (cursor === null ? null : await cursors.seal(cursor, criteria))
