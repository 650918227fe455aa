/** HTTP client of one host: with a deadline, limited concurrency, and a retry where that is safe. */
import { setTimeout as pause } from 'node:timers/promises'
import { EgressError, type Egress } from '#adapters/egress/guard.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors.ts'
import { createLimiter, type Limiter } from '#core/limiter.ts'
import type { HostAddress } from './registry.ts'

export interface HostRequest extends CallOptions {
  readonly method?: 'GET' | 'POST'
  /** A path below the host's base URL, or an absolute URL. */
  readonly path: string
  readonly body?: unknown
  readonly maxBytes?: number
}

interface HostAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

export interface Host {
  readonly name: string
  readonly url: string
  /** Any response below 500, after waiting in the queue and a few attempts. */
  send(request: HostRequest): Promise<HostAnswer>
  /** The JSON of a 200 response; null for 404. */
  json(request: HostRequest): Promise<unknown>
  stream(request: Pick<HostRequest, 'path' | 'signal'> & { readonly offset?: number }): AsyncGenerator<Uint8Array>
}

const DEFAULT_DEADLINE_MS = 20_000
const MAX_TRIES = 3
const FIRST_PAUSE_MS = 150
const MAX_ANSWER_BYTES = 24 * 1024 * 1024
const MAX_REDIRECTS = 3
/** A vendor can be slow to start sending a file, and can pause while it does. */
const STREAM_START_MS = 120_000
const STREAM_IDLE_MS = 60_000

/** Maximum concurrent requests per host; further ones queue, at most until their own deadline. */
const MAX_RUNNING = 6
const MAX_WAITING = 200

export const createHost = (egress: Egress, address: HostAddress, deadlineFactor = 1): Host => new HttpHost(egress, address, deadlineFactor)

class HttpHost implements Host {
  readonly name: string
  readonly url: string
  readonly #egress: Egress
  readonly #token: string | null
  readonly #own: string
  readonly #limit: Limiter
  readonly #deadlineMs: number

