import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

export interface Hit {
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

export async function reset(db: Db, subject: string): Promise<void> {
  await db.deleteFrom('rate_window').where('subject', '=', subject).execute()
}

/** Takes one count back. */
export async function forgive(db: Db, subject: string): Promise<void> {
  await sql`update rate_window set used = used - 1 where subject = ${subject} and used > 0`.execute(db)
}

/** Windows that nobody can be inside any more. */
export async function sweep(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('rate_window').where('started_at', '<', before).execute()
}
