/** The embedded store's own listener: signed PUT and GET on a separate port, so that bytes never pass through the API. */
import { PREFLIGHT_SECONDS } from '#core/time.ts'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Clock } from '#core/clock.ts'
import { CHECK_INTERVAL_MS, CONNECTION_LIMITS, guardConnections, closeWith, type ConnectionLimits } from '#core/connections.ts'
import { trusting } from '#core/proxies.ts'
import { newId } from '#core/ids.ts'
import { Problem, problem } from '#core/problem.ts'
import { watchPace, type PaceLimits } from './deadline.ts'
import { sendObject } from './download.ts'
import type { FileStore } from './files.ts'
import { StorageError, type EgressMeter, type UploadQuota } from '#ports/storage.ts'
import { OBJECTS_PATH, verifyRequest, type StoreSecrets, type VerifiedRequest } from './signature.ts'
import { createUploader, type Uploader } from './upload.ts'

const MAX_TARGET_LENGTH = 4_096
const MAX_HEADER_BYTES = 16 * 1024
const MAX_HEADERS = 100
const KEEP_ALIVE_MS = 5_000
const LINGER_MS = 2_000
const PACE: PaceLimits = { windowMs: 30_000, minBytes: 64 * 1024 }
/** Headers that must not be repeated. */
const SINGLE_HEADERS = ['content-type', 'content-length', 'content-range', 'content-md5', 'range', 'if-range', 'transfer-encoding', 'host']

const CORS = {
  'Access-Control-Allow-Origin': '*', // The signature is the credential, and another origin has none.
  'Access-Control-Expose-Headers':
    'ETag, Content-Range, Content-Length, Content-Disposition, Accept-Ranges, Last-Modified, Range, Upload-Offset',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, PUT, OPTIONS',
  'Access-Control-Allow-Headers': 'Content-Type, Content-Range, Content-MD5, Range, If-Range, If-Match, If-None-Match',
  'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
}
const SAFETY = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer', // The URL is a credential.
}

export interface StoreListenerOptions {
  store: FileStore
  host: string
  /** 0: any free port; see `port` of the result. */
  port: number
  secrets: StoreSecrets
  clock: Clock
  log: Logger
  /** Base URL of the problem pages: that of the API. */
  baseUrl?: () => string
  pace?: PaceLimits
  /** Counts egress; null: not counted. */
  egress?: EgressMeter | null
  /** Reserves quota for uploads; null: the signed size is the only limit. */
  quota?: UploadQuota | null
  connections?: ConnectionLimits
  /** Proxies whose connections carry many callers. */
  readonly trustedProxies?: readonly string[]
  /** How long an idle connection stays open. */
  readonly keepAliveSeconds?: number
}

export interface StoreListener {
  readonly port: number
  /** Lets running requests finish within `graceMs`, then closes them. Resumable uploads continue later. */
  close(graceMs?: number): Promise<void>
}

interface Listener extends StoreListenerOptions {
  readonly upload: Uploader
}

export async function startStoreListener(options: StoreListenerOptions): Promise<StoreListener> {
  const listener: Listener = { ...options, upload: createUploader(options.store, options.quota ?? null) }
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: (options.connections ?? CONNECTION_LIMITS).headersMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    requestTimeout: 0,
    keepAliveTimeout: options.keepAliveSeconds === undefined ? KEEP_ALIVE_MS : options.keepAliveSeconds * 1_000,
  })
  server.maxHeadersCount = MAX_HEADERS
  server.on('request', (request, response) => void serve(listener, request, response, () => {}))
  server.on('checkContinue', (request, response) => void serve(listener, request, response, () => response.writeContinue()))
  server.on('clientError', refuseMalformed)
  guardConnections(server, { limits: options.connections, isTrusted: trusting(options.trustedProxies ?? []) })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return { port: (server.address() as AddressInfo).port, close: (graceMs = 5_000) => closeServer(server, graceMs) }
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearTimeout(timer)
}

/** Handles one request up to the last byte of the response, and all its errors. */
async function serve(listener: Listener, request: IncomingMessage, response: ServerResponse, sayContinue: () => void): Promise<void> {
  const startedAtMs = performance.now()
  const socket = request.socket
  const stopWatch = watchPace(socket, listener.pace ?? PACE, () => {
    if (response.headersSent) return void socket.destroy()
    response.once('finish', () => request.destroy()) // The client learns that its bytes are no longer read.
    refuse(listener, response, problem('request-timeout', 'The upload is too slow'))
  })
  request.once('end', () => {
    if (request.method === 'PUT') stopWatch()
  }) // From here the client waits for our disk.
  response.once('finish', () => {
    if (!request.complete) drain(request)
  })
  response.once('close', () => {
    stopWatch()
    const object = request.url!.split('?', 1)[0]!.slice(0, 300) // Never the query, which holds the signature.
    listener.log.debug(
      {
        method: request.method,
        object,
        status: response.statusCode,
        ms: Math.round(performance.now() - startedAtMs),
        complete: response.writableFinished,
      },
      'store',
    )
  })
  try {
    await route(listener, request, response, sayContinue)
  } catch (error) {
    if (response.headersSent || socket.destroyed) return void response.destroy()
    if (!request.complete) response.shouldKeepAlive = true // `drain` closes the connection later; closing it now would be a reset.
    refuse(listener, response, error)
  }
}

