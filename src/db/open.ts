import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { MAX_DIRECT_CONNECTIONS, STANDARD_POOL, STANDARD_SEARCH_POOL } from '#core/database-pool.ts'
import { sendCancel } from './cancel.ts'
import { ConnectedDatabase } from './connections.ts'
import { fairly, type FairLimits } from './fair-pool.ts'
import { getTypeParser } from './parsers.ts'
import { prepared } from './prepared.ts'
import { configureSession, localSettings } from './sessions.ts'
import { STREAMING_TIMEOUT_MS, streamingSettings } from './streaming.ts'
import { supervised, type SupervisedPool } from './supervised.ts'
import type { Tables } from './tables.ts'

export interface Database {
  db: ConnectedDatabase
  /** Settings for another connection to the server itself. */
  direct: pg.ClientConfig
  connectionCount(): number
  connectionUse(): ConnectionUse[]
  /** Whether `connection` is a pooler; known after the first statement. */
  hasPooler(): boolean
  /** How long ago the database last answered a statement. */
  silentMs(): number
  close(): Promise<void>
}

/** The connections of one pool of this process. */
export interface ConnectionUse {
  readonly pool: 'general' | 'search' | 'direct'
  readonly inUse: number
  readonly idle: number
  /** Requests that wait for a connection. */
  readonly waiting: number
}

interface DatabaseOptions {
  maxConnections: number
  /** Additional connections for streaming searches: opened on use and closed when idle. */
  maxSearchConnections: number
  idleTimeoutMs: number
  /** Connections are replaced after this time, so that a new address or certificate of the server is used eventually. */
  maxLifetimeSeconds: number
  /** Makes the deadlines of connecting and of statements so many times longer. */
  deadlineFactor: number
  /** The server itself, if `connection` is a pooler. */
  direct: string | pg.PoolConfig | null
  /** Connections are for reading only, as those of a replica, even after it was promoted. */
  isReadOnly: boolean
  /** The pooler gives each transaction another connection and does not support prepared statements. */
  hasTransactionPooler: boolean
}

const STANDARD_OPTIONS: DatabaseOptions = {
  maxConnections: STANDARD_POOL,
  maxSearchConnections: STANDARD_SEARCH_POOL,
  idleTimeoutMs: 10_000,
  maxLifetimeSeconds: 30 * 60,
  deadlineFactor: 1,
  direct: null,
  isReadOnly: false,
  hasTransactionPooler: false,
}

/** Followed by the PID, so that an operator can identify the connection. */
const APPLICATION_NAME = 'groundtrack'
/** Limit for every statement of a request: the caller has given up by then, and the connection is needed. */
const STATEMENT_TIMEOUT_MS = 25_000
/** If the server does not answer at all; with a connection attempt in addition, a call still ends within 35 seconds. */
const ANSWER_TIMEOUT_MS = 28_000
const CONNECT_TIMEOUT_MS = 5_000
/** How long a statement waits for a free connection. */
const MAX_WAIT_MS = 10_000
/** The longest timer. */
const FOREVER_MS = 2 ** 31 - 1
const KEEP_ALIVE_AFTER_MS = 10_000
const TENANT_PART = 0.375
/** Of the connections: stays free even if there is only one tenant. */
const FREE_PART = 0.25
const MAX_WAITING_PER_TENANT = 500

type Settings = readonly (readonly [name: string, value: string])[]

