/** Archives of SkyFi by ID. A search returns prices with its scenes, so that pricing them needs no further request. */
import { LRUCache } from 'lru-cache'
import type { CallOptions } from '#ports/vendors/call.ts'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { schemas, type Archive } from './wire.ts'

const MAX_ARCHIVES = 2_000
/** Prices change seldom; before an order is placed, the price is read again. */
const FRESH_MS = 5 * 60_000

export interface Archives {
  keep(archives: readonly Archive[]): void
  /** Null if SkyFi does not have it. */
  get(id: string, options: CallOptions): Promise<Archive | null>
  /** The same from SkyFi itself. */
  current(id: string, options: CallOptions): Promise<Archive | null>
}

export function createArchives(host: Host): Archives {
  const known = new LRUCache<string, Archive>({ max: MAX_ARCHIVES, ttl: FRESH_MS })
  const keep = (archives: readonly Archive[]): void => {
    for (const archive of archives) known.set(archive.archiveId, archive)
  }
  const current = async (id: string, options: CallOptions): Promise<Archive | null> => {
    const archive = await ask(host, schemas.archive, { path: `/archives/${encodeURIComponent(id)}`, ...options }, 'archive')
    if (archive) keep([archive])
    return archive
  }
  return { keep, current, get: async (id, options) => known.get(id) ?? (await current(id, options)) }
}
