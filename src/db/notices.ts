/**
 * Notifies all processes at once when access rights have changed, so that they can cache them for a moment.
 *
 * Triggers notify when such a row changes; each process listens on its own connection. `settle` waits until every process has
 * acknowledged: after it, no process uses the old rights any more. A process whose connection was silent for a moment caches nothing,
 * and one that cannot be reached is waited for until that moment has passed.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import { Listener, STALE_MS } from './listener.ts'
import type { Db } from './tables.ts'

/** Used by the triggers of migrations 0013 and 0045, which send the name of the table. Everything else is JSON. */
export const ACCESS_CHANNEL = 'groundtrack_access'
/** Each process has one connection with this name. */
export const NOTICES_NAME = 'groundtrack notices'

export interface Notices {
  /** The version of the access rights, for caches; null while changes might be missed. */
  state(): number | null
  /** Call after a commit: resolves when no process uses the old rights any more. */
  settle(): Promise<void>
  /** Asks all other processes to return their rate-limit leases of a subject, and waits until they have. */
  recall(name: string): Promise<void>
  /** Registers how this process returns them. */
  onRecall(give: (name: string) => Promise<void>): void
  close(): Promise<void>
}

interface Message {
  ask?: string
  /** The subject to recall, if the message is a recall. */
  recall?: string
  ack?: string
  /** PID of a connection that is closing. */
  bye?: number
  pid?: number
}

export function openNotices(db: Db, connection: pg.ClientConfig): Notices {
  let count = 0
  let give: (name: string) => Promise<void> = async () => {}
  const waiting = new Map<string, (pid: number) => void>()
  const stop = new AbortController()

  const hear = (payload: string): void => {
    const { ask, recall, ack, bye, pid } = parse(payload)
    if (bye !== undefined) return void listener.peers.delete(bye)
    if (ack !== undefined) {
      waiting.get(ack)?.(pid ?? 0)
      return
    }
    if (recall === undefined) count++
    if (ask === undefined) return
    const acknowledge = (): void => listener.tell(JSON.stringify({ ack: ask, pid: listener.pid }))
    if (recall === undefined) acknowledge()
    else give(recall).then(acknowledge, () => {}) // Without an acknowledgement the sender waits until its time-out.
  }
  const listener = new Listener({ connection, applicationName: NOTICES_NAME, channel: ACCESS_CHANNEL, hear, opened: () => void count++ })

  /** Sends a message and waits for all acknowledgements, at most until the cache of a silent process has expired. */
  const broadcast = async (message: Message): Promise<void> => {
    const id = randomUUID()
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const enough = new AbortController()
    const late = sleep(STALE_MS, undefined, { signal: AbortSignal.any([stop.signal, enough.signal]) }).catch(() => {})
    try {
      const silent = await listenersOf(db, listener)
      if (silent.size === 0) return
      waiting.set(id, (pid) => void (silent.delete(pid) && silent.size === 0 && resolve()))
      await sql`select pg_notify(${ACCESS_CHANNEL}, ${JSON.stringify({ ...message, ask: id })})`.execute(db)
      await Promise.race([all, late])
    } catch {
      await late // The message could not be sent.
    } finally {
      waiting.delete(id)
      enough.abort()
    }
  }

  return {
    state: () => (listener.silentMs < STALE_MS ? count : null),
    async settle() {
      count++
      await broadcast({})
    },
    recall: (name) => broadcast({ recall: name }),
    onRecall(giveBack) {
      give = giveBack
    },
    async close() {
      stop.abort()
      await sql`select pg_notify(${ACCESS_CHANNEL}, ${JSON.stringify({ bye: listener.pid })})`.execute(db).catch(() => {})
      await listener.close()
    },
  }
}

/**
 * The other processes that may have a cache: each has one connection with this name. One that was lost may not have noticed yet, so
 * those seen a moment ago count too; they are waited for until that moment has passed.
 */
async function listenersOf(db: Db, { pid: ownPid, peers }: Listener): Promise<Set<number>> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where application_name = ${NOTICES_NAME} and datname = current_database()
  `.execute(db)
  const lately = [...peers].filter(([, seenAtMs]) => performance.now() - seenAtMs < 2 * STALE_MS).map(([pid]) => pid)
  return new Set([...rows.map(({ pid }) => pid), ...lately].filter((pid) => pid !== ownPid))
}

function parse(payload: string): Message {
  try {
    return (JSON.parse(payload || '{}') ?? {}) as Message
  } catch {
    return {}
  }
}
