/** One connection that receives notifications, reopened whenever it is lost, and checked continuously. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** How often the connection is checked. */
const CHECK_MS = 500
const RETRY_MS = 1_000
const FORGET_MS = 10_000

interface Listening {
  connection: pg.ClientConfig
  applicationName: string
  channel: string
  hear: (payload: string) => void
  /** Opened or reopened: earlier notifications may have been missed. */
  opened: (pid: number) => void
}

export class Listener {
  readonly #options: Listening
  readonly #stop = new AbortController()
  readonly #beating: Promise<void>
  #client: pg.Client | null = null
  #heardAtMs = -Infinity
  /** The channel on which the connection proves that it receives: a pooler accepts `listen` but delivers nothing. */
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

  tell(payload: string): void {
    this.#client?.query('select pg_notify($1, $2)', [this.#options.channel, payload]).catch(() => this.#lose())
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#lose()
    await this.#beating
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const isUp = await this.#beat().then(
        () => true,
        () => false,
      )
      if (!isUp) this.#lose()
      await sleep(isUp ? CHECK_MS : RETRY_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
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
    if (channel !== this.#echo) this.#options.hear(payload)
    else if (payload === this.#asked.id) this.#heardAtMs = this.#asked.atMs
  }

  async #connect(): Promise<pg.Client> {
    const { connection, applicationName, channel, opened } = this.#options
    const client = new pg.Client({ ...connection, application_name: applicationName })
    client.on('error', () => this.#lose())
    client.on('end', () => this.#client === client && this.#lose())
    client.on('notification', (message) => this.#client === client && this.#heard(message.channel, message.payload ?? ''))
    try {
      await client.connect()
      this.pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
      await client.query(`listen ${channel}`)
      await client.query(`listen ${this.#echo}`)
    } catch (error) {
      await client.end().catch(() => {})
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
