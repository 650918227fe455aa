import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { fairly } from './fair-pool.ts'
import { getTypeParser } from './parsers.ts'
import { prepared } from './prepared.ts'
import { StreamingDatabase, streamingSession } from './streaming.ts'
import type { Db, Tables } from './tables.ts'

export interface Database {
  db: Db
  /** Settings for another connection to the same database. */
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

/** Followed by the PID, so that an operator can identify the connection. */
const APPLICATION_NAME = 'groundtrack'
/** Limit for every statement of a request: the caller has given up by then, and the connection is needed. */
const STATEMENT_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000
const TENANT_PART = 0.375
/** Additional connections for streaming searches: opened on use and closed when idle. */
const STREAMING_PART = 0.375
const MAX_WAITING_PER_TENANT = 500

export function openDatabase(connection: string | pg.PoolConfig, limits: Partial<PoolLimits> = {}): Database {
  const all = { ...STANDARD_LIMITS, ...limits }
  const { maxConnections } = all
  const place = typeof connection === 'string' ? { connectionString: connection } : connection
  const pool = poolOf(place, all)
  const streamingConnections = Math.max(2, Math.floor(maxConnections * STREAMING_PART))
  const streamingPool = poolOf(place, { ...all, maxConnections: streamingConnections })
  const db = new StreamingDatabase(dialectOf(pool, maxConnections))
  const streaming = new Kysely<Tables>(dialectOf(streamingPool, streamingConnections))
  db.streaming = streaming
  // The first statement of a connection; everything else waits behind it.
  streamingPool.on('connect', (client: pg.PoolClient & { processID?: number | null }) => {
    const isSet = client.query(streamingSession(client.processID ?? 0)).then(({ rowCount }) => rowCount === 1)
    isSet.then((is) => is || (db.streaming = null)).catch(() => {}) // The connection was closed again.
  })
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
  // The pool replaces a connection that the server drops, and its statement fails. Without a listener, on the pool for idle connections
  // and on each client for busy ones, the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const dialectOf = (pool: pg.Pool, maxConnections: number) => ({
  dialect: new PostgresDialect({ pool: fairly(prepared(pool), limitsFor(maxConnections)) }),
})

/** A tenant gets a fraction of the connections, so that another tenant's statement can start at once; it grows with the pool. */
const limitsFor = (maxConnections: number) => ({
  maxConnections,
  maxRunningPerTenant: Math.max(2, Math.floor(maxConnections * TENANT_PART)),
  maxWaitingPerTenant: MAX_WAITING_PER_TENANT,
})