  constructor(egress: Egress, { hostName, url, token }: HostAddress, deadlineFactor: number) {
    this.name = hostName
    this.url = url
    this.#egress = egress
    this.#token = token
    this.#own = new URL(url).origin
    this.#deadlineMs = DEFAULT_DEADLINE_MS * deadlineFactor
    this.#limit = createLimiter({
      maxRunning: MAX_RUNNING,
      maxWaiting: MAX_WAITING,
      full: () => new VendorError('unavailable', hostName, `Too many requests are queued for ${hostName}`),
    })
  }

  async send(request: HostRequest): Promise<HostAnswer> {
    const endsAtMs = performance.now() + (request.deadlineMs ?? this.#deadlineMs)
    const left = () => endsAtMs - performance.now()
    const options = request.signal ? { signal: request.signal } : {}
    for (let tries = 1; ; tries++) {
      const outcome = await this.#limit(() => this.#try(request, Math.max(1, Math.ceil(left()))), {
        signal: request.signal,
        timeout: { ms: left(), error: () => new VendorError('timeout', this.name, `${this.name} did not become available in time`) },
      })
      if ('answer' in outcome) return outcome.answer
      if (tries >= MAX_TRIES || outcome.pauseMs(tries) >= left()) throw outcome.error
      await pause(outcome.pauseMs(tries), undefined, options)
    }
  }

  async json(request: HostRequest): Promise<unknown> {
    const answer = await this.send(request)
    if (answer.status === 404) return null
    const value = parse(answer.body)
    if (answer.status >= 400) throw this.#error('refused', `rejected the request: ${messageOf(value) ?? `HTTP ${answer.status}`}`)
    if (answer.status >= 300 || value === undefined) throw this.#error('nonsense', 'returned a response that is not JSON')
    return value
  }

  async *stream({
    path,
    signal,
    offset = 0,
  }: Pick<HostRequest, 'path' | 'signal'> & { readonly offset?: number }): AsyncGenerator<Uint8Array> {
    const address = this.#addressOf(path)
    try {
      const answer = await this.#egress.open(address, {
        headers: { ...this.#headersFor(address, undefined), ...(offset > 0 ? { range: `bytes=${offset}-` } : {}) },
        deadlineMs: STREAM_START_MS,
        idleMs: STREAM_IDLE_MS,
        permit: (target) => target.origin === this.#own,
        ...(signal ? { signal } : {}),
      })
      if (answer.status === 404) throw this.#error('not-found', 'has no such file')
      if (answer.status !== (offset > 0 ? 206 : 200)) throw this.#error('unavailable', `answered ${answer.status}`)
      yield* this.#whole(answer.body, answer.headers['content-length'])
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      throw this.#error(error.kind === 'timeout' ? 'timeout' : 'unavailable', `broke off: ${error.message}`, error)
    }
  }

  /** Sends one request. Returns transient failures, which can be retried, and throws final ones. */
  async #try(request: HostRequest, leftMs: number): Promise<Outcome> {
    try {
      const { headers, ...answer } = await this.#ask(request, leftMs)
      if (answer.status < 500 && answer.status !== 429) return { answer: { ...answer, contentType: headers['content-type'] ?? '' } }
      return {
        error: this.#error('unavailable', `answered ${answer.status}`),
        pauseMs: (tries) => pauseOf(tries, headers['retry-after']),
      }
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      if (error.kind === 'timeout') throw this.#error('timeout', 'did not respond in time', error)
      if (error.kind === 'too-large') throw this.#error('nonsense', `returned an invalid response: ${error.message}`, error)
      const failure = this.#error('unavailable', `could not be reached: ${error.message}`, error)
      if (error.kind !== 'network') throw failure
      return { error: failure, pauseMs: (tries) => pauseOf(tries, undefined) }
    }
  }

  async #ask({ method = 'GET', path, body, maxBytes = MAX_ANSWER_BYTES, signal }: HostRequest, leftMs: number) {
    const address = this.#addressOf(path)
    const isOwn = path.startsWith('/')
    return await this.#egress.fetch(address, {
      method,
      headers: this.#headersFor(address, body),
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      ...(isOwn ? { permit: (target) => target.origin === this.#own } : {}),
      maxRedirects: isOwn ? 0 : MAX_REDIRECTS,
      maxBytes,
      deadlineMs: leftMs,
      ...(signal ? { signal } : {}),
    })
  }

  #addressOf(path: string): string {
    return path.startsWith('/') ? `${this.url}${path}` : path
  }

  /** The key is sent to this host only, wherever its responses point. */
  #headersFor(address: string, body: unknown): Record<string, string> {
    return {
      accept: 'application/json, */*;q=0.5',
      'user-agent': 'groundtrack',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(this.#token !== null && URL.parse(address)?.origin === this.#own ? { authorization: `Bearer ${this.#token}` } : {}),
    }
  }

  #error(code: VendorErrorCode, what: string, cause?: unknown): VendorError {
    return new VendorError(code, this.name, `${this.name} ${what}`, cause === undefined ? {} : { cause })
  }

  /** A body that is shorter than its declared length is an error. */
  async *#whole(body: AsyncIterable<Uint8Array>, length: string | undefined): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of body) {
      size += chunk.byteLength
      yield chunk
    }
    if (length !== undefined && size !== Number(length)) throw this.#error('unavailable', `sent ${size} of ${length} bytes`)
  }
}

type Outcome = { readonly answer: HostAnswer } | { readonly error: VendorError; readonly pauseMs: (tries: number) => number }

function pauseOf(tries: number, retryAfter: string | undefined): number {
  const seconds = Number(retryAfter)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : FIRST_PAUSE_MS * 2 ** (tries - 1)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

const MAX_MESSAGE = 300

/** The host's own error message, from one of the usual fields. */
function messageOf(value: unknown): string | null {
  const { error, detail, message, description } = (value ?? {}) as Record<string, unknown>
  const text = [(error as { message?: unknown } | undefined)?.message, detail, message, description].find(
    (each) => typeof each === 'string',
  )
  return text === undefined ? null : String(text).slice(0, MAX_MESSAGE)
}
