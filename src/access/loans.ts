/** What this process has borrowed from the limits of callers: requests that it may let in without asking. */
import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import * as rateWindow from '#model/platform/rate-window.ts'
import type { Allowance } from './authenticate.ts'

/** Which request of its window one is. */
export interface Place {
  ordinal: number
  startedAt: Date
}

interface Loan {
  startedAt: Date
  limit: number
  next: number
  end: number
  usedAtMs: number
}

const BATCH = { maxKeys: 500, maxInFlight: 1 }
const MAX_LOANS = 10_000

export class Loans {
  readonly #db: Db
  readonly #clock: Clock
  readonly #loans = new Map<string, Loan>()
  /** On their way: whoever is asked to give back waits for them. */
  readonly #coming = new Map<string, Promise<unknown>>()
  readonly #take: (want: rateWindow.Want) => Promise<rateWindow.Taken>

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#take = batcher((wants: readonly rateWindow.Want[]) => rateWindow.take(db, wants, clock.now()), BATCH)
  }

  /** A place out of what is lent; null where nothing is, or where it was for another window or limit. */
  spend({ subject, limit, windowSeconds }: Allowance): Place | null {
    const loan = this.#loans.get(subject)
    if (!loan || loan.limit !== limit || loan.next >= loan.end) return null
    if (this.#clock.now().getTime() >= loan.startedAt.getTime() + windowSeconds * 1000) return null
    loan.usedAtMs = performance.now()
    return { ordinal: loan.next++, startedAt: loan.startedAt }
  }

  /** Counts one request in the database, and keeps what it lends besides. */
  async take({ subject, limit, windowSeconds }: Allowance, isHeard: boolean): Promise<Place> {
    const mayBorrow = isHeard && this.#loans.size < MAX_LOANS
    const taking = this.#take({ subject, limit, windowSeconds, mayBorrow })
    const kept = taking.then(async ({ startedAt, loan }) => {
      if (!loan) return
      const old = this.#loans.get(subject) // Used up, or of another window or limit; else what is left of it would be lost.
      this.#loans.set(subject, { startedAt, limit, next: loan.first, end: loan.first + loan.count, usedAtMs: performance.now() })
      await this.#return(subject, old)
    })
    if (mayBorrow) this.#await(subject, kept)
    await kept
    const { ordinal, startedAt } = await taking
    return { ordinal, startedAt }
  }

  async repay(subject: string): Promise<void> {
    await this.#coming.get(subject)
    const loan = this.#loans.get(subject)
    this.#loans.delete(subject)
    await this.#return(subject, loan)
  }

  /** Gives back what was not used for so long. */
  async repayUnused(forMs: number): Promise<void> {
    const nowMs = performance.now()
    for (const [subject, loan] of this.#loans) if (nowMs - loan.usedAtMs >= forMs) await this.repay(subject)
  }

  #await(subject: string, kept: Promise<void>): void {
    const all = Promise.allSettled([this.#coming.get(subject), kept])
    this.#coming.set(subject, all)
    void all.then(() => this.#coming.get(subject) === all && this.#coming.delete(subject))
  }

  /** What fails on the way back is lost until the window ends, and never given twice. */
  async #return(subject: string, loan: Loan | undefined): Promise<void> {
    if (!loan || loan.next >= loan.end) return
    const count = loan.end - loan.next
    loan.next = loan.end
    await rateWindow.giveBack(this.#db, subject, loan.startedAt, count)
  }
}
