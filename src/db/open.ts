import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { fairly } from './fair-pool.ts'
import { getTypeParser } from './parsers.ts'
import { prepared } from './prepared.ts'
import { forgetStreaming, keepStreaming, streamingSession } from './streaming.ts'
import type { Db, Tables } from './tables.ts'

export interface Database {
  db: Db
  /** How to reach the same database by a connection of one's own. */
  connection: pg.ClientConfig
  connectionCount(): number
  close(): Promise<void>
}

interface PoolLimits {
  maxConnections: number
  idleTimeoutMs: number
  /** Makes the deadlines of connecting and of statements so many times longer. */
  deadlineFactor: number
}

const STANDARD_LIMITS: PoolLimits = { maxConnections: 16, idleTimeoutMs: 10_000, deadlineFactor: 1 }

/** Followed by the process id, so that an operator sees whose connection it is. */
const APPLICATION_NAME = 'groundtrack'
/** No statement of a request may run longer: a caller has given up by then, and the connection is worth more. */
const STATEMENT_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const TENANT_PART = 0.375
/** Beside the others, for searches that stream: opened when they are used and closed when they are idle. */
const STREAMING_PART = 0.375
const MAX_WAITING_PER_TENANT = 500

export function openDatabase(connection: string | pg.PoolConfig, limits: Partial<PoolLimits> = {}): Database {
  const all = { ...STANDARD_LIMITS, ...limits }
  const { maxConnections } = all
  const place = typeof connection === 'string' ? { connectionString: connection } : connection
  const pool = poolOf(place, all)
  const streamingConnections = Math.max(2, Math.floor(maxConnections * STREAMING_PART))
  const streamingPool = poolOf(place, { ...all, maxConnections: streamingConnections })
  const db = databaseOf(pool, maxConnections)
  const streaming = databaseOf(streamingPool, streamingConnections)
  // The first statement of a connection; whatever it is used for waits behind it.
  streamingPool.on('connect', (client: pg.PoolClient & { processID?: number | null }) => {
    const isSet = client.query(streamingSession(client.processID ?? 0)).then(({ rowCount }) => rowCount === 1)
    isSet.then((is) => is || forgetStreaming(db)).catch(() => {}) // Of a connection that is gone again.
  })
  keepStreaming(db, streaming)
  return {
    db,
    connection: place,
    connectionCount: () => pool.totalCount + streamingPool.totalCount,
    async close() {
      await streaming.destroy()
      await db.destroy()
    },
  }
}

function poolOf(place: pg.PoolConfig, { maxConnections, idleTimeoutMs, deadlineFactor }: PoolLimits): pg.Pool {
  const pool = new pg.Pool({
    ...place,
    max: maxConnections,
    idleTimeoutMillis: idleTimeoutMs,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS * deadlineFactor,
    statement_timeout: STATEMENT_TIMEOUT_MS * deadlineFactor,
    application_name: `${APPLICATION_NAME} ${process.pid}`,
    types: { getTypeParser },
  })
  // A connection that the server drops is replaced by the pool at the next use, and its statement fails by itself. Without
  // a listener, on the pool for idle ones and on each client for those at work, the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const databaseOf = (pool: pg.Pool, maxConnections: number): Db =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: fairly(prepared(pool), limitsFor(maxConnections)) }) })

/** A tenant has a part of the connections, so that another's statement begins at once; the part grows with the pool. */
const limitsFor = (maxConnections: number) => ({
  maxConnections,
  maxRunningPerTenant: Math.max(2, Math.floor(maxConnections * TENANT_PART)),
  maxWaitingPerTenant: MAX_WAITING_PER_TENANT,
})
