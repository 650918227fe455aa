/** A short-lived cache of valid credentials: a map loads hundreds of tiles with one key. */
import { LRUCache } from 'lru-cache'
import type { Clock } from '#core/clock.ts'
import type { Notices } from '#db/notices.ts'
import type { LiveKey, LiveSession } from '#model/identity/credential.ts'

/** Limits staleness that no notice announces, such as an expiry; changes of access rights invalidate entries at once. */
const KEPT_MS = 5_000
const MAX_KEPT = 10_000

interface Kept<V> {
  value: V
  untilMs: number
  /** The state of the notices when the database was queried. */
  state: number
}

type Find<V> = () => Promise<V | null>

interface Memory {
  key(name: string, find: Find<LiveKey>): Promise<LiveKey | null>
  session(name: string, find: Find<LiveSession>): Promise<LiveSession | null>
}

/** Caches nothing while changes would not be noticed. Invalid credentials are never cached. */
export function createMemory(clock: Clock, notices: Pick<Notices, 'state'> | null): Memory {
  const remembering = <V extends { expiresAt: Date | null }>() => {
    const kept = new LRUCache<string, Kept<V>>({ max: MAX_KEPT })
    return async (name: string, find: Find<V>): Promise<V | null> => {
      const state = notices?.state() ?? null
      const nowMs = clock.now().getTime()
      const known = kept.get(name)
      if (known && known.state === state && nowMs < known.untilMs) return known.value
      const value = await find()
      if (value && state !== null)
        kept.set(name, { value, state, untilMs: Math.min(nowMs + KEPT_MS, value.expiresAt?.getTime() ?? Infinity) })
      return value
    }
  }
  return { key: remembering<LiveKey>(), session: remembering<LiveSession>() }
}
