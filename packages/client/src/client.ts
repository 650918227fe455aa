/** Calls over HTTP: credentials, retries, an idempotency key for each call that must run once, typed problems. */
import { timeoutError, within } from './deadline.ts'
import type { Grant } from './generated/types.ts'
import { Lines } from './lines.ts'
import { Page, type Paging } from './pages.ts'
import { AbortError, ConnectionError, problemOf, ProblemError } from './problem.ts'
import { delayMs, canRetry, pause, type Repeat } from './retry.ts'
import { Session, type SessionTokens } from './session.ts'

export interface ClientOptions {
  /** URL of the service, for example `http://127.0.0.1:8080`. Defaults to the origin of the page in a browser. */
  baseUrl?: string | undefined
  /** An API key, `svc_…`. */
  apiKey?: string | undefined
  /** A session from an earlier sign-in, as passed to `onSession`. */
  session?: SessionTokens | null | undefined
  /** Called whenever the session changes, so that you can save it; null when it has ended. */
  onSession?: ((tokens: SessionTokens | null) => void) | undefined
  /** Retries before a call fails; default 3. */
  maxRetries?: number | undefined
  /** Time to wait for a response to begin; default two minutes. */
  timeoutMs?: number | undefined
  /** Headers sent with every call. */
  headers?: Readonly<Record<string, string>> | undefined
  fetch?: typeof globalThis.fetch | undefined
}

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Your own idempotency key instead of a generated one. Calls with the same key and input run once and return the same response. */
  idempotencyKey?: string | undefined
  maxRetries?: number | undefined
  timeoutMs?: number | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

const MAX_RETRIES = 3
const TIMEOUT_MS = 120_000

interface Outgoing {
  /** The operation ID, or the path of a route; errors name it. */
  name: string
  method: 'GET' | 'POST'
  path: string
  body?: string | undefined
  repeat: Repeat
  /** Sent without a credential, for example sign-in itself. */
  anonymous?: boolean
}

export class Client {
  readonly baseUrl: string
  readonly session: Session
  readonly #apiKey: string | null
  readonly #options: ClientOptions
  readonly #fetch: typeof globalThis.fetch

  constructor(options: ClientOptions = {}) {
    this.baseUrl = (options.baseUrl ?? originOfPage()).replace(/\/+$/, '')
    this.#options = options
    this.#apiKey = options.apiKey ?? null
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
    const renew = (tokens: SessionTokens) =>
      this.#grant('/auth/refresh', tokens.refreshToken === null ? {} : { refresh_token: tokens.refreshToken })
    this.session = new Session(options.session ?? null, renew, options.onSession ?? (() => {}))
  }

  /** Calls any operation by its ID, including one that is newer than this client. */
  async call<O = unknown>(id: string, input: object = {}, options?: CallOptions, repeat: Repeat = 'write'): Promise<O> {
    return (await (await this.raw(id, input, options, repeat)).json()) as O
  }

  /** Awaited, the first page of a list; iterated, all its records. */
  page<O, E>(id: string, input: object, options: CallOptions | undefined, paging: Paging): Page<O, E> {
    return new Page<O, E>((fields) => this.call<O>(id, { ...input, ...fields }, options, 'read'), input as Record<string, unknown>, paging)
  }

  /** JSON lines, as they arrive. */
  lines<L>(id: string, input: object, options?: CallOptions): Lines<L> {
    return new Lines<L>(id, () => this.raw(id, input, options, 'read'))
  }

  async text(id: string, input: object, options?: CallOptions): Promise<string> {
    return await (await this.raw(id, input, options, 'read')).text()
  }

  /** The response itself, for bytes: `await response.blob()`, or its `body` as a stream. */
  raw(id: string, input: object, options?: CallOptions, repeat: Repeat = 'read'): Promise<Response> {
    return this.#send({ name: id, method: 'POST', path: `/v1/op/${id}`, body: JSON.stringify(input), repeat }, options)
  }

  /** Calls a route that is not an operation. */
  async route<O = void>(method: 'GET' | 'POST', path: string, input?: object, options?: CallOptions): Promise<O> {
    const body = input === undefined ? undefined : JSON.stringify(input)
    const response = await this.#send({ name: path, method, path, body, repeat: method === 'GET' ? 'read' : 'write' }, options)
    return (response.status === 204 ? undefined : await response.json()) as O
  }

