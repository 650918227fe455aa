/** Rate-limit leases of this process: requests that it can admit without a query. */
import { batcher } from '#core/batcher.ts'
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import type { Allowance } from './authenticate.ts'

/** Which request of its window one is. */
export interface Place {
  ordinal: number
  startedAt: Date
}

interface Lease {
  startedAt: Date
  limit: number
  next: number
  end: number
  usedAtMs: number
}

const BATCH = { maxKeys: 500, maxInFlight: 1 }
const MAX_LEASES = 10_000

export class RateLimitLeases {
  readonly #db: Db
  readonly #clock: Clock
  readonly #leases = new Map<string, Lease>()
  /** Leases being taken: a release waits for them. */
  readonly #coming = new Map<string, Promise<unknown>>()
  readonly #take: (want: rateWindows.LeaseRequest) => Promise<rateWindows.RateGrant>

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#take = batcher((wants: readonly rateWindows.LeaseRequest[]) => rateWindows.take(db, wants, clock.now()), BATCH)
  }

  /** A request of the current lease; null if there is none, or if it is for another window or limit. */
  spend({ subject, limit, windowSeconds }: Allowance): Place | null {
    const lease = this.#leases.get(subject)
    if (!lease || lease.limit !== limit || lease.next >= lease.end) return null
    if (this.#clock.now().getTime() >= lease.startedAt.getTime() + windowSeconds * 1000) return null
    lease.usedAtMs = performance.now()
    return { ordinal: lease.next++, startedAt: lease.startedAt }
  }

  /** Counts one request in the database, and keeps the lease that comes with it. */
  async take({ subject, limit, windowSeconds }: Allowance, canRecall: boolean): Promise<Place> {
    const canLease = canRecall && this.#leases.size < MAX_LEASES
    const taking = this.#take({ subject, limit, windowSeconds, canLease })
    const kept = taking.then(async ({ startedAt, lease }) => {
      if (!lease) return
      const old = this.#leases.get(subject) // Used up, or of another window or limit; the rest is returned below.
      this.#leases.set(subject, { startedAt, limit, next: lease.first, end: lease.first + lease.count, usedAtMs: performance.now() })
      await this.#return(subject, old)
    })
    if (canLease) this.#await(subject, kept)
    await kept
    const { ordinal, startedAt } = await taking
    return { ordinal, startedAt }
  }

  async release(subject: string): Promise<void> {
    await this.#coming.get(subject)
    const lease = this.#leases.get(subject)
    this.#leases.delete(subject)
    await this.#return(subject, lease)
  }

  /** Returns leases that were not used for this long. */
  async releaseUnused(forMs: number): Promise<void> {
    const nowMs = performance.now()
    for (const [subject, lease] of this.#leases) if (nowMs - lease.usedAtMs >= forMs) await this.release(subject)
  }

  #await(subject: string, kept: Promise<void>): void {
    const all = Promise.allSettled([this.#coming.get(subject), kept])
    this.#coming.set(subject, all)
    void all.then(() => this.#coming.get(subject) === all && this.#coming.delete(subject))
  }

  /** If returning fails, the requests are lost until the window ends; they are never granted twice. */
  async #return(subject: string, lease: Lease | undefined): Promise<void> {
    if (!lease || lease.next >= lease.end) return
    const count = lease.end - lease.next
    lease.next = lease.end
    await rateWindows.returnLease(this.#db, subject, lease.startedAt, count)
  }
}
