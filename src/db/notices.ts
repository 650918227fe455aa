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
import pg from 'pg'
import type { Db } from './tables.ts'

/** Named by the triggers of migration 0013. */
const CHANNEL = 'groundtrack_access'
const APPLICATION_NAME = 'groundtrack notices'
/** How often the connection is asked whether it lives. */
const BEAT_MS = 500
/** Unheard for so long, it counts as lost. */
const STALE_MS = 2_000
const RETRY_MS = 1_000

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
  pid?: number
}

export async function openNotices(db: Db, connection: pg.ClientConfig): Promise<Notices> {
  let count = 0
  let client: pg.Client | null = null
  let ownPid = 0
  let heardAtMs = -Infinity
  let isClosed = false
  let give: (name: string) => Promise<void> = async () => {}
  const waiting = new Map<string, (pid: number) => void>()

  const hear = ({ payload = '' }: pg.Notification): void => {
    const message = parse(payload)
    if (message.ack !== undefined) {
      waiting.get(message.ack)?.(message.pid ?? 0)
      return
    }
    if (message.recall === undefined) count++
    if (message.ask === undefined) return
    const answer = (): void => tell({ ack: message.ask!, pid: ownPid })
    if (message.recall === undefined) answer()
    else give(message.recall).then(answer, () => {}) // Who could not give back is waited for in vain, and refused what is lost.
  }
  const tell = (message: Message): void => {
    client?.query('select pg_notify($1, $2)', [CHANNEL, JSON.stringify(message)]).catch(lose)
  }
  const lose = (): void => {
    heardAtMs = -Infinity
    const lost = client
    client = null
    lost?.end().catch(() => {})
  }
  const connect = async (): Promise<void> => {
    const made = new pg.Client({ ...connection, application_name: APPLICATION_NAME })
    made.on('error', lose)
    made.on('end', () => client === made && lose())
    made.on('notification', hear)
    try {
      await made.connect()
      ownPid = (await made.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
      await made.query(`listen ${CHANNEL}`)
    } catch (error) {
      await made.end().catch(() => {})
      throw error
    }
    count++ // Whatever was said before is unknown.
    client = made
  }
  /** Messages come before the answer to a question that was put after them: heard is everything up to when it was put. */
  const beat = async (): Promise<void> => {
    const askedAtMs = performance.now()
    if (!client) await connect()
    await client!.query('select 1')
    heardAtMs = askedAtMs
  }
  const stop = new AbortController()
  const beating = (async () => {
    while (!isClosed) {
      const wait = await beat().then(
        () => BEAT_MS,
        () => (lose(), RETRY_MS),
      )
      await sleep(wait, undefined, { signal: stop.signal, ref: false }).catch(() => {})
    }
  })()

  /** The other processes that remember: each has one connection of this name. */
  const others = async (): Promise<Set<number>> => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where application_name = ${APPLICATION_NAME} and datname = current_database()
    `.execute(db)
    return new Set(rows.map(({ pid }) => pid).filter((pid) => pid !== ownPid))
  }

  /** Asks, and waits for every answer; no longer than it takes for what a silent process remembers to be worth nothing. */
  const askOthers = async (question: Message): Promise<void> => {
    const id = randomUUID()
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const stopWaiting = new AbortController()
    const late = sleep(STALE_MS, undefined, { signal: AbortSignal.any([stop.signal, stopWaiting.signal]) }).catch(() => {})
    try {
      const silent = await others()
      if (silent.size === 0) return
      waiting.set(id, (pid) => void (silent.delete(pid) && silent.size === 0 && resolve()))
      await sql`select pg_notify(${CHANNEL}, ${JSON.stringify({ ...question, ask: id })})`.execute(db)
      await Promise.race([all, late])
    } catch {
      await late // Nobody could be asked.
    } finally {
      waiting.delete(id)
      stopWaiting.abort()
    }
  }

  return {
    state: () => (performance.now() - heardAtMs < STALE_MS ? count : null),
    async settle() {
      count++
      await askOthers({})
    },
    recall: (name) => askOthers({ recall: name }),
    onRecall(giveBack) {
      give = giveBack
    },
    async close() {
      isClosed = true
      stop.abort()
      lose()
      await beating
    },
  }
}

function parse(payload: string): Message {
  try {
    return (JSON.parse(payload || '{}') ?? {}) as Message
  } catch {
    return {}
  }
}
