/**
 * Reads request bodies, up to the `bodyLimit` of the route and within a time limit. Most bodies are small and are read before the
 * handler runs; a route with `READS_BODY` reads its body itself, once the caller is authenticated and within the rate limit.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem, type Problem } from '#core/problem.ts'

const KIB = 1024
/** Unless the route states another `bodyLimit`. */
export const SIGN_IN_BYTES = 16 * KIB
/** For public operations: enough for 999 vertices. */
export const PUBLIC_BYTES = 64 * KIB
/** For operations without their own limit; larger bodies are not parsed on the event loop. */
export const STANDARD_BYTES = 256 * KIB

/** The time limit of a body: this, plus its length at the minimum transfer rate. */
const GRACE_MS = 10_000
const MIN_BYTES_PER_MS = 64
/** Memory for all incomplete bodies of a server together. */
const MAX_BUFFERED_BYTES = 48 * KIB * KIB
/** How long the rest of a rejected body is read and discarded, so that the client gets to read the response. */
const LINGER_MS = 2_000
const LINGER_BYTES = 512 * KIB
const LINGER_PAUSE_MS = 20

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself. */
    readsBody?: true
  }
  interface FastifyInstance {
    readBody: ReadBody
  }
}

/** Reads a whole body; 413 beyond `maxBytes`. */
type ReadBody = (request: IncomingMessage, maxBytes: number) => Promise<Buffer>

/** Options of a route that reads its body itself, with `readRequest`. */
export const READS_BODY = { bodyLimit: STANDARD_BYTES, config: { readsBody: true } } as const

export function registerBodies(app: FastifyInstance): void {
  app.decorate('readBody', createBodyReader())
  app.addHook('preHandler', async (request) => {
    if (request.method !== 'POST' || request.is404 || request.routeOptions.config.readsBody) return
    request.body = await readRequest(request)
  })
  app.addHook('onResponse', (request, _reply, done) => {
    linger(request.raw)
    done()
  })
}

export const readRequest = ({ raw, server, routeOptions }: FastifyRequest, maxBytes = routeOptions.bodyLimit): Promise<Buffer> =>
  server.readBody(raw, maxBytes)

/** One per server, because all its routes share the memory for incomplete bodies. */
export function createBodyReader(maxBufferedBytes = MAX_BUFFERED_BYTES): ReadBody {
  const buffered = { bytes: 0 }
  return (request, maxBytes) => readBody(request, maxBytes, { buffered, maxBufferedBytes })
}

interface BufferLimit {
  /** Bytes of all incomplete bodies. */
  buffered: { bytes: number }
  maxBufferedBytes: number
}

async function readBody(request: IncomingMessage, maxBytes: number, { buffered, maxBufferedBytes }: BufferLimit): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    buffered.bytes += chunk.length
    chunks.push(chunk)
    if (size > maxBytes) reject(tooLarge(maxBytes))
    else if (buffered.bytes > maxBufferedBytes)
      reject(problem('unavailable', 'The server is receiving too many large requests; retry shortly', { headers: { 'Retry-After': '2' } }))
  }
  const onEnd = (): void => {
    request.off('close', onBroken) // It closes right after, before the caller continues; the rejection would cost a stack trace.
    resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
  }
  const onBroken = (): void => reject(problem('bad-request', 'The connection closed before the request body was complete'))
  const timer = setTimeout(
    () => reject(problem('request-timeout', 'The request body arrived too slowly')),
    GRACE_MS + (declared || maxBytes) / MIN_BYTES_PER_MS,
  )
  request.on('data', onData).once('end', onEnd).once('error', onBroken).once('close', onBroken)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    buffered.bytes -= size
    request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
    request.on('error', () => {}) // Errors of the rest no longer matter.
  }
}

/** After a response to a request whose body is still arriving: discards it for a moment, then closes the connection. */
function linger(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(timer))
  let read = 0
  request.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read < LINGER_BYTES) return
    read = 0
    request.pause() // Discarding bytes costs as much as reading them, so it is slowed down.
    setTimeout(() => request.resume(), LINGER_PAUSE_MS).unref()
  })
  request.resume()
}

const tooLarge = (maxBytes: number): Problem =>
  problem('payload-too-large', `The request body must not exceed ${maxBytes} bytes`, { members: { limit: maxBytes } })
