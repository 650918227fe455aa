/** One connection that receives notifications, reopened whenever it is lost, and checked continuously. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { configureSession } from './sessions.ts'

/** How often the connection is checked. */
const CHECK_MS = 500
const RETRY_MS = 1_000
/** A connection that is silent for this long counts as lost. */
export const STALE_MS = 2_000
const FORGET_MS = 10_000
/** A connection that does not answer within this time is replaced. */
const ANSWER_TIMEOUT_MS = 5_000
const KEEP_ALIVE_AFTER_MS = 10_000
/** Behind a pooler, nothing is received: it is tried again rarely, in case the pooler has been removed. */
const POOLER_RETRY_MS = 60_000

interface Listening {
  connection: pg.ClientConfig
  applicationName: string
  channel: string
  /** Further channels to receive; nothing is sent to them. */
  alsoOn?: readonly string[]
  hear: (payload: string, channel: string) => void
  /** Opened or reopened: earlier notifications may have been missed. */
  opened: (pid: number) => void
}

export class Listener {
  readonly #options: Listening
  readonly #stop = new AbortController()
  readonly #beating: Promise<void>
  #client: pg.Client | null = null
  #heardAtMs = -Infinity
  /** The channel on which the connection proves that it receives. */
  readonly #echo = `groundtrack_echo_${randomUUID().replaceAll('-', '')}`
  #asked = { id: '', atMs: 0 }
  /** PID of the server process. */
  pid = 0
  /** Other connections with the same name, and when they were last seen. */
  readonly peers = new Map<number, number>()

  constructor(options: Listening) {
    this.#options = options
    this.#beating = this.#run()
  }

  /** How long it may have missed notifications. */
  get silentMs(): number {
    return performance.now() - this.#heardAtMs
  }

  get isReceiving(): boolean {
    return this.silentMs < STALE_MS
  }

  tell(payload: string): void {
    this.#client?.query('select pg_notify($1, $2)', [this.#options.channel, payload]).catch(() => this.#lose())
  }

  /** Runs a statement on the connection: what was notified before it has been heard when it returns. */
  async query<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    if (!this.#client) throw new Error('the connection that receives notifications is not open')
    return (await this.#client.query<T>(text, [...values])).rows
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#lose()
    await this.#beating
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const restMs = await this.#beat().then(
        () => CHECK_MS,
        (error: unknown) => (error instanceof BehindPooler ? POOLER_RETRY_MS : RETRY_MS),
      )
      if (restMs !== CHECK_MS) this.#lose()
      await sleep(restMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
    }
    this.#lose()
  }

  /** Notifications arrive in the order of commits: when the echo arrives, so has everything sent before it. */
  async #beat(): Promise<void> {
    this.#asked = { id: randomUUID(), atMs: performance.now() }
    const client = (this.#client ??= await this.#connect())
    await client.query('select pg_notify($1, $2)', [this.#echo, this.#asked.id])
    const { rows } = await client.query<{ pid: number }>(
      'select pid from pg_stat_activity where application_name = $1 and datname = current_database() and pid <> pg_backend_pid()',
      [this.#options.applicationName],
    )
    for (const { pid } of rows) this.peers.set(pid, performance.now())
    for (const [pid, seenAtMs] of this.peers) if (performance.now() - seenAtMs > FORGET_MS) this.peers.delete(pid)
  }

  #heard(channel: string, payload: string): void {
    if (channel !== this.#echo) this.#options.hear(payload, channel)
    else if (payload === this.#asked.id) this.#heardAtMs = this.#asked.atMs
  }

  async #connect(): Promise<pg.Client> {
    const { connection, applicationName, channel, alsoOn = [], opened } = this.#options
    const client = new pg.Client({
      ...connection,
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    })
    client.on('error', () => this.#client === client && this.#lose())
    client.on('end', () => this.#client === client && this.#lose())
    client.on('notification', (message) => this.#client === client && this.#heard(message.channel, message.payload ?? ''))
    try {
      await client.connect()
      if (!(await configureSession(client, [], ANSWER_TIMEOUT_MS))) throw new BehindPooler()
      this.pid = (client as pg.Client & { processID: number }).processID
      for (const each of [channel, ...alsoOn]) await client.query(`listen ${each}`)
      await client.query(`listen ${this.#echo}`)
      // Last, because others wait for an answer from connections with this name.
      await client.query(`select set_config('application_name', $1, false)`, [applicationName])
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
    opened(this.pid)
    return client
  }

  #lose(): void {
    this.#heardAtMs = -Infinity
    const lost = this.#client
    this.#client = null
    lost?.end().catch(() => {})
  }
}

/** The connection is one of a pooler, which accepts `listen` but delivers nothing. */
class BehindPooler extends Error {}
