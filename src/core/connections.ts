/** Connection limits of a listener: in total and per address, with a deadline for the first request. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { IsTrusted } from './proxies.ts'

export interface ConnectionLimits {
  readonly maxConnections: number
  readonly maxPerAddress: number
  /** Time from the connection to the end of its first headers. */
  readonly headersMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = { maxConnections: 2_048, maxPerAddress: 512, headersMs: 15_000 }
/** How often the server checks for requests that take too long. */
export const CHECK_INTERVAL_MS = 1_000
/** Time for a client to close the connection after its last response. */
const LINGER_MS = 1_000

interface Guarded {
  readonly socket: Socket
  /** Requests in progress: a connection without one can be closed to admit another. */
  requests: number
  /** Closes a connection whose first request does not arrive. */
  readonly timer: NodeJS.Timeout
}

/**
 * Beyond a limit, the oldest idle connection is closed to admit the new one, of the same address first, so that unfinished requests only
 * displace each other. A new connection is rejected only if all others are busy. Connections of a trusted proxy come from many clients:
 * they only count towards the total, and the clients are limited by their own addresses.
 */
export function guardConnections(
  server: Server,
  { limits = CONNECTION_LIMITS, isTrusted = () => false }: { limits?: ConnectionLimits | undefined; isTrusted?: IsTrusted } = {},
): void {
  const all = new Map<Socket, Guarded>()
  const byAddress = new Map<string, Set<Guarded>>()
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const own = byAddress.get(address) ?? new Set()
    if (own.size >= limits.maxPerAddress && !isTrusted(address) && !closeOldestIdle(own)) return void socket.destroy()
    if (all.size >= limits.maxConnections && !closeOldestIdle(largest(byAddress))) return void socket.destroy()
    const timer = setTimeout(() => socket.destroy(), limits.headersMs).unref()
    const guarded: Guarded = { socket, requests: 0, timer }
    all.set(socket, guarded)
    byAddress.set(address, own.add(guarded))
    socket.once('close', () => {
      clearTimeout(timer)
      all.delete(socket)
      own.delete(guarded)
      if (own.size === 0) byAddress.delete(address)
    })
  })
  const watch = (request: IncomingMessage, response: ServerResponse): void => {
    const guarded = all.get(request.socket)
    if (!guarded) return
    clearTimeout(guarded.timer) // The server's own deadlines apply from here on.
    guarded.requests++
    response.once('close', () => guarded.requests--)
  }
  server.prependListener('request', watch)
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', watch) // A listener handles the reply.
}

function closeOldestIdle(connections: Set<Guarded>): boolean {
  for (const guarded of connections) {
    if (guarded.requests > 0) continue
    connections.delete(guarded)
    guarded.socket.destroy()
    return true
  }
  return false
}

function largest(byAddress: ReadonlyMap<string, Set<Guarded>>): Set<Guarded> {
  let most = new Set<Guarded>()
  for (const connections of byAddress.values()) if (connections.size > most.size) most = connections
  return most
}

/** Sends a final response and closes the connection, even if the client does not. */
export function closeWith(socket: Socket, response: string): void {
  socket.end(response)
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}
