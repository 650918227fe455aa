import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import * as rateWindow from '#model/platform/rate-window.ts'
import type { Allowance } from './authenticate.ts'

interface Admission {
  /** For every answer to the caller, refused ones too. */
  headers: Record<string, string>
}

export interface RateLimiter {
  /** Counts the request; throws 429 when it is one too many. */
  admit(allowance: Allowance): Promise<Admission>
}

const BATCH = { maxKeys: 500, maxInFlight: 1 }

export function createRateLimiter(db: Db, clock: Clock): RateLimiter {
  const count = batcher((hits: readonly rateWindow.Hit[]) => rateWindow.countAll(db, hits, clock.now()), BATCH)
  return {
    async admit(allowance) {
      const { policy, subject, limit, windowSeconds } = allowance
      const { ordinal, startedAt } = await count({ subject, windowSeconds })
      const resetSeconds = Math.max(0, Math.ceil((startedAt.getTime() + windowSeconds * 1000 - clock.now().getTime()) / 1000))
      const headers = {
        'RateLimit-Policy': `"${policy}";q=${limit};w=${windowSeconds}`,
        RateLimit: `"${policy}";r=${Math.max(0, limit - ordinal)};t=${resetSeconds}`,
      }
      if (ordinal <= limit) return { headers }
      const detail = `The limit of ${limit} requests in ${windowSeconds} seconds is used up; it starts anew in ${resetSeconds} seconds`
      throw problem('rate-limited', detail, { headers: { ...headers, 'Retry-After': String(Math.max(1, resetSeconds)) } })
    },
  }
}