export function openDatabase(connection: string | pg.PoolConfig, given: Partial<DatabaseOptions> = {}): Database {
  const options = { ...STANDARD_OPTIONS, ...given }
  const [place, direct] = [placeOf(connection), placeOf(options.direct ?? connection)]
  /** Also a pooler that supports prepared statements: found when the first connection is opened. */
  let hasPooler = options.hasTransactionPooler
  const readOnly: Settings = options.isReadOnly ? [['default_transaction_read_only', 'on']] : []
  const general: Settings = [['statement_timeout', String(STATEMENT_TIMEOUT_MS * options.deadlineFactor)], ...readOnly]

  const open = (max: number, settings: Settings, onPooler: () => void): pg.Pool => {
    const connectMs = CONNECT_TIMEOUT_MS * options.deadlineFactor
    return poolOf(place, max, options, async (client) => {
      if (options.hasTransactionPooler || !(await configureSession(client, settings, connectMs))) onPooler()
    })
  }
  const supervise = (pool: pg.Pool): SupervisedPool =>
    supervised(pool, {
      answerMs: ANSWER_TIMEOUT_MS * options.deadlineFactor,
      cancel: {
        afterMs: STATEMENT_TIMEOUT_MS * options.deadlineFactor,
        isNeeded: () => hasPooler,
        send: (client) => sendCancel(place, client),
      },
    })
  const sharing = (pool: SupervisedPool, max: number) => {
    const protocol = { isNamed: !options.hasTransactionPooler, transactionSettings: () => (hasPooler ? localSettings(general) : null) }
    return fairly(prepared(pool, protocol), limitsFor(max, MAX_WAIT_MS * options.deadlineFactor))
  }

  const pool = open(options.maxConnections, general, () => (hasPooler = true))
  const forSearches = [...streamingSettings(STREAMING_TIMEOUT_MS), ...readOnly]
  const streamingPool = open(options.maxSearchConnections, forSearches, () => (db.streaming = null))
  const directPool = poolOf(direct, MAX_DIRECT_CONNECTIONS, options, async () => {})
  const [main, searches] = [supervise(pool), supervise(streamingPool)]
  const [shared, sharedSearches] = [sharing(main, options.maxConnections), sharing(searches, options.maxSearchConnections)]
  const db = new ConnectedDatabase({ dialect: new PostgresDialect({ pool: shared }) })
  const streaming = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: sharedSearches }) })
  const forever = supervised(directPool, { answerMs: FOREVER_MS, cancel: { afterMs: FOREVER_MS, isNeeded: () => false, send: () => {} } })
  const unprepared = prepared(forever, { isNamed: false, transactionSettings: () => null })
  db.streaming = options.hasTransactionPooler ? null : streaming
  const sharedDirect = fairly(unprepared, limitsFor(MAX_DIRECT_CONNECTIONS, FOREVER_MS))
  db.direct = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: sharedDirect }) })
  const { direct: directDb } = db
  return {
    db,
    direct,
    connectionCount: () => pool.totalCount + streamingPool.totalCount + directPool.totalCount,
    connectionUse: () => [
      useOf('general', pool, shared),
      useOf('search', streamingPool, sharedSearches),
      useOf('direct', directPool, sharedDirect),
    ],
    hasPooler: () => hasPooler,
    silentMs: () => performance.now() - Math.max(main.answeredAtMs, searches.answeredAtMs),
    async close() {
      await streaming.destroy()
      await directDb.destroy()
      await db.destroy()
    },
  }
}

const useOf = (pool: ConnectionUse['pool'], { totalCount, idleCount }: pg.Pool, { waiting }: ReturnType<typeof fairly>): ConnectionUse => ({
  pool,
  inUse: totalCount - idleCount,
  idle: idleCount,
  waiting: waiting(),
})

const placeOf = (connection: string | pg.PoolConfig): pg.PoolConfig =>
  typeof connection === 'string' ? { connectionString: connection } : connection

function poolOf(
  place: pg.PoolConfig,
  max: number,
  { idleTimeoutMs, maxLifetimeSeconds, deadlineFactor }: DatabaseOptions,
  configure: (client: pg.ClientBase) => Promise<void>,
): pg.Pool {
  const pool = new pg.Pool({
    ...place,
    max,
    idleTimeoutMillis: idleTimeoutMs,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS * deadlineFactor,
    maxLifetimeSeconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    application_name: `${APPLICATION_NAME} ${process.pid}`,
    types: { getTypeParser },
    // Not as startup parameters, which poolers reject.
    onConnect(client) {
      client.on('error', () => {}) // Without a listener, the event would end the process; the statement fails anyway.
      return configure(client)
    },
  })
  // The pool replaces an idle connection that the server drops.
  pool.on('error', () => {})
  return pool
}

/** A tenant gets a fraction of the connections, so that another tenant's statement can start at once; it grows with the pool. */
function limitsFor(maxConnections: number, maxWaitMs: number): FairLimits {
  const maxRunningPerTenant = Math.max(2, Math.floor(maxConnections * TENANT_PART))
  return {
    maxConnections,
    maxRunningPerTenant,
    maxInUseAlone: Math.max(maxRunningPerTenant, maxConnections - Math.ceil(maxConnections * FREE_PART)),
    maxWaitingPerTenant: MAX_WAITING_PER_TENANT,
    maxWaitMs,
  }
}
