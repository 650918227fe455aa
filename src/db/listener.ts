/** One connection that hears notifications, opened again whenever it is lost, and asked all the time whether it lives. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** How often the connection is asked. */
const BEAT_MS = 500
const RETRY_MS = 1_000

interface Listening {
  connection: pg.ClientConfig
  applicationName: string
  channel: string
  hear: (payload: string) => void
  /** It is open, anew or for the first time: whatever was said before is unknown. */
  opened: () => void
}

export class Listener {
  readonly #options: Listening
  readonly #stop = new AbortController()
  readonly #beating: Promise<void>
  #client: pg.Client | null = null
  #heardAtMs = -Infinity
  /** Of the server's side. */
  pid = 0

  constructor(options: Listening) {
    this.#options = options
    this.#beating = this.#run()
  }

  /** For how long it has not been known to hear everything. */
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
      await sleep(isUp ? BEAT_MS : RETRY_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
    }
    this.#lose()
  }

  /** Messages come before the answer to a question that was put after them: heard is everything up to when it was put. */
  async #beat(): Promise<void> {
    const askedAtMs = performance.now()
    const client = (this.#client ??= await this.#connect())
    await client.query('select 1')
    if (this.#client === client) this.#heardAtMs = askedAtMs
  }

  async #connect(): Promise<pg.Client> {
    const { connection, applicationName, channel, hear, opened } = this.#options
    const client = new pg.Client({ ...connection, application_name: applicationName })
    client.on('error', () => this.#lose())
    client.on('end', () => this.#client === client && this.#lose())
    client.on('notification', ({ payload = '' }) => hear(payload))
    try {
      await client.connect()
      this.pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
      await client.query(`listen ${channel}`)
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    opened()
    return client
  }

  #lose(): void {
    this.#heardAtMs = -Infinity
    const lost = this.#client
    this.#client = null
    lost?.end().catch(() => {})
  }
}
