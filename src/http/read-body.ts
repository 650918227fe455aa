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
/** Of public operations: 999 vertices fit. */
export const PUBLIC_BYTES = 64 * KIB
/** Of operations that state no other limit; larger bodies are not parsed on the event loop. */
export const STANDARD_BYTES = 256 * KIB

/** A body has this long to come, and longer by its length at the least pace that we wait for. */
const GRACE_MS = 10_000
const LEAST_BYTES_PER_MS = 64
/** Over all requests at once, of bodies that have not ended yet. */
const MAX_HELD_BYTES = 48 * KIB * KIB
/** How long the rest of a refused body is read and dropped, so that its sender gets to see the answer. */
const LINGER_MS = 2_000
const LINGER_BYTES = 512 * KIB
const LINGER_PAUSE_MS = 20

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the body itself. */
    readsBody?: true
  }
}

/** Options of a route that reads its body itself, with `readRequest`. */
export const READS_BODY = { bodyLimit: STANDARD_BYTES, config: { readsBody: true } } as const

export function registerBodies(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    if (request.method !== 'POST' || request.is404 || request.routeOptions.config.readsBody) return
    request.body = await readRequest(request)
  })
  app.addHook('onResponse', (request, _reply, done) => {
    linger(request.raw)
    done()
  })
}

export const readRequest = ({ raw, routeOptions }: FastifyRequest): Promise<Buffer> => readBody(raw, routeOptions.bodyLimit)

/** For the whole process, like its memory: whichever route reads the bodies. */
let heldBytes = 0

export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let size = 0
  const onData = (chunk: Buffer): void => {
    size += chunk.length
    heldBytes += chunk.length
    chunks.push(chunk)
    if (size > maxBytes) reject(tooLarge(maxBytes))
    else if (heldBytes > MAX_HELD_BYTES)
      reject(problem('unavailable', 'Too many large bodies at once', { headers: { 'Retry-After': '2' } }))
  }
  const onEnd = (): void => {
    request.off('close', onBroken) // It closes right after, before whoever waits here goes on: a problem costs a stack trace.
    resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
  }
  const onBroken = (): void => reject(problem('bad-request', 'The body broke off'))
  const timer = setTimeout(
    () => reject(problem('request-timeout', 'The bytes of the body came too slowly')),
    GRACE_MS + (declared || maxBytes) / LEAST_BYTES_PER_MS,
  )
  request.on('data', onData).once('end', onEnd).once('error', onBroken).once('close', onBroken)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    heldBytes -= size
    request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
    request.on('error', () => {}) // What comes of the rest is nobody's concern any more.
  }
}

/** After an answer to a request whose body is still coming: reads on for a moment, then hangs up. */
function linger(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(timer))
  let read = 0
  request.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read < LINGER_BYTES) return
    read = 0
    request.pause() // Dropping bytes costs as much as reading them: at this pace it hurts nobody.
    setTimeout(() => request.resume(), LINGER_PAUSE_MS).unref()
  })
  request.resume()
}

const tooLarge = (maxBytes: number): Problem =>
  problem('payload-too-large', `A body may have at most ${maxBytes} bytes here`, { members: { limit: maxBytes } })
