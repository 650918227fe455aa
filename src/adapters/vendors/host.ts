/** HTTP client of one host: with a deadline, limited concurrency, and a retry where that is safe. */
import { setTimeout as pause } from 'node:timers/promises'
import { EgressError, type Egress, type EgressMethod } from '#adapters/egress/guard.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import { createLimiter, type Limiter } from '#core/limiter.ts'
import type { Authorizer } from './authorizer.ts'
import { ALWAYS_HEALTHY, type Health } from './health.ts'
import type { HostAddress } from './registry.ts'

export interface HostRequest extends CallOptions {
  readonly method?: EgressMethod
  /** A path below the base URL of the service, or an absolute URL. */
  readonly path: string
  /** One of the host's further services, such as its tiles; by default, its API. */
  readonly service?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as a form, instead of `body`. */
  readonly form?: Readonly<Record<string, string>>
  readonly maxBytes?: number
  /** In addition to those that every request has. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Whether the request can be sent again after a failure that leaves its outcome open. By default only reads are: a host that fails
   * after it has placed an order would place another one.
   */
  readonly isRepeatable?: boolean
}

interface HostAnswer {
  readonly status: number
  readonly contentType: string
  /** The server's clock, in milliseconds; null if it does not state it. */
  readonly date: number | null
  readonly body: Buffer
}

export interface Host {
  readonly name: string
  readonly url: string
  /** Any response below 500, after waiting in the queue and a few attempts. */
  send(request: HostRequest): Promise<HostAnswer>
  /** The JSON of a 2xx response; null for 404, undefined for a response without a body. */
  json(request: HostRequest): Promise<unknown>
  /** A file of the host, or one that it redirects to: the credential stays with the host. */
  stream(request: Pick<HostRequest, 'path' | 'service' | 'signal'> & { readonly offset?: number }): AsyncGenerator<Uint8Array>
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

interface HostParts {
  readonly egress: Egress
  readonly authorizer: Authorizer
  readonly health: Health
  /** How many times longer than usual the host may take. */
  readonly deadlineFactor: number
  /** What the host is said to have refused with 401. */
  readonly credentials: string
}

type Address = Pick<HostAddress, 'hostName' | 'url' | 'services' | 'trustedHosts' | 'downloadHosts'>

export const createHost = (address: Address, parts: HostParts): Host => new HttpHost(address, parts)

class HttpHost implements Host {
  readonly name: string
  readonly url: string
  readonly #egress: Egress
  readonly #authorizer: Authorizer
  readonly #health: Health
  /** Hosts that the credential is sent to in addition to the API itself. */
  readonly #trusted: readonly string[]
  readonly #downloads: readonly string[]
  readonly #services: Readonly<Record<string, string>>
  /** Origins of the API and of the further services. */
  readonly #own: readonly string[]
  readonly #limit: Limiter
  readonly #deadlineMs: number
  readonly #credentials: string

