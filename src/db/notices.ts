/**
 * Tells every process at once that who may do what has changed, so that they can remember it for a moment.
 *
 * Triggers notify when such a row changes; each process hears it on a connection of its own. `settle` waits until every process has
 * said that it heard: whoever answers a revocation after it knows that nobody remembers what was before. A process that has not
 * heard from its connection for a moment remembers nothing, and one that cannot be reached is waited for until that moment is over.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import { Listener } from './listener.ts'
import type { Db } from './tables.ts'

/** Named by the triggers of migration 0013. */
const CHANNEL = 'groundtrack_access'
const APPLICATION_NAME = 'groundtrack notices'
/** Unheard for so long, a connection counts as lost. */
const STALE_MS = 2_000

export interface Notices {
  /** Which state of things this is; null while nobody would tell us of another one. */
  state(): number | null
  /** After a change that is committed: resolves when no process remembers what was before. */
  settle(): Promise<void>
  /** Asks all other processes to give back what they have borrowed under a name, and waits until they have. */
  recall(name: string): Promise<void>
  /** Who gives it back here. */
  onRecall(give: (name: string) => Promise<void>): void
  close(): Promise<void>
}

interface Message {
  ask?: string
  /** What to give back, if that is what is asked. */
  recall?: string
  ack?: string
  /** Whose connection ends in good order. */
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
    const answer = (): void => listener.tell(JSON.stringify({ ack: ask, pid: listener.pid }))
    if (recall === undefined) answer()
    else give(recall).then(answer, () => {}) // Who could not give back is waited for in vain.
  }
  const listener = new Listener({ connection, applicationName: APPLICATION_NAME, channel: CHANNEL, hear, opened: () => void count++ })

  /** Asks, and waits for every answer; no longer than it takes for what a silent process remembers to be worth nothing. */
  const askOthers = async (question: Message): Promise<void> => {
    const id = randomUUID()
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const enough = new AbortController()
    const late = sleep(STALE_MS, undefined, { signal: AbortSignal.any([stop.signal, enough.signal]) }).catch(() => {})
    try {
      const silent = await listenersOf(db, listener)
      if (silent.size === 0) return
      waiting.set(id, (pid) => void (silent.delete(pid) && silent.size === 0 && resolve()))
      await sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ ...question, ask: id })})`.execute(db)
      await Promise.race([all, late])
    } catch {
      await late // Nobody could be asked.
    } finally {
      waiting.delete(id)
      enough.abort()
    }
  }

  return {
    state: () => (listener.silentMs < STALE_MS ? count : null),
    async settle() {
      count++
      await askOthers({})
    },
    recall: (name) => askOthers({ recall: name }),
    onRecall(giveBack) {
      give = giveBack
    },
    async close() {
      stop.abort()
      await sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ bye: listener.pid })})`.execute(db).catch(() => {})
      await listener.close()
    },
  }
}

/**
 * The other processes that may remember: each has one connection of this name. One that is gone may not have noticed yet that it hears
 * nothing, so those that were there a moment ago count, too: in vain, and until that moment is over.
 */
async function listenersOf(db: Db, { pid: ownPid, peers }: Listener): Promise<Set<number>> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where application_name = ${APPLICATION_NAME} and datname = current_database()
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
