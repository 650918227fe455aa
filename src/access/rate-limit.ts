import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Notices } from '#db/notices.ts'
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
  /** Gives back what was borrowed, as when the service stops. */
  close(): Promise<void>
}

const BATCH = { maxKeys: 500, maxInFlight: 1 }
/** What was borrowed and not used for so long is given back. */
const UNUSED_MS = 1_000
const MAX_LOANS = 10_000

/** Ordinals that this process may give to requests without asking. */
interface Loan {
  startedAt: Date
  limit: number
  next: number
  end: number
  usedAtMs: number
}

interface Place {
  ordinal: number
  startedAt: Date
}

/**
 * The limit is exact to one request over all processes. Far from it a process borrows a few dozen requests at a time and counts
 * them itself. Before anybody is refused, all processes are asked to give back what they have not used; `notices` does that, and
 * without it, or while it is silent, nothing is borrowed.
 */
export function createRateLimiter(db: Db, clock: Clock, notices: Notices | null): RateLimiter {
  const loans = new Map<string, Loan>()
  const take = batcher((wants: readonly rateWindow.Want[]) => rateWindow.take(db, wants, clock.now()), BATCH)

  /** Loans on their way: whoever is asked to give back waits for them. */
  const borrowing = new Map<string, Promise<unknown>>()
  /** Windows that are used up by what was counted, with nothing lent: nobody need be asked again before they end. */
  const spent = new Map<string, { limit: number; startedAt: Date }>()

  const returnRest = async (subject: string, loan: Loan | undefined): Promise<void> => {
    if (!loan || loan.next >= loan.end) return
    const count = loan.end - loan.next
    loan.next = loan.end
    await rateWindow.giveBack(db, subject, loan.startedAt, count)
  }
  const repay = async (subject: string): Promise<void> => {
    await borrowing.get(subject)?.catch(() => {})
    const loan = loans.get(subject)
    loans.delete(subject)
    await returnRest(subject, loan)
  }
  const repayAll = async (isDue: (loan: Loan) => boolean): Promise<void> => {
    for (const [subject, loan] of loans) if (isDue(loan)) await repay(subject)
  }
  notices?.onRecall((subject) => repay(subject))
  const tidying = setInterval(() => {
    const nowMs = performance.now()
    repayAll(({ usedAtMs }) => nowMs - usedAtMs > UNUSED_MS).catch(() => {}) // Lost until the window ends, never given twice.
  }, UNUSED_MS).unref()

  const fromLoan = ({ subject, limit, windowSeconds }: Allowance): Place | null => {
    const loan = loans.get(subject)
    if (!loan || loan.limit !== limit || loan.next >= loan.end) return null
    if (clock.now().getTime() >= loan.startedAt.getTime() + windowSeconds * 1000) return null
    loan.usedAtMs = performance.now()
    return { ordinal: loan.next++, startedAt: loan.startedAt }
  }
  const fromDatabase = async ({ subject, limit, windowSeconds }: Allowance, mayBorrow: boolean): Promise<Place> => {
    const taking = take({ subject, limit, windowSeconds, mayBorrow })
    const kept = taking.then(async ({ startedAt, loan }) => {
      if (!loan) return
      const old = loans.get(subject) // Used up, or of another window or limit; else what is left of it would be lost.
      loans.set(subject, { startedAt, limit, next: loan.first, end: loan.first + loan.count, usedAtMs: performance.now() })
      await returnRest(subject, old)
    })
    if (mayBorrow) {
      const all = Promise.allSettled([borrowing.get(subject), kept])
      borrowing.set(subject, all)
      void all.then(() => borrowing.get(subject) === all && borrowing.delete(subject))
    }
    const { ordinal, startedAt } = await taking
    await kept
    return { ordinal, startedAt }
  }
  const fromSpent = ({ subject, limit, windowSeconds }: Allowance): Place | null => {
    const known = spent.get(subject)
    if (!known || known.limit !== limit) return null
    if (clock.now().getTime() < known.startedAt.getTime() + windowSeconds * 1000) return { ordinal: limit + 1, startedAt: known.startedAt }
    spent.delete(subject)
    return null
  }
  const place = async (allowance: Allowance): Promise<Place> => {
    const known = fromLoan(allowance) ?? fromSpent(allowance)
    if (known) return known
    const isHeard = notices !== null && notices.state() !== null && loans.size < MAX_LOANS
    const found = await fromDatabase(allowance, isHeard)
    if (found.ordinal <= allowance.limit || !notices) return found
    await repay(allowance.subject)
    await notices.recall(allowance.subject)
    const final = await fromDatabase(allowance, false)
    if (final.ordinal <= allowance.limit) return final
    if (spent.size >= MAX_LOANS) spent.clear()
    spent.set(allowance.subject, { limit: allowance.limit, startedAt: final.startedAt })
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
      const detail = `The limit of ${limit} requests in ${windowSeconds} seconds is used up; it starts anew in ${resetSeconds} seconds`
      throw problem('rate-limited', detail, { headers: { ...headers, 'Retry-After': String(Math.max(1, resetSeconds)) } })
    },
    async close() {
      clearInterval(tidying)
      await repayAll(() => true)
    },
  }
}
