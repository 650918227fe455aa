/**
 * Every outbound request (COG URLs, webhooks, vendor hosts) goes through here, so that no URL from a caller can reach a private
 * network: https only, every resolved address public, the connection made to the very address that was checked, and each
 * redirect checked again.
 */
import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, request, type Dispatcher } from 'undici'
import { traced, type Span } from '#core/tracing.ts'

export type EgressRefusal =
  | 'address'
  | 'scheme'
  | 'host'
  | 'credentials'
  | 'private'
  | 'unresolved'
  | 'redirect'
  | 'too-large'
  | 'timeout'
  | 'network'

/** States the kind of refusal, never what the network answered, which would turn us into a port scanner. */
export class EgressError extends Error {
  readonly kind: EgressRefusal
  constructor(kind: EgressRefusal, message: string) {
    super(message)
    this.kind = kind
  }
}

export type EgressMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface EgressRequest {
  method?: EgressMethod
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array
  /** Whether the host is told which trace the request belongs to: a vendor or a customer's endpoint, who can continue it. */
  continuesTrace?: boolean
  /** Whether this request may use a URL; called at the start and after each redirect. */
  permit?: (url: URL) => boolean
  /** 0: a redirect is an error. */
  maxRedirects?: number
  /** `return`: a redirect is returned as the response. */
  redirects?: 'follow' | 'return'
  /** Maximum bytes of the body to read. */
  maxBytes: number
  /** What to do with a larger body: fail, or return its beginning. */
  beyondMaxBytes?: 'refuse' | 'cut'
  /** For everything: DNS lookup, connection, headers, body, redirects. */
  deadlineMs: number
  signal?: AbortSignal
}

interface EgressResponse {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** URL of the response, after redirects. */
  url: string
}

interface EgressStream {
  status: number
  headers: Readonly<Record<string, string>>
  body: AsyncIterable<Buffer>
  url: string
}

export interface Egress {
  /** Streams the response body: `deadlineMs` applies up to the headers, `idleMs` to each pause in the body. */
  open(url: string, request: Omit<EgressRequest, 'maxBytes'> & { idleMs: number }): Promise<EgressStream>
  fetch(url: string, request: EgressRequest): Promise<EgressResponse>
  /** Throws what `fetch` would throw before connecting; for URLs that are stored now and called later. */
  check(url: string): Promise<void>
  close(): Promise<void>
}

export interface EgressOptions {
  /** `host` or `host:port` that may be private or plain http; for development. */
  allow?: readonly string[]
  resolve?: (hostname: string) => Promise<readonly string[]>
}

const CONNECT_TIMEOUT_MS = 10_000
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export function createEgress(options: EgressOptions = {}): Egress {
  const guard = createGuard(options)
  return {
    ...guard,
    fetch: (url, init) => tracedRequest(url, init, (headers) => guard.fetch(url, { ...init, headers })),
    open: (url, init) => tracedRequest(url, init, (headers) => guard.open(url, { ...init, headers })),
  }
}

function createGuard(options: EgressOptions): Egress {
  const allowed = new Set((options.allow ?? []).map((entry) => entry.toLowerCase()))
  const resolve = options.resolve ?? resolveAll
  const isAllowed = (url: URL) => allowed.has(url.hostname) || allowed.has(url.host)
  const agents = {
    guarded: makeAgent((hostname) => publicAddress(hostname, resolve)),
    open: makeAgent(async (hostname) => (await resolve(hostname))[0]!),
  }

  const checked = async (text: string, permit: (url: URL) => boolean = () => true): Promise<{ url: URL; agent: Agent }> => {
    const url = parse(text)
    if (!permit(url)) throw new EgressError('host', 'The host is not allowed')
    if (isAllowed(url)) return { url, agent: agents.open }
    if (url.protocol !== 'https:') throw new EgressError('scheme', 'Only https URLs are allowed')
    await publicAddress(bare(url.hostname), resolve) // undici resolves no literal addresses, so check here as well.
    return { url, agent: agents.guarded }
  }

  const follow = async (
    text: string,
    init: Pick<EgressRequest, 'method' | 'headers' | 'body' | 'permit' | 'maxRedirects' | 'redirects'>,
    limits: { signal: AbortSignal; bodyTimeout?: number; headersTimeout?: number },
  ): Promise<{ answer: Dispatcher.ResponseData; url: URL }> => {
    let target = await checked(text, init.permit)
    let headers = init.headers ?? {}
    for (let hops = 0; ; hops++) {
      const answer = await request(target.url, {
        dispatcher: target.agent,
        method: init.method ?? 'GET',
        headers: { 'accept-encoding': 'identity', ...headers },
        body: init.body ?? null,
        ...limits,
      })
      if (init.redirects === 'return' || !REDIRECTS.has(answer.statusCode)) return { answer, url: target.url }
      answer.body.on('error', () => {}).destroy()
      if (hops >= (init.maxRedirects ?? 0)) throw new EgressError('redirect', 'The URL redirects to another one')
      const next = await checked(locationOf(answer, target.url), init.permit)
      if (next.url.origin !== target.url.origin) headers = headersElsewhere(headers, init.body)
      target = next
    }
  }

  return {
    check: async (url) => void (await checked(url)),
    async fetch(text, init) {
      const timeout = AbortSignal.timeout(init.deadlineMs)
      const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
      try {
        const { answer, url } = await follow(text, init, { signal })
        return await received(answer, url, init)
      } catch (error) {
        throw explained(error, timeout, init.signal)
      }
    },
    async open(text, init) {
      // The deadline ends with the headers; undici times out pauses in the body.
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), init.deadlineMs)
      const signal = init.signal ? AbortSignal.any([init.signal, deadline.signal]) : deadline.signal
      try {
        const { answer, url } = await follow(text, init, { signal, bodyTimeout: init.idleMs, headersTimeout: 0 })
        const body = withOwnErrors(answer.body as AsyncIterable<Buffer>, deadline.signal, init.signal)
        return { status: answer.statusCode, headers: plainHeaders(answer), body, url: url.href }
      } catch (error) {
        throw explained(error, deadline.signal, init.signal)
      } finally {
        clearTimeout(timer)
      }
    },
    async close() {
      await Promise.all([agents.guarded.close(), agents.open.close()])
    },
  }
}