/**
 * After an early response, the rest of an upload is read and dropped for a while; otherwise the client would see a reset
 * instead of the reason.
 */
function drain(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => request.socket.end())
  request.on('error', () => {}).resume()
}

async function route(listener: Listener, request: IncomingMessage, response: ServerResponse, sayContinue: () => void): Promise<void> {
  for (const [name, value] of Object.entries({ ...CORS, ...SAFETY })) response.setHeader(name, value)
  const hasBody = Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined
  if (request.method === 'OPTIONS') return void response.writeHead(204, PREFLIGHT).end()
  if (!['GET', 'HEAD', 'PUT'].includes(request.method!))
    throw problem('method-not-allowed', 'The object store supports GET, HEAD and PUT', { headers: { Allow: 'GET, HEAD, PUT, OPTIONS' } })
  if (SINGLE_HEADERS.some((name) => (request.headersDistinct[name]?.length ?? 0) > 1)) throw problem('bad-request', 'A header is repeated')
  const signed = await signedRequestOf(listener, request)
  if (signed.method === 'PUT') return await listener.upload({ request, response, signed, proceed: sayContinue })
  if (hasBody) throw problem('bad-request', 'A download request must have no body')
  await sendObject(listener.store, signed, request, response, listener.egress ?? null)
}

async function signedRequestOf({ secrets, clock }: Listener, request: IncomingMessage): Promise<VerifiedRequest> {
  const target = request.url!
  if (!target.startsWith(OBJECTS_PATH)) throw problem('not-found', 'No such path')
  const signed = target.length <= MAX_TARGET_LENGTH ? await verified(secrets, target) : null
  const isMeant = signed && (request.method === signed.method || request.method === 'HEAD')
  if (!isMeant) throw problem('invalid-signature', 'The URL is not signed for this request')
  if (clock.now().getTime() >= signed.expires * 1000) throw problem('expired-signature', 'The signed URL has expired; request a new one')
  return signed
}

/** A URL with an unknown signature may be signed with a secret that another process has just created. */
async function verified(secrets: StoreSecrets, target: string): Promise<VerifiedRequest | null> {
  const known = verifiedNow(secrets, target)
  if (known) return known
  await secrets.refresh()
  return verifiedNow(secrets, target)
}

function verifiedNow(secrets: StoreSecrets, target: string): VerifiedRequest | null {
  const previous = secrets.previous()
  return verifyRequest(secrets.current(), target) ?? (previous && verifyRequest(previous, target))
}

function refuse(listener: Listener, response: ServerResponse, error: unknown): void {
  const id = newId()
  const known = explain(error)
  if (known.status >= 500) listener.log.error({ err: error, invocation: id }, 'store')
  const document = {
    type: listener.baseUrl ? `${listener.baseUrl()}/problems/${known.slug}` : 'about:blank',
    title: known.title,
    status: known.status,
    detail: known.message,
    instance: `urn:uuid:${id}`,
    code: known.slug,
    ...known.members,
  }
  const body = Buffer.from(JSON.stringify(document))
  response
    .writeHead(known.status, {
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Length': String(body.length),
      ...known.headers,
    })
    .end(body)
}

const STORE_PROBLEMS: Partial<Record<StorageError['code'], () => Problem>> = {
  'not-found': () => problem('not-found', 'No such object'),
  'too-large': () => problem('object-too-large', 'The file is too large'),
  changed: () => problem('upload-offset', 'Another client is writing this upload; query its offset'),
  full: () => problem('insufficient-storage', 'The object store has no disk space left'),
}

function explain(error: unknown): Problem {
  if (error instanceof Problem) return error
  const known = error instanceof StorageError ? STORE_PROBLEMS[error.code]?.() : undefined
  return known ?? problem('internal-error', 'Internal error')
}

/** Requests that are not HTTP reach no route: respond and close the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const [status, title, code] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large', 'bad-request']
      : isSlow
        ? [408, 'Request Timeout', 'request-timeout']
        : [400, 'Bad Request', 'bad-request']
  const body = JSON.stringify({ type: 'about:blank', title, status, detail: 'The request could not be read', code })
  closeWith(
    socket,
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ` +
      `${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
