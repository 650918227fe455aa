import { sql } from 'kysely'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Db } from '#db/tables.ts'

interface Hit {
  subject: string
  windowSeconds: number
}

interface Count {
  /** Number of this request in the current window, counted from 1 across all processes. */
  ordinal: number
  startedAt: Date
}

/**
 * Counts requests for a rate limit, in fixed windows that start at their first request. Hits of one subject share a row, and each still
 * gets its own ordinal, so the limit is exact across all processes.
 */
export async function countAll(db: Db, hits: readonly Hit[], now: Date): Promise<Count[]> {
  const sizes = new Map<string, { windowSeconds: number; count: number }>()
  for (const { subject, windowSeconds } of hits) {
    const existing = sizes.get(subject)
    sizes.set(subject, { windowSeconds, count: (existing?.count ?? 0) + 1 })
  }
  // Sorted, so that two processes lock shared rows in the same order.
  const subjects = [...sizes.keys()].toSorted()
  const windows = subjects.map((subject) => sizes.get(subject)!.windowSeconds)
  const counts = subjects.map((subject) => sizes.get(subject)!.count)
  const { rows } = await sql<{ subject: string; startedAt: Date; used: number }>`
    insert into rate_window as r (subject, started_at, used)
    select subject, ${now}::timestamptz, n from unnest(${subjects}::text[], ${counts}::bigint[]) as hit (subject, n)
    on conflict (subject) do update set
      used = excluded.used + case when r.started_at > ${now}::timestamptz
        - make_interval(secs => (${windows}::int[])[array_position(${subjects}::text[], r.subject)]) then r.used else 0 end,
      started_at = case when r.started_at > ${now}::timestamptz
        - make_interval(secs => (${windows}::int[])[array_position(${subjects}::text[], r.subject)])
          then r.started_at else excluded.started_at end
    returning subject, started_at as "startedAt", used
  `.execute(db)
  await bringBack(db, rows, now)
  const next = new Map(rows.map((row) => [row.subject, { startedAt: row.startedAt, ordinal: row.used - sizes.get(row.subject)!.count }]))
  return hits.map(({ subject }) => {
    const window = next.get(subject)!
    window.ordinal++
    return { ordinal: window.ordinal, startedAt: window.startedAt }
  })
}

export interface LeaseRequest extends Hit {
  limit: number
  /** Whether the process can take a lease for later requests. */
  canLease: boolean
}

export interface RateGrant {
  /** Number of this request in the window; above the limit the request is rejected and not counted. */
  ordinal: number
  startedAt: Date
  /** Ordinals leased to this process, right after this request; set for the last request of a subject only. */
  lease: { first: number; count: number } | null
}

/** One part in this many of the remaining requests is leased at a time. Near the limit, requests are counted one by one. */
const LEASE_SHARE = 16
const MAX_LEASE = 64

/**
 * Counts requests as `countAll` does and takes rate-limit leases, so that a busy caller costs one statement for dozens of requests.
 * Leased requests count as used until they are returned.
 */
export async function take(db: Db, requests: readonly LeaseRequest[], now: Date): Promise<RateGrant[]> {
  const bySubject = Map.groupBy(requests, ({ subject }) => subject)
  // Sorted, so that two processes lock shared rows in the same order.
  const subjects = [...bySubject.keys()].toSorted()
  const column = (pick: (request: LeaseRequest, count: number) => number): number[] =>
    subjects.map((subject) => pick(bySubject.get(subject)![0]!, bySubject.get(subject)!.length))
  const { rows } = await sql<{ subject: string; startedAt: Date; before: number; lent: number }>`
    select subject, started_at as "startedAt", before, lent from take_of_rate(${subjects}::text[],
      ${column((_, count) => count)}::bigint[], ${column(({ limit }) => limit)}::bigint[],
      ${column(({ windowSeconds }) => windowSeconds)}::int[], ${column(({ canLease }) => (canLease ? MAX_LEASE : 0))}::bigint[],
      ${LEASE_SHARE}::bigint, ${now}::timestamptz)
  `.execute(db)
  await bringBack(db, rows, now)
  const bySubjectRow = new Map(rows.map((row) => [row.subject, { ...row, ordinal: row.before }]))
  return requests.map(({ subject }) => {
    const row = bySubjectRow.get(subject)!
    row.ordinal++
    const isLast = row.ordinal === row.before + bySubject.get(subject)!.length
    return {
      ordinal: row.ordinal,
      startedAt: row.startedAt,
      lease: isLast && row.lent > 0 ? { first: row.ordinal + 1, count: row.lent } : null,
    }
  })
}

/** Differences between clocks that are kept in step. */
const CLOCK_TOLERANCE_MS = 1_000

/**
 * A window that was started by a process whose clock is ahead would last longer than it should by as much. Whoever finds one lets it
 * begin now, by the clock of the database: that of this process may be the wrong one.
 */
async function bringBack(db: Db, windows: readonly { subject: string; startedAt: Date }[], now: Date): Promise<void> {
  const early = windows.filter(({ startedAt }) => startedAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MS)
  if (early.length === 0) return
  const subjects = early.map(({ subject }) => subject)
  await sql`
    update rate_window set started_at = clock_timestamp() where subject = any(${subjects}::text[]) and started_at > clock_timestamp()
  `.execute(db)
}

/** Returns the unused requests of a lease, unless its window has passed. */
export async function returnLease(db: Db, subject: string, startedAt: Date, count: number): Promise<void> {
  await sql`
    update rate_window set used = greatest(0, used - ${count}) where subject = ${subject} and started_at = ${startedAt}
  `.execute(db)
}

export async function reset(db: Db, subject: string): Promise<void> {
  await db.deleteFrom('rate_window').where('subject', '=', subject).execute()
}

/** Resets every window whose subject starts with the prefix. */
export async function resetAll(db: Db, prefix: string): Promise<void> {
  await sql`delete from rate_window where starts_with(subject, ${prefix})`.execute(db)
}

/** Subtracts one request. */
export async function forgive(db: Db, subject: string): Promise<void> {
  await sql`update rate_window set used = used - 1 where subject = ${subject} and used > 0`.execute(db)
}

/** Deletes windows that have passed. */
export async function sweep(db: Db, before: Date): Promise<void> {
  await deleteInBatches(db, { table: 'rate_window', key: ['subject'], where: sql<boolean>`started_at < ${before}` })
}
