/**
 * Shares the database connections fairly: no tenant can have all of them, however many requests it sends. A tenant that is alone can have
 * more than its share, because nobody misses what it borrows; some always stay free, so that whoever comes next is served at once.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { problem } from '#core/problem.ts'
import { currentWork, type Work } from '#core/tenant.ts'
import { DatabaseUnavailable } from './failures.ts'
import { FairQueue, Tally } from '#core/fair-queue.ts'

export interface FairLimits {
  /** The size of the pool. */
  maxConnections: number
  /** The share of a tenant: what it can have at the same time while there are others. */
  maxRunningPerTenant: number
  /** A tenant that is alone gets more than its share while fewer than this are in use; at least its share. */
  maxInUseAlone: number
  /** Waiting per tenant; further requests are rejected. */
  maxWaitingPerTenant: number
  /** How long a request waits for a connection. */
  maxWaitMs: number
}

/** Queries of the service itself (sessions, limits, queues) never wait behind a tenant's. */
const PLATFORM = ''

/** A tenant is alone once the others have had no connection for this long, or up to twice as long. */
const REMEMBERED_MS = 1_000

async function connectTo(pool: PostgresPool): Promise<PostgresPoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    const message = error instanceof Error ? error.message || 'connection refused' : String(error)
    throw new DatabaseUnavailable(message, { cause: error, isRetryable: !/timeout/i.test(message) })
  }
}

async function waitIn(queue: FairQueue<() => void>, tenant: string, maxWaitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  queue.push(tenant, resolve)
  const late = setTimeout(() => {
    if (queue.remove(tenant, resolve)) reject(new DatabaseUnavailable(`no free connection within ${maxWaitMs / 1000} s`))
  }, maxWaitMs)
  try {
    await promise
  } finally {
    clearTimeout(late)
  }
}

/** The tenants that have used the resource lately; `isBusy` ones are never forgotten. Calls `onForgotten` when fewer are left. */
function createRecent(isBusy: (tenant: string) => boolean, onForgotten: () => void) {
  /** The round in which each was last seen. Rounds need no clock, and noting a tenant costs no timer. */
  const lastSeen = new Map<string, number>()
  let round = 0
  let timer: NodeJS.Timeout | null = null
  const arm = (): void => {
    timer ??= setTimeout(forget, REMEMBERED_MS).unref()
  }
  const forget = (): void => {
    timer = null
    const before = lastSeen.size
    for (const [tenant, seen] of lastSeen) if (seen < round && !isBusy(tenant)) lastSeen.delete(tenant)
    round++
    if (lastSeen.size > 0) arm()
    if (lastSeen.size < before) onForgotten()
  }
  return {
    note(tenant: string): void {
      lastSeen.set(tenant, round)
      arm()
    },
    /** Whether no other tenant than this one, which was noted, has used the resource lately. */
    isAlone: (): boolean => lastSeen.size <= 1,
  }
}

/** Who can have a connection now, and who is next. */
function createSlots(limits: FairLimits) {
  const waiting = new FairQueue<() => void>()
  const running = new Tally()
  let inUse = 0
  const recent = createRecent(
    (tenant) => running.of(tenant) > 0 || waiting.waitingOf(tenant) > 0,
    () => dispatch(),
  )
  const mayBorrow = (): boolean => recent.isAlone() && inUse < limits.maxInUseAlone
  const mayRun = (tenant: string): boolean => tenant === PLATFORM || running.of(tenant) < limits.maxRunningPerTenant || mayBorrow()
  const begin = (tenant: string): void => {
    inUse++
    running.add(tenant, 1)
  }
  const dispatch = (): void => {
    while (inUse < limits.maxConnections) {
      const next = waiting.take((tenant) => tenant === PLATFORM) ?? waiting.take(mayRun)
      if (!next) return
      begin(next.tenant)
      next.entry()
    }
  }
  const end = (tenant: string): void => {
    inUse--
    running.add(tenant, -1)
    if (tenant !== PLATFORM) recent.note(tenant)
    dispatch()
  }
  const waitForSlot = async (tenant: string): Promise<void> => {
    if (tenant !== PLATFORM) recent.note(tenant)
    if (inUse < limits.maxConnections && mayRun(tenant)) return begin(tenant)
    if (tenant !== PLATFORM && waiting.waitingOf(tenant) >= limits.maxWaitingPerTenant)
      throw problem('rate-limited', 'Too many requests of this organization are queued; send fewer at once', {
        headers: { 'Retry-After': '1' },
      })
    await waitIn(waiting, tenant, limits.maxWaitMs)
  }
  return { waitForSlot, end, waiting: () => waiting.size }
}

/** `waiting` is the number of requests without a connection. */
export function fairly(pool: PostgresPool, limits: FairLimits): PostgresPool & { waiting(): number } {
  const { waitForSlot, end, waiting } = createSlots(limits)
  /** By client: Kysely identifies a connection by its client object, so it must stay the same. */
  const lent = new WeakMap<PostgresPoolClient, { tenant: string; work: Work | null }>()
  const guarded = new WeakSet<PostgresPoolClient>()
  const guard = (client: PostgresPoolClient): PostgresPoolClient => {
    if (guarded.has(client)) return client
    guarded.add(client)
    const release = client.release.bind(client)
    client.release = (...args) => {
      release(...args)
      const lease = lent.get(client)
      lent.delete(client)
      if (lease?.work) lease.work.connections--
      if (lease) end(lease.tenant)
    }
    return client
  }
  return {
    async connect() {
      const work = currentWork()
      const tenant = work === null || work.connections > 0 ? PLATFORM : work.tenant
      await waitForSlot(tenant)
      try {
        const client = guard(await connectTo(pool))
        lent.set(client, { tenant, work })
        if (work) work.connections++
        return client
      } catch (error) {
        end(tenant)
        throw error
      }
    },
    end: () => pool.end(),
    waiting,
  } as PostgresPool & { waiting(): number }
}