  constructor({ hostName, url, services, trustedHosts, downloadHosts }: Address, parts: HostParts) {
    const { egress, authorizer, health, deadlineFactor, credentials } = parts
    this.#credentials = credentials
    this.name = hostName
    this.url = url
    this.#egress = egress
    this.#authorizer = authorizer
    this.#health = health
    this.#trusted = trustedHosts
    this.#downloads = downloadHosts
    this.#services = services
    this.#own = [url, ...Object.values(services)].map((each) => new URL(each).origin)
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
      await this.#untilWelcome(request, left)
      const outcome = await this.#limit(() => this.#try(request, Math.max(1, Math.ceil(left()))), {
        signal: request.signal,
        timeout: { ms: left(), error: () => new VendorError('timeout', this.name, `${this.name} did not become available in time`) },
      })
      if ('answer' in outcome) return outcome.answer
      // A request that the host limits was not executed.
      const mayRepeat = outcome.isLimit || isRepeatable(request)
      const isOver = !mayRepeat || tries >= MAX_TRIES || outcome.pauseMs(tries) >= left() || (request.failFast && outcome.isLimit)
      if (isOver) {
        if (!outcome.isLimit) this.#healthOf(request.path).failed(outcome.reason)
        throw outcome.error
      }
      await pause(outcome.pauseMs(tries), undefined, options)
    }
  }

  /** Waits if the host limits requests; fails if that takes too long, or if the host did not respond lately. */
  async #untilWelcome({ failFast = false, signal, path }: HostRequest, left: () => number): Promise<void> {
    const health = this.#healthOf(path)
    const problem = failFast ? health.problem() : null
    if (problem !== null) throw this.#error('unavailable', problem)
    const waitMs = health.waitMs()
    if (waitMs <= 0) return
    if (failFast || waitMs >= left()) throw this.#error('unavailable', `limits requests; try again in ${Math.ceil(waitMs / 1000)} s`)
    await pause(waitMs, undefined, signal ? { signal } : {})
  }

  async json(request: HostRequest): Promise<unknown> {
    const { status, body } = await this.send(request)
    if (status === 404) return null
    const value = parse(body)
    const reason = () => messageOf(value) ?? `HTTP ${status}`
    if (status === 402 || status === 403) throw this.#error('forbidden', `does not allow this: ${reason()}`)
    if (status >= 400) throw this.#error('refused', `rejected the request: ${reason()}`)
    if (status < 300 && body.length === 0) return undefined
    if (status >= 300 || value === undefined) throw this.#error('invalid-response', 'returned a response that is not JSON')
    return value
  }

  async *stream({
    path,
    service,
    signal,
    offset = 0,
  }: Pick<HostRequest, 'path' | 'service' | 'signal'> & { readonly offset?: number }): AsyncGenerator<Uint8Array> {
    const address = this.#addressOf({ path, service })
    const open = async (headers: Record<string, string>) =>
      await this.#egress.open(address, {
        headers: { ...headers, ...(offset > 0 ? { range: `bytes=${offset}-` } : {}) },
        deadlineMs: STREAM_START_MS,
        idleMs: STREAM_IDLE_MS,
        maxRedirects: MAX_REDIRECTS,
        permit: (target) => this.#own.includes(target.origin) || this.#downloads.some((pattern) => isListed(target, pattern)),
        ...(signal ? { signal } : {}),
      })
    try {
      const first = await this.#headersFor(address, undefined, null)
      let answer = await open(first.headers)
      const isOwn = () => this.#own.includes(new URL(answer.url).origin)
      if (answer.status === 401 && isOwn() && first.version !== null)
        answer = await open((await this.#headersFor(address, undefined, first.version)).headers)
      if (answer.status === 401 && isOwn()) throw this.#error('unauthorized', `refused ${this.#credentials}`)
      if (answer.status === 404 && isOwn()) throw this.#error('not-found', 'has no such file')
      if (answer.status === 416 && offset > 0) return // The file ends there.
      // The signature of a link can have expired: the next attempt gets another one.
      if (answer.status !== (offset > 0 ? 206 : 200)) throw this.#error('unavailable', `answered ${answer.status}`)
      yield* this.#whole(answer.body, answer.headers['content-length'])
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      if (error.kind === 'host') throw this.#error('refused', 'redirects to a host that its downloadHosts do not list', error)
      throw this.#error(error.kind === 'timeout' ? 'timeout' : 'unavailable', `broke off: ${error.message}`, error)
    }
  }

  /** Sends one request. Returns transient failures, which can be retried, and throws final ones. */
  async #try(request: HostRequest, leftMs: number): Promise<Outcome> {
    const health = this.#healthOf(request.path)
    try {
      const { headers, isSignedIn, ...answer } = await this.#ask(request, leftMs)
      if (answer.status === 401 && isSignedIn) throw this.#error('unauthorized', `refused ${this.#credentials}`)
      const date = Date.parse(headers['date'] ?? '')
      if (answer.status < 500 && answer.status !== 429) {
        health.succeeded()
        return { answer: { ...answer, contentType: headers['content-type'] ?? '', date: Number.isNaN(date) ? null : date } }
      }
      const isLimit = answer.status === 429
      if (isLimit) health.limited(pauseOf(1, headers['retry-after']))
      const reason = isLimit ? 'limits requests (HTTP 429)' : `answered ${answer.status}`
      return {
        isLimit,
        reason,
        error: this.#error('unavailable', reason),
        pauseMs: (tries) => pauseOf(tries, headers['retry-after']),
      }
    } catch (error) {
      if (!(error instanceof EgressError)) throw error
      if (error.kind === 'timeout') {
        health.failed('did not respond in time')
        throw this.#error('timeout', 'did not respond in time', error)
      }
      if (error.kind === 'too-large') throw this.#error('invalid-response', `returned an invalid response: ${error.message}`, error)
      const reason = `could not be reached: ${error.message}`
      const failure = this.#error('unavailable', reason, error)
      if (error.kind !== 'network') {
        health.failed(reason)
        throw failure
      }
      return { error: failure, reason, isLimit: false, pauseMs: (tries) => pauseOf(tries, undefined) }
    }
  }

  /** A token that was refused is renewed once. */
  async #ask(request: HostRequest, leftMs: number) {
    const address = this.#addressOf(request)
    const contentType = request.form ? FORM_TYPE : request.body === undefined ? undefined : 'application/json'
    const { headers, version, isSignedIn } = await this.#headersFor(address, contentType, null)
    const answer = await this.#fetch(address, request, headers, leftMs)
    if (answer.status !== 401 || version === null) return { ...answer, isSignedIn }
    const renewed = await this.#headersFor(address, contentType, version)
    return { ...(renewed.version === version ? answer : await this.#fetch(address, request, renewed.headers, leftMs)), isSignedIn }
  }

  async #fetch(
    address: string,
    { method = 'GET', path, body, form, maxBytes = MAX_ANSWER_BYTES, signal, headers: more }: HostRequest,
    headers: Record<string, string>,
    leftMs: number,
  ) {
    const isOwn = path.startsWith('/')
    const text = form ? new URLSearchParams(form).toString() : body === undefined ? undefined : JSON.stringify(body)
    return await this.#egress.fetch(address, {
      method,
      headers: { ...more, ...headers },
      continuesTrace: isOwn,
      ...(text === undefined ? {} : { body: Buffer.from(text) }),
      ...(isOwn ? { permit: (target) => this.#own.includes(target.origin) } : {}),
      maxRedirects: isOwn ? 0 : MAX_REDIRECTS,
      maxBytes,
      deadlineMs: leftMs,
      ...(signal ? { signal } : {}),
    })
  }

  /** Previews can be at other hosts, whose failures are not this one's. */
  #healthOf(path: string): Health {
    return path.startsWith('/') ? this.#health : ALWAYS_HEALTHY
  }

  #addressOf({ path, service }: { readonly path: string; readonly service?: string | undefined }): string {
    if (!path.startsWith('/')) return path
    const base = service === undefined ? this.url : this.#services[service]
    if (base === undefined) throw new Error(`${this.name} has no service '${service}' in the registry`)
    return `${base}${path}`
  }

  /** The credential is sent to this host and those that it names, wherever responses point. */
  async #headersFor(address: string, contentType: string | undefined, refused: string | null) {
    const target = URL.parse(address)
    const isTrusted =
      target !== null && (this.#own.includes(target.origin) || (target.protocol === 'https:' && this.#trusted.includes(target.host)))
    const authorization = isTrusted ? await this.#authorizer.authorize(refused) : { headers: {}, version: null }
    const headers: Record<string, string> = {
      accept: 'application/json, */*;q=0.5',
      'user-agent': 'groundtrack',
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...authorization.headers,
    }
    return { headers, version: authorization.version, isSignedIn: Object.keys(authorization.headers).length > 0 }
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

type Outcome =
  | { readonly answer: HostAnswer }
  | {
      readonly error: VendorError
      readonly reason: string
      readonly isLimit: boolean
      readonly pauseMs: (tries: number) => number
    }

const FORM_TYPE = 'application/x-www-form-urlencoded'

const isRepeatable = ({ method = 'GET', isRepeatable: stated }: HostRequest): boolean => stated ?? (method === 'GET' || method === 'HEAD')

/** `host`, `host:port`, or `*.domain` for all hosts of a domain. */
export const isListed = ({ host, hostname, protocol }: URL, pattern: string): boolean =>
  pattern.startsWith('*.') ? protocol === 'https:' && hostname.endsWith(pattern.slice(1)) : host === pattern || hostname === pattern

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
  const { error, detail, message: plain, description, general, field } = (value ?? {}) as Record<string, unknown>
  const text = [(error as { message?: unknown } | undefined)?.message, detail, plain, description].find((each) => typeof each === 'string')
  const message = text === undefined ? (fieldMessages(detail) ?? groupedMessages(general, field)) : String(text)
  return message?.slice(0, MAX_MESSAGE) ?? null
}

/** Errors of the whole request and of its fields, each a list of `{message}`, as Planet has them. */
function groupedMessages(general: unknown, field: unknown): string | null {
  const ofFields = field !== null && typeof field === 'object' ? Object.values(field).flat() : []
  const messages = [...(Array.isArray(general) ? general : []), ...ofFields].flatMap((each: { message?: unknown } | null) =>
    typeof each?.message === 'string' ? [each.message] : [],
  )
  return messages.length > 0 ? messages.join('; ') : null
}

/** Validation errors in the form of many Python services: a list of `{loc, msg}`. */
function fieldMessages(detail: unknown): string | null {
  if (!Array.isArray(detail)) return null
  const messages = (detail as ({ loc?: unknown; msg?: unknown } | null)[]).flatMap((each) =>
    typeof each?.msg === 'string' ? [`${Array.isArray(each.loc) ? `${each.loc.join('.')}: ` : ''}${each.msg}`] : [],
  )
  return messages.length > 0 ? messages.join('; ') : null
}