  /** The response of a GET route. */
  get(path: string, options?: CallOptions): Promise<Response> {
    return this.#send({ name: path, method: 'GET', path, repeat: 'read' }, options)
  }

  /** The response of a POST route with its own body format. */
  post(path: string, body: string, options?: CallOptions): Promise<Response> {
    return this.#send({ name: path, method: 'POST', path, body, repeat: 'write' }, options)
  }

  /** Signs in, or renews the session. The client then authenticates with it. */
  async signIn(path: string, input: object, options?: CallOptions): Promise<Grant> {
    const token = path === '/auth/refresh' ? this.#refreshToken() : {}
    const grant = await this.#grant(path, { ...token, ...input }, options)
    this.session.adopt(grant)
    return grant
  }

  /** Ends the session here and at the service. */
  async signOut(path: string, input: object = {}, options?: CallOptions): Promise<void> {
    await this.route('POST', path, { ...this.#refreshToken(), ...input }, options)
    this.session.end()
  }

  #refreshToken(): { refresh_token?: string } {
    const token = this.session.tokens?.refreshToken
    return token == null ? {} : { refresh_token: token }
  }

  async #grant(path: string, input: object, options?: CallOptions): Promise<Grant> {
    const request = { name: path, method: 'POST', path, body: JSON.stringify(input), repeat: 'write', anonymous: true } as const
    return (await (await this.#send(request, options)).json()) as Grant
  }

  async #send(request: Outgoing, options: CallOptions = {}): Promise<Response> {
    const key = request.repeat === 'keyed' ? (options.idempotencyKey ?? crypto.randomUUID()) : null
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? MAX_RETRIES
    let hasRenewed = false
    for (let attempt = 0; ; attempt++) {
      const token = request.anonymous ? null : (this.#apiKey ?? (await this.session.token()))
      let error: ProblemError | ConnectionError
      try {
        const response = await this.#once(request, options, key, token)
        if (response.ok) return response
        error = await problemOf(response, request.name, key)
      } catch (cause) {
        if (options.signal?.aborted) throw new AbortError(request.name, options.signal.reason)
        error = new ConnectionError(request.name, key, cause)
      }
      if (error instanceof ProblemError && error.status === 401 && token !== null && token !== this.#apiKey && !hasRenewed) {
        hasRenewed = true // The token expired early, or our clock is wrong. Nothing ran, so the call can be sent again.
        await this.session.renew(token)
        continue
      }
      const isRetryable = error instanceof ProblemError ? canRetry(error, request.repeat) : request.repeat !== 'write'
      if (!isRetryable || attempt >= maxRetries) throw error
      await pause(delayMs(attempt, error instanceof ProblemError ? error.retryAfterSeconds : null), options.signal)
    }
  }

  async #once(request: Outgoing, options: CallOptions, key: string | null, token: string | null): Promise<Response> {
    const headers: Record<string, string> = { ...this.#options.headers, ...options.headers }
    if (request.body !== undefined) headers['content-type'] = 'application/json'
    if (token !== null) headers['authorization'] = `Bearer ${token}`
    if (key !== null) headers['idempotency-key'] = key
    // `fetch` sends cookies to its own origin only, and only the refresh route reads them.
    const send = (signal: AbortSignal | null) =>
      this.#fetch(this.baseUrl + request.path, {
        method: request.method,
        headers,
        body: request.body ?? null,
        ...(signal ? { signal } : {}),
      })
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs
    if (timeoutMs === undefined && !options.signal) return await within(TIMEOUT_MS, send(null))
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(timeoutError()), timeoutMs ?? TIMEOUT_MS)
    try {
      return await send(options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal)
    } finally {
      clearTimeout(timer) // The body can take longer; the caller's own signal still aborts it.
    }
  }
}

/** What `upload` and `waitFor` need of a client, so that programs can wrap its calls. */
export type Caller = Pick<Client, 'call'>

function originOfPage(): string {
  const { location } = globalThis as { location?: { origin: string } }
  return location?.origin ?? 'http://127.0.0.1:8080'
}
