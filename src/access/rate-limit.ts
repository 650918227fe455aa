import { LRUCache } from 'lru-cache'
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Notices } from '#db/notices.ts'
import { isReadOnly } from '#db/failures.ts'
import type { Db } from '#db/tables.ts'
import type { Allowance } from './authenticate.ts'
import { RateLimitLeases, type Place } from './rate-limit-leases.ts'

interface Admission {
  /** For every response, including rejections. */
  headers: Record<string, string>
}

export interface RateLimiter {
  /** Counts the request; throws 429 if it exceeds the limit. */
  admit(allowance: Allowance): Promise<Admission>
  /** Returns all leases. */
  close(): Promise<void>
}

/** Leases that were not used for this long are returned. */
const UNUSED_MS = 1_000
const MAX_SPENT = 10_000
/** How long a database that was read-only is not asked again. */
const READ_ONLY_MS = 1_000

/**
 * The limit is exact to one request over all processes. Far below the limit, a process leases a few dozen requests at a time and
 * counts them itself. Before a request is rejected, all processes are told to return their unused leases; `notices` does that, and
 * without it, or while it is disconnected, nothing is leased.
 */
export function createRateLimiter(db: Db, clock: Clock, notices: Notices | null): RateLimiter {
  const leases = new RateLimitLeases(db, clock)
  /** Windows that are used up, with no open leases: they need no query before they end. */
  const spent = new LRUCache<string, { limit: number; startedAt: Date }>({ max: MAX_SPENT })
  notices?.onRecall((subject) => leases.release(subject))
  const tidying = setInterval(() => void leases.releaseUnused(UNUSED_MS).catch(() => {}), UNUSED_MS).unref()

  const fromSpent = ({ subject, limit, windowSeconds }: Allowance): Place | null => {
    const known = spent.get(subject)
    if (!known || known.limit !== limit) return null
    if (clock.now().getTime() < known.startedAt.getTime() + windowSeconds * 1000) return { ordinal: limit + 1, startedAt: known.startedAt }
    spent.delete(subject)
    return null
  }
  /** A database that is read-only still answers reads, but counts nothing: meanwhile, this process counts its own requests. */
  const uncounted = new LRUCache<string, Place>({ max: MAX_SPENT })
  let isReadOnlyUntilMs = 0
  const countHere = ({ subject, windowSeconds }: Allowance): Place => {
    const now = clock.now()
    const known = uncounted.get(subject)
    const isCurrent = known !== undefined && now.getTime() < known.startedAt.getTime() + windowSeconds * 1000
    const place = isCurrent ? { ...known, ordinal: known.ordinal + 1 } : { ordinal: 1, startedAt: now }
    uncounted.set(subject, place)
    return place
  }
  const take = async (allowance: Allowance, canRecall: boolean): Promise<Place> => {
    if (performance.now() < isReadOnlyUntilMs) return countHere(allowance)
    try {
      return await leases.take(allowance, canRecall)
    } catch (error) {
      if (!isReadOnly(error)) throw error
      isReadOnlyUntilMs = performance.now() + READ_ONLY_MS
      return countHere(allowance)
    }
  }
  const place = async (allowance: Allowance): Promise<Place> => {
    const { subject, limit } = allowance
    const known = leases.spend(allowance) ?? fromSpent(allowance)
    if (known) return known
    const taken = await take(allowance, notices !== null && notices.state() !== null)
    if (taken.ordinal <= limit || !notices) return taken
    await leases.release(subject)
    await notices.recall(subject)
    const final = await take(allowance, false)
    if (final.ordinal <= limit) return final
    spent.set(subject, { limit, startedAt: final.startedAt })
    return final
  }

  return {
    async admit(allowance) {
      const { policy, limit, windowSeconds } = allowance
      const { ordinal, startedAt } = await place(allowance)
      const resetSeconds = Math.max(0, Math.ceil((startedAt.getTime() + windowSeconds * 1000 - clock.now().getTime()) / 1000))
      const headers = {
        'RateLimit-Policy': `"${policy}";q=${limit};w=${windowSeconds}`,
        RateLimit: `"${policy}";r=${Math.max(0, limit - ordinal)};t=${resetSeconds}`,
      }
      if (ordinal <= limit) return { headers }
      const detail = `The rate limit of ${limit} requests per ${windowSeconds} seconds is used up; it resets in ${resetSeconds} seconds`
      throw problem('rate-limited', detail, { headers: { ...headers, 'Retry-After': String(Math.max(1, resetSeconds)) } })
    },
    async close() {
      clearInterval(tidying)
      await leases.releaseUnused(0)
    },
  }
}
