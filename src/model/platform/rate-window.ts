import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

interface Hit {
  subject: string
  windowSeconds: number
}

interface Count {
  /** Which request of the current window this one is, counted from 1 over all processes. */
  ordinal: number
  startedAt: Date
}

/**
 * Counts requests in fixed windows that start at their first request. Several hits of one subject come in one row, and
 * each still gets its own ordinal, so the limit is exact to one request however many processes count.
 */
export async function countAll(db: Db, hits: readonly Hit[], now: Date): Promise<Count[]> {
  const sizes = new Map<string, { windowSeconds: number; count: number }>()
  for (const { subject, windowSeconds } of hits) {
    const known = sizes.get(subject)
    sizes.set(subject, { windowSeconds, count: (known?.count ?? 0) + 1 })
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
  const next = new Map(rows.map((row) => [row.subject, { startedAt: row.startedAt, ordinal: row.used - sizes.get(row.subject)!.count }]))
  return hits.map(({ subject }) => {
    const window = next.get(subject)!
    window.ordinal++
    return { ordinal: window.ordinal, startedAt: window.startedAt }
  })
}

export interface Want extends Hit {
  limit: number
  /** Whether to lend for requests to come. */
  canLease: boolean
}

export interface Taken {
  /** Which request of the window this one is; above the limit it is one too many, and counts for nothing. */
  ordinal: number
  startedAt: Date
  /** Ordinals right below the limit of the window that were lent to this process, told to one of the requests of a subject. */
  lease: { first: number; count: number } | null
}

/** Of what is left one in so many is lent at a time: near the limit nothing is, and requests are counted one by one. */
const LENT_SHARE = 16
const MAX_LENT = 64

/**
 * Counts requests as `countAll` does, and lends for some more, so that a busy caller costs one statement for dozens of requests.
 * What is lent counts as used until it is given back.
 */
export async function take(db: Db, wants: readonly Want[], now: Date): Promise<Taken[]> {
  const bySubject = Map.groupBy(wants, ({ subject }) => subject)
  // Sorted, so that two processes lock shared rows in the same order.
  const subjects = [...bySubject.keys()].toSorted()
  const column = (pick: (want: Want, count: number) => number): number[] =>
    subjects.map((subject) => pick(bySubject.get(subject)![0]!, bySubject.get(subject)!.length))
  const { rows } = await sql<{ subject: string; startedAt: Date; before: number; lent: number }>`
    select subject, started_at as "startedAt", before, lent from take_of_rate(${subjects}::text[],
      ${column((_, count) => count)}::bigint[], ${column(({ limit }) => limit)}::bigint[],
      ${column(({ windowSeconds }) => windowSeconds)}::int[], ${column(({ canLease }) => (canLease ? MAX_LENT : 0))}::bigint[],
      ${LENT_SHARE}::bigint, ${now}::timestamptz)
  `.execute(db)
  const found = new Map(rows.map((row) => [row.subject, { ...row, ordinal: row.before }]))
  return wants.map(({ subject }) => {
    const row = found.get(subject)!
    row.ordinal++
    const isLast = row.ordinal === row.before + bySubject.get(subject)!.length
    return {
      ordinal: row.ordinal,
      startedAt: row.startedAt,
      lease: isLast && row.lent > 0 ? { first: row.ordinal + 1, count: row.lent } : null,
    }
  })
}

/** Gives back what was lent and not used, unless the window has passed. */
export async function giveBack(db: Db, subject: string, startedAt: Date, count: number): Promise<void> {
  await sql`
    update rate_window set used = greatest(0, used - ${count}) where subject = ${subject} and started_at = ${startedAt}
  `.execute(db)
}

export async function reset(db: Db, subject: string): Promise<void> {
  await db.deleteFrom('rate_window').where('subject', '=', subject).execute()
}

/** Every window whose subject begins so. */
export async function resetAll(db: Db, prefix: string): Promise<void> {
  await sql`delete from rate_window where starts_with(subject, ${prefix})`.execute(db)
}

/** Takes one count back. */
export async function forgive(db: Db, subject: string): Promise<void> {
  await sql`update rate_window set used = used - 1 where subject = ${subject} and used > 0`.execute(db)
}

/** Windows that nobody can be inside any more. */
export async function sweep(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('rate_window').where('started_at', '<', before).execute()
}
