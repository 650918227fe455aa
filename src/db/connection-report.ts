/** What an operator should know about the connections to the database, found at the start. */
import { sql } from 'kysely'
import { connectionsOf } from '#core/database-pool.ts'
import { configureSession } from './sessions.ts'
import pg from 'pg'
import { NOTICES_NAME } from './notices.ts'
import type { Database } from './open.ts'

interface Pools {
  readonly databasePool: number
  readonly databaseSearchPool: number
  readonly databaseReplicaUrls?: readonly string[]
}

const TIMEOUT_MS = 5_000

/** One line for each problem. */
export async function connectionReport(database: Database, pools: Pools): Promise<string[]> {
  const lines = [await poolerLine(database), await totalLine(database, pools)]
  return lines.filter((line) => line !== null)
}

async function poolerLine({ direct }: Database): Promise<string | null> {
  const client = new pg.Client({ ...direct, connectionTimeoutMillis: TIMEOUT_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    if (await configureSession(client, [], TIMEOUT_MS)) return null
    return (
      'DATABASE_DIRECT_URL, or DATABASE_URL without it, is a connection pooler. Notifications do not pass through it, so nothing is ' +
      'cached and work waits for the next poll: set DATABASE_DIRECT_URL to the server itself.'
    )
  } finally {
    await client.end()
  }
}

async function totalLine({ db, hasPooler }: Database, pools: Pools): Promise<string | null> {
  const { rows } = await sql<{ available: number; others: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as available,
      (select count(*)::int from pg_stat_activity where application_name = ${NOTICES_NAME} and datname = current_database()) as others
  `.execute(db.direct ?? db)
  const { available, others } = rows[0]!
  const own = connectionsOf(pools, hasPooler())
  const total = (others + 1) * own
  if (total <= available) return null
  return (
    `The database accepts ${available} connections, and the processes on it can use ${total} (${others + 1} × ${own}). ` +
    'Raise max_connections, lower DATABASE_POOL and DATABASE_SEARCH_POOL, or use a pooler.'
  )
}
