import pg from 'pg'
import type { EventEmitter } from 'node:events'
import type { PoolClient } from './supervised.ts'

/** What node-postgres does not declare: the protocol below a client. */
interface Wire extends EventEmitter {
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
}

/** Asks the server to cancel the statement that a connection is running; the request needs a connection of its own and has no answer. */
export function sendCancel(place: pg.ClientConfig, { processID, secretKey }: PoolClient): void {
  if (!processID || !secretKey) return
  const {
    connection: wire,
    host,
    port,
    ssl,
  } = new pg.Client(place) as unknown as {
    connection: Wire
    host: string
    port: number
    ssl: unknown
  }
  const send = () => wire.cancel(processID, secretKey)
  wire.on('error', () => {}) // If it cannot be sent, the connection is given up a moment later.
  wire.on('connect', () => (ssl ? wire.requestSsl() : send()))
  wire.on('sslconnect', send)
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`)
  else wire.connect(port, host)
}
