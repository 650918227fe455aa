import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'

/** Grow with every call, refused ones too, and say nothing about the business. */
const TELEMETRY_TABLES = ['audit', 'rate_window', 'usage_day', 'kysely_migration', 'kysely_migration_lock']
const TELEMETRY_COLUMNS = ['last_used_at', 'total_requests', 'last_accessed_at']

/** One value over every row of every table, so that a test can say: nothing at all has changed. */
export async function businessDigest(db: Db): Promise<string> {
  const { rows: tables } = await sql<{
    name: string
  }>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
      order by 1`.execute(db)
  const hash = createHash('sha256')
  for (const { name } of tables.filter((table) => !TELEMETRY_TABLES.includes(table.name))) {
    const { rows } = await sql<{
      row: string
    }>`select (to_jsonb(t) - ${TELEMETRY_COLUMNS}::text[])::text as row from ${sql.table(name)} t order by 1`.execute(db)
    hash.update(`${name} ${rows.length} ${rows.map(({ row }) => row).join('\n')}\n`)
  }
  return hash.digest('hex')
}
