/**
 * The only way out. Every outbound request (COG addresses, webhooks, vendor hosts) goes through here, so that no address a
 * caller makes up can reach a private network: https alone, every resolved address public, the connection made to the very
 * address that was checked, and each redirect checked anew.
 */
import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, request, type Dispatcher } from 'undici'

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

/** Says what kind of refusal it was; never what the network answered, which would make us a port scanner. */
export class EgressError extends Error {
  readonly kind: EgressRefusal
  constructor(kind: EgressRefusal, message: string) {
    super(message)
    this.kind = kind
  }
}

interface EgressRequest {
  method?: 'GET' | 'HEAD' | 'POST'
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array
  /** Says which addresses this request may name, at the start and after each redirect. */
  permit?: (url: URL) => boolean
  /** 0: a redirect is a failure. */
  maxRedirects?: number
  /** `return`: a redirect is an answer like any other, and is not followed. */
  redirects?: 'follow' | 'return'
  /** Bytes of the body that are read at most. */
  maxBytes: number
  /** What becomes of an answer with more: a failure, or only its beginning. */
  beyondMaxBytes?: 'refuse' | 'cut'
  /** For everything: look-up, connection, headers, body, redirects. */
  deadlineMs: number
  signal?: AbortSignal
}

interface EgressResponse {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Where the answer came from, after redirects. */
  url: string
}

interface EgressStream {
  status: number
  headers: Readonly<Record<string, string>>
  body: AsyncIterable<Buffer>
  url: string
}

export interface Egress {
  /** The answer's body as it comes: `deadlineMs` is for everything before it, `idleMs` for each pause in it. */
  open(url: string, request: Omit<EgressRequest, 'maxBytes'> & { idleMs: number }): Promise<EgressStream>
  fetch(url: string, request: EgressRequest): Promise<EgressResponse>
  /** Throws what `fetch` would throw before it connects: for addresses that are stored now and called later. */
  check(url: string): Promise<void>
  close(): Promise<void>
}

export interface EgressOptions {
  /** `host` or `host:port` that may be reached although private or plain http: for development. */
  allow?: readonly string[]
  resolve?: (hostname: string) => Promise<readonly string[]>
}

const CONNECT_TIMEOUT_MS = 10_000
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export function createEgress(options: EgressOptions = {}): Egress {
  const allowed = new Set((options.allow ?? []).map((entry) => entry.toLowerCase()))
  const resolve = options.resolve ?? resolveAll
  const isAllowed = (url: URL) => allowed.has(url.hostname) || allowed.has(url.host)
  const agents = {
    guarded: makeAgent((hostname) => publicAddress(hostname, resolve)),
    open: makeAgent(async (hostname) => (await resolve(hostname))[0]!),
  }

  const checked = async (text: string, permit: (url: URL) => boolean = () => true): Promise<{ url: URL; agent: Agent }> => {
    const url = parse(text)
    if (!permit(url)) throw new EgressError('host', 'The host is not among the allowed ones')
    if (isAllowed(url)) return { url, agent: agents.open }
    if (url.protocol !== 'https:') throw new EgressError('scheme', 'Only https addresses can be reached')
    await publicAddress(bare(url.hostname), resolve) // The agent is not asked about literal addresses, so both are checked.
    return { url, agent: agents.guarded }
  }

  const follow = async (
    text: string,
    wanted: Pick<EgressRequest, 'method' | 'headers' | 'body' | 'permit' | 'maxRedirects' | 'redirects'>,
    limits: { signal: AbortSignal; bodyTimeout?: number; headersTimeout?: number },
  ): Promise<{ answer: Dispatcher.ResponseData; url: URL }> => {
    let target = await checked(text, wanted.permit)
    let headers = wanted.headers ?? {}
    for (let hops = 0; ; hops++) {
      const answer = await request(target.url, {
        dispatcher: target.agent,
        method: wanted.method ?? 'GET',
        headers: { 'accept-encoding': 'identity', ...headers },
        body: wanted.body ?? null,
        ...limits,
      })
      if (wanted.redirects === 'return' || !REDIRECTS.has(answer.statusCode)) return { answer, url: target.url }
      answer.body.on('error', () => {}).destroy()
      if (hops >= (wanted.maxRedirects ?? 0)) throw new EgressError('redirect', 'The address redirects elsewhere')
      const next = await checked(locationOf(answer, target.url), wanted.permit)
      if (next.url.origin !== target.url.origin) headers = headersElsewhere(headers, wanted.body)
      target = next
    }
  }

  return {
    check: async (url) => void (await checked(url)),
    async fetch(text, wanted) {
      const timeout = AbortSignal.timeout(wanted.deadlineMs)
      const signal = wanted.signal ? AbortSignal.any([wanted.signal, timeout]) : timeout
      try {
        const { answer, url } = await follow(text, wanted, { signal })
        return await received(answer, url, wanted)
      } catch (error) {
        throw explained(error, timeout, wanted.signal)
      }
    },
    async open(text, wanted) {
      // The deadline ends with the headers; a pause in the body is undici's to notice.
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), wanted.deadlineMs)
      const signal = wanted.signal ? AbortSignal.any([wanted.signal, deadline.signal]) : deadline.signal
      try {
        const { answer, url } = await follow(text, wanted, { signal, bodyTimeout: wanted.idleMs, headersTimeout: 0 })
        const body = told(answer.body as AsyncIterable<Buffer>, deadline.signal, wanted.signal)
        return { status: answer.statusCode, headers: plainHeaders(answer), body, url: url.href }
      } catch (error) {
        throw explained(error, deadline.signal, wanted.signal)
      } finally {
        clearTimeout(timer)
      }
    },
    async close() {
      await Promise.all([agents.guarded.close(), agents.open.close()])
    },
  }
}

