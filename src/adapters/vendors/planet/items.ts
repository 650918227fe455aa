/** Items of Planet's catalogue by ID. Searches keep what they found, so that previews and prices need no further request. */
import { LRUCache } from 'lru-cache'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import { MAX_PAGE_SIZE, schemas, type Item } from './wire.ts'

const MAX_ITEMS = 2_000
/** Permissions and assets of a scene change within hours. */
const FRESH_MS = 5 * 60_000

export const QUICK_SEARCH = '/data/v1/quick-search'

export interface Items {
  keep(items: readonly Item[]): void
  /** Those that Planet has, by ID. */
  find(ids: readonly string[], options: CallOptions): Promise<ReadonlyMap<string, Item>>
}

/** IDs are unique across item types, so that the type of a scene need not be known. */
export function createItems(host: Host, itemTypes: readonly string[]): Items {
  const known = new LRUCache<string, Item>({ max: MAX_ITEMS, ttl: FRESH_MS })
  const keep = (items: readonly Item[]): void => {
    for (const item of items) known.set(item.id, item)
  }
  const search = async (ids: readonly string[], options: CallOptions): Promise<readonly Item[]> => {
    const body = { item_types: itemTypes, filter: { type: 'StringInFilter', field_name: 'id', config: ids } }
    const path = `${QUICK_SEARCH}?_page_size=${MAX_PAGE_SIZE}`
    const page = await ask(host, schemas.page, { method: 'POST', path, body, isRepeatable: true, ...options }, 'list of items')
    if (!page) throw new VendorError('invalid-response', host.name, `${host.name} has no search`)
    return page.features.filter(({ id }) => ids.includes(id))
  }
  return {
    keep,
    async find(ids, options) {
      const found = new Map<string, Item>()
      const missing: string[] = []
      for (const id of new Set(ids)) {
        const item = known.get(id)
        if (item) found.set(id, item)
        else missing.push(id)
      }
      for (let at = 0; at < missing.length; at += MAX_PAGE_SIZE) {
        const items = await search(missing.slice(at, at + MAX_PAGE_SIZE), options)
        keep(items)
        for (const item of items) found.set(item.id, item)
      }
      return found
    },
  }
}
