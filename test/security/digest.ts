import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

/** Grow with every call, refused ones too, and say nothing about the business. */
const TELEMETRY_TABLES = ['audit', 'rate_window', 'usage_day', 'kysely_migration', 'kysely_migration_lock']
const TELEMETRY_COLUMNS = ['last_used_at', 'total_requests', 'last_accessed_at']

/**
 * One value over every row of every table, so that a test can say: nothing at all has changed. The database adds it up in
 * one question, because what an organization holds grows with every operation that is tried.
 */
export async function businessDigest(db: Db): Promise<string> {
  const { rows: tables } = await sql<{
    name: string
  }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`.execute(db)
  const sums = tables
    .filter(({ name }) => !TELEMETRY_TABLES.includes(name))
    .map(
      ({ name }) =>
        sql`
          select ${name}::text as name, count(*) as count,
            sum(hashtextextended((to_jsonb(t) - ${TELEMETRY_COLUMNS}::text[])::text, 0)) as sum
          from ${sql.table(name)} t`,
    )
  const { rows } = await sql<{ name: string; count: string; sum: string | null }>`${sql.join(sums, sql` union all `)} order by 1`.execute(
    db,
  )
  return rows.map(({ name, count, sum }) => `${name} ${count} ${sum}`).join('\n')
}
