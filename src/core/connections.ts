/** Connections of a listener: so many altogether, so many of one address, and none that waits for ever. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { IsTrusted } from './proxies.ts'

export interface ConnectionLimits {
  readonly maxConnections: number
  readonly maxPerAddress: number
  /** From the connection to the end of its first headers. */
  readonly headersMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = { maxConnections: 2_048, maxPerAddress: 512, headersMs: 15_000 }
/** How often the server looks for requests that take too long. */
export const CHECK_INTERVAL_MS = 1_000
/** Between requests. */
export const KEEP_ALIVE_MS = 30_000
/** A client that was told goodbye has this long to go. */
const GOODBYE_MS = 1_000

interface Guarded {
  readonly socket: Socket
  /** Requests under way: one that has none may be closed to make room. */
  requests: number
  /** Ends a connection whose first request does not come. */
  readonly timer: NodeJS.Timeout
}

/**
 * Beyond a limit the oldest connection without a request makes room for the new one, of the same address first: unfinished
 * requests crowd out each other and nobody else. Only where every connection is at work is the new one refused.
 * A trusted proxy's connections are those of many callers: they are limited altogether, and its callers by their own addresses.
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
    clearTimeout(guarded.timer) // From here on the server's own deadlines hold.
    guarded.requests++
    response.once('close', () => guarded.requests--)
  }
  server.prependListener('request', watch)
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', watch) // A listener takes the reply over.
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
  let found = new Set<Guarded>()
  for (const each of byAddress.values()) if (each.size > found.size) found = each
  return found
}

/** Sends the last words and hangs up, also on a client that never does. */
export function sayGoodbye(socket: Socket, words: string): void {
  socket.end(words)
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}
