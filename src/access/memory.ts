/** Credentials that were found good a moment ago: a map asks for hundreds of tiles with one key. */
import { LRUCache } from 'lru-cache'
import type { Clock } from '#core/clock.ts'
import type { Notices } from '#db/notices.ts'
import type { LiveKey, LiveSession } from '#model/identity/credential.ts'

/** Bounds what only time can tell, such as a clock that was set; every change of rights is told at once. */
const KEPT_MS = 5_000
const MAX_KEPT = 10_000

interface Kept<V> {
  value: V
  untilMs: number
  /** What was known to be so when the database was asked. */
  state: number
}

type Find<V> = () => Promise<V | null>

interface Memory {
  key(name: string, find: Find<LiveKey>): Promise<LiveKey | null>
  session(name: string, find: Find<LiveSession>): Promise<LiveSession | null>
}

/** Whoever would not be told of a change remembers nothing. What was refused is asked for anew every time. */
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
