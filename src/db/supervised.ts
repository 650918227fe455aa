/**
 * The connections of a pool, supervised: a statement that is not answered in time fails, a lost connection is reported as such and
 * discarded, and so are those opened before the failure, because it usually concerns the server and not one connection.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { DatabaseUnavailable, isServerUnavailable } from './failures.ts'

/** node-postgres does not declare what follows. */
export type PoolClient = pg.PoolClient & {
  processID?: number | null
  secretKey?: number | null
  connection: { stream: Duplex; parsedStatements: Readonly<Record<string, string>> }
  _queryable: boolean
}

export interface SupervisedPool {
  connect(): Promise<PoolClient>
  /** Runs a statement of a connection within the deadline. */
  run<T>(client: PoolClient, text: string, statement: () => Promise<T>): Promise<T>
  release(client: PoolClient, error?: Error | boolean): void
  /** When the database last answered, by `performance.now()`. */
  readonly answeredAtMs: number
  end(): Promise<void>
}

interface Deadlines {
  /** A statement that is not answered within this time loses its connection. The server's own timeout is shorter. */
  answerMs: number
  /** Behind a pooler, the server may have no timeout of its own: it is asked to cancel the statement after this time. */
  cancel: { afterMs: number; isNeeded: () => boolean; send: (client: PoolClient) => void }
}

export function supervised(pool: pg.Pool, { answerMs, cancel }: Deadlines): SupervisedPool {
  const openedAtMs = new WeakMap<pg.PoolClient, number>()
  /** By connection: what follows on it, such as a rollback, fails for the same reason. */
  const failures = new WeakMap<pg.PoolClient, DatabaseUnavailable>()
  let failedAtMs = -Infinity
  let answeredAtMs = -Infinity
  pool.on('connect', (client) => void openedAtMs.set(client, performance.now()))

  const discard = (client: PoolClient): void => {
    client.connection.stream.destroy() // Without a goodbye: nobody may be there to receive it.
    client.release(true)
  }
  const failed = (client: PoolClient, failure: DatabaseUnavailable): DatabaseUnavailable => {
    failures.set(client, failure)
    failedAtMs = performance.now()
    return failure
  }

  return {
    async connect() {
      for (;;) {
        const client = (await pool.connect()) as PoolClient
        if (openedAtMs.get(client)! >= failedAtMs) return client
        discard(client)
      }
    },
    async run(client, text, statement) {
      let isOverdue = false
      const overdue = setTimeout(() => {
        isOverdue = true
        client.connection.stream.destroy()
      }, answerMs)
      const cancelling = cancel.isNeeded() ? setTimeout(() => cancel.send(client), cancel.afterMs) : undefined
      try {
        const result = await statement()
        answeredAtMs = performance.now()
        return result
      } catch (error) {
        const known = failures.get(client)
        if (known) throw known
        if (isOverdue) throw failed(client, new DatabaseUnavailable(`no answer within ${answerMs / 1000} s`, { cause: error }))
        if (!isServerUnavailable(error) && client._queryable) throw error
        const message = error instanceof Error ? error.message : String(error)
        const isCommitUnknown = text === 'commit'
        throw failed(client, new DatabaseUnavailable(message, { cause: error, isRetryable: !isCommitUnknown, isCommitUnknown }))
      } finally {
        clearTimeout(overdue)
        clearTimeout(cancelling)
      }
    },
    release(client, error) {
      if (failures.has(client)) discard(client)
      else client.release(error)
    },
    get answeredAtMs() {
      return answeredAtMs
    },
    end: () => pool.end(),
  }
}
