import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { prepared } from './prepared.ts'
import type { Db, Tables } from './tables.ts'

/** Hears a channel on a connection of its own, which is made again when it is lost; `told` is then called once for what was missed. */
export type Listen = (channel: string, told: () => void, onError: (error: unknown) => void) => { close(): Promise<void> }

export interface Database {
  db: Db
  listen: Listen
  connectionCount(): number
  close(): Promise<void>
}

interface PoolLimits {
  maxConnections: number
  idleTimeoutMs: number
}

const STANDARD_LIMITS: PoolLimits = { maxConnections: 16, idleTimeoutMs: 10_000 }

/** Followed by the process id, so that an operator sees whose connection it is. */
const APPLICATION_NAME = 'groundtrack'
/** No statement of a request may run longer: a caller has given up by then, and the connection is worth more. */
const STATEMENT_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000

const LISTEN_AGAIN_MS = 500

export function openDatabase(connection: string | pg.PoolConfig, limits: Partial<PoolLimits> = {}): Database {
  const { maxConnections, idleTimeoutMs } = { ...STANDARD_LIMITS, ...limits }
  const server = typeof connection === 'string' ? { connectionString: connection } : connection
  const pool = new pg.Pool({
    ...server,
    max: maxConnections,
    idleTimeoutMillis: idleTimeoutMs,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: `${APPLICATION_NAME} ${process.pid}`,
    types: { getTypeParser },
  })
  // A connection that the server drops is replaced by the pool at the next use, and its statement fails by itself. Without
  // a listener, on the pool for idle ones and on each client for those at work, the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: prepared(pool) }) })
  return { db, listen: listener(server), connectionCount: () => pool.totalCount, close: () => db.destroy() }
}

function listener(server: pg.ClientConfig): Listen {
  return (channel, told, onError) => {
    let client: pg.Client | null = null
    let timer: NodeJS.Timeout | null = null
    let isClosed = false
    const again = (lost: pg.Client, error?: Error): void => {
      if (client !== lost || isClosed) return
      client = null
      if (error) onError(error)
      lost.end().catch(() => {})
      timer = setTimeout(connect, LISTEN_AGAIN_MS)
    }
    const connect = (): void => {
      const made = new pg.Client({ ...server, application_name: `${APPLICATION_NAME} ${process.pid} listening`, keepAlive: true })
      client = made
      made.on('notification', told)
      made.on('error', (error) => again(made, error))
      made.on('end', () => again(made))
      made
        .connect()
        .then(() => made.query(`listen ${made.escapeIdentifier(channel)}`))
        .then(told, (error: Error) => again(made, error))
    }
    connect()
    return {
      async close() {
        isClosed = true
        if (timer) clearTimeout(timer)
        await client?.end().catch(() => {})
      },
    }
  }
}

/** Counters and credits come as numbers: they stay far below 2^53, and the check constraints hold them there. */
const getTypeParser = ((oid: number, format?: 'text' | 'binary') => {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return (value: string) => Number(value)
  return pg.types.getTypeParser(oid, format as 'text')
}) as typeof pg.types.getTypeParser