/** A span for the request, which names the host but neither the path nor the query: signed URLs carry their secret there. */
function tracedRequest<T extends { status: number }>(
  url: string,
  { method = 'GET', headers = {}, continuesTrace = false }: Pick<EgressRequest, 'method' | 'headers' | 'continuesTrace'>,
  send: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const sent = async (span: Span | null): Promise<T> => {
    const response = await send(span && continuesTrace ? { ...headers, traceparent: span.traceparent } : headers)
    span?.set({ 'http.response.status_code': response.status })
    if (response.status >= 400) span?.fail(response.status)
    return response
  }
  return traced(method, sent, () => ({
    kind: 'client',
    attributes: { 'http.request.method': method, 'server.address': URL.parse(url)?.host ?? 'invalid' },
  }))
}

/** Headers that are safe to send to another origin; any other header may be a credential. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'if-none-match', 'if-range', 'range', 'user-agent'])

function locationOf({ headers: { location } }: Dispatcher.ResponseData, from: URL): string {
  if (typeof location !== 'string') throw new EgressError('redirect', 'The URL redirects without a location')
  return new URL(location, from).href
}

/** The headers for another origin after a redirect: no credentials, and never a body. */
function headersElsewhere(headers: Readonly<Record<string, string>>, body: EgressRequest['body']): Record<string, string> {
  if (body) throw new EgressError('redirect', 'The URL redirects a request body to another origin')
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name.toLowerCase())))
}

function parse(text: string): URL {
  const url = URL.parse(text)
  if (!url || !url.hostname) throw new EgressError('address', 'Invalid URL')
  if (!['http:', 'https:'].includes(url.protocol)) throw new EgressError('scheme', 'Only https URLs are allowed')
  if (url.username || url.password) throw new EgressError('credentials', 'A URL cannot contain a user name or password')
  return url
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

async function resolveAll(hostname: string): Promise<string[]> {
  return (await dns.lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address)
}

/** One private address is enough to refuse a name: the next lookup might return it. */
async function publicAddress(hostname: string, resolve: (hostname: string) => Promise<readonly string[]>): Promise<string> {
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname).catch(() => [])
  if (addresses.length === 0) throw new EgressError('unresolved', 'The host name does not resolve')
  if (!addresses.every(isPublic)) throw new EgressError('private', 'The host is not on the public internet')
  return addresses[0]!
}

const IPV4_COMPATIBLE = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number]

export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address) // ::ffff:a.b.c.d is checked as a.b.c.d.
  if (parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).match(IPV4_COMPATIBLE)) return false
  return parsed.range() === 'unicast'
}

/** Connects to the address that was checked, whatever the name resolves to later. */
function makeAgent(judge: (hostname: string) => Promise<string>): Agent {
  return new Agent({
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      lookup(hostname, options, callback) {
        judge(hostname).then(
          (address) => (options.all ? callback(null, [{ address, family: isIP(address) }]) : callback(null, address, isIP(address))),
          (error: Error) => callback(error as NodeJS.ErrnoException, '', 0),
        )
      },
    },
  })
}

async function received(
  answer: Dispatcher.ResponseData,
  url: URL,
  { maxBytes, beyondMaxBytes = 'refuse' }: EgressRequest,
): Promise<EgressResponse> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) {
      if (beyondMaxBytes === 'refuse') {
        answer.body.destroy()
        throw new EgressError('too-large', `The response has more than ${maxBytes} bytes`)
      }
      chunks.push(chunk.subarray(0, chunk.length - (size - maxBytes)))
      size = maxBytes
      break // This also closes the connection.
    }
    chunks.push(chunk)
  }
  return { status: answer.statusCode, headers: plainHeaders(answer), body: Buffer.concat(chunks, size), url: url.href }
}

const plainHeaders = ({ headers }: Dispatcher.ResponseData): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))

/** Replaces errors of the HTTP client by our own. */
async function* withOwnErrors(body: AsyncIterable<Buffer>, timeout: AbortSignal, caller: AbortSignal | undefined): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    if ((error as { code?: unknown }).code === 'UND_ERR_BODY_TIMEOUT') throw new EgressError('timeout', 'The host stopped sending')
    throw explained(error, timeout, caller)
  }
}

function explained(error: unknown, timeout: AbortSignal, caller: AbortSignal | undefined): unknown {
  if (caller?.aborted) return caller.reason
  if (timeout.aborted) return new EgressError('timeout', 'The host did not respond in time')
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) if (cause instanceof EgressError) return cause
  return new EgressError('network', 'The host could not be reached')
}