/** Headers that tell another origin nothing it could use; any other header may be a credential. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'if-none-match', 'if-range', 'range', 'user-agent'])

function locationOf({ headers: { location } }: Dispatcher.ResponseData, from: URL): string {
  if (typeof location !== 'string') throw new EgressError('redirect', 'The address redirects elsewhere')
  return new URL(location, from).href
}

/** What another origin is sent after a redirect: no credential, and never a body. */
function headersElsewhere(headers: Readonly<Record<string, string>>, body: EgressRequest['body']): Record<string, string> {
  if (body) throw new EgressError('redirect', 'The address redirects a body to another origin')
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name.toLowerCase())))
}

function parse(text: string): URL {
  const url = URL.parse(text)
  if (!url || !url.hostname) throw new EgressError('address', 'This is not an address')
  if (!['http:', 'https:'].includes(url.protocol)) throw new EgressError('scheme', 'Only https addresses can be reached')
  if (url.username || url.password) throw new EgressError('credentials', 'An address cannot carry a user name or password')
  return url
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

async function resolveAll(hostname: string): Promise<string[]> {
  return (await dns.lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address)
}

/** One private address among several is enough to refuse the name: the next look-up might pick it. */
async function publicAddress(hostname: string, resolve: (hostname: string) => Promise<readonly string[]>): Promise<string> {
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname).catch(() => [])
  if (addresses.length === 0) throw new EgressError('unresolved', 'The host has no address')
  if (!addresses.every(isPublic)) throw new EgressError('private', 'The host is not on the public internet')
  return addresses[0]!
}

const IPV4_COMPATIBLE = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number]

export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address) // ::ffff:a.b.c.d is judged as a.b.c.d.
  if (parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).match(IPV4_COMPATIBLE)) return false
  return parsed.range() === 'unicast'
}

/** Connects to the address that was judged, whatever the name resolves to a moment later. */
function makeAgent(judge: (hostname: string) => Promise<string>): Agent {
  return new Agent({
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      lookup(hostname, wanted, callback) {
        judge(hostname).then(
          (address) => (wanted.all ? callback(null, [{ address, family: isIP(address) }]) : callback(null, address, isIP(address))),
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
        throw new EgressError('too-large', `The answer has more than ${maxBytes} bytes`)
      }
      chunks.push(chunk.subarray(0, chunk.length - (size - maxBytes)))
      size = maxBytes
      break // Which also ends the connection.
    }
    chunks.push(chunk)
  }
  return { status: answer.statusCode, headers: plainHeaders(answer), body: Buffer.concat(chunks, size), url: url.href }
}

const plainHeaders = ({ headers }: Dispatcher.ResponseData): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))

/** Whatever breaks the body is told in our own words. */
async function* told(body: AsyncIterable<Buffer>, timeout: AbortSignal, caller: AbortSignal | undefined): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    if ((error as { code?: unknown }).code === 'UND_ERR_BODY_TIMEOUT') throw new EgressError('timeout', 'The host stopped sending')
    throw explained(error, timeout, caller)
  }
}

function explained(error: unknown, timeout: AbortSignal, caller: AbortSignal | undefined): unknown {
  if (caller?.aborted) return caller.reason
  if (timeout.aborted) return new EgressError('timeout', 'The host did not answer in time')
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) if (cause instanceof EgressError) return cause
  return new EgressError('network', 'The host could not be reached')
}
