/** `GET /v1/events`: the organization's events as they happen, as server-sent events. A stream ends with its credential. */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { EventStream } from '#background/event-stream.ts'
import type { Principal } from '#core/principal.ts'
import { invalidField } from '#core/problem.ts'
import { requireScope } from '#pipeline/authorize.ts'
import type { IsTrusted } from '#core/proxies.ts'
import type { Platform } from '#pipeline/platform.ts'
import { callerAddress, takeSlot } from './caller.ts'
import { credentialOf } from './credential.ts'

/** How often a stream checks whether its credential was revoked or its role has changed. */
const RECHECK_MS = 2_000
/** Interval of keep-alive comments, so that proxies do not close an idle stream; a multiple of the above. */
const RECHECKS_PER_BEAT = 8
/** Buffer for a slow client; beyond it, the stream is closed and the client resumes with its last event ID. */
const MAX_WAITING_BYTES = 1024 * 1024
/** Maximum bytes of missed events per connection; the client then reconnects for more. */
const MAX_RESUMED_BYTES = 512 * 1024
/** Reconnection delay for clients, in milliseconds. */
const RETRY_MS = 1_000

const ROUTE = { id: 'events.stream' as const, scope: 'event_subscriptions:read' as const }

interface EventParts {
  platform: Platform
  stream: EventStream
  isTrusted: IsTrusted
}

export function registerEvents(app: FastifyInstance, { platform, stream, isTrusted }: EventParts): void {
  app.addHook('preClose', async () => await stream.close())
  app.get('/v1/events', { exposeHeadRoute: false }, async (request, reply) => {
    const credential = credentialOf(request)
    const { principal, allowance } = await platform.authenticator.authenticate(credential)
    if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
    requireScope(principal, ROUTE)
    await takeSlot(platform, request, principal) // Also for a stream that is then refused: who tries again and again waits.
    const lastEventId = lastEventIdOf(request)
    const again = async (): Promise<Principal> => {
      const current = (await platform.authenticator.authenticate(credential)).principal
      requireScope(current, ROUTE)
      return current
    }
    const open = openStream(reply.raw, principal, again)
    const address = isTrusted(request.ip) ? null : callerAddress(request)
    const leave = await stream.join(open.listener, { lastEventId, address })
    reply.hijack()
    open.begin({ ...(reply.getHeaders() as Record<string, string>) }, leave)
  })
}

function lastEventIdOf(request: FastifyRequest): string | null {
  const given = request.headers['last-event-id']
  if (given === undefined || given === '') return null
  if (typeof given !== 'string') throw invalidField('Last-Event-ID', 'must be a single event ID')
  return given
}

function openStream(raw: ServerResponse, opened: Principal, again: () => Promise<Principal>) {
  let principal = opened
  /** Until the headers are sent. */
  let waiting: string[] | null = []
  let waitingBytes = 0
  const write = (text: string): void => {
    if (raw.writableEnded || raw.destroyed) return
    raw.write(text)
    if (raw.writableLength > MAX_WAITING_BYTES) raw.destroy()
  }
  const listener = {
    principal: () => principal,
    send(frame: string) {
      if (!waiting) write(frame)
      else if ((waitingBytes += frame.length) <= MAX_RESUMED_BYTES) waiting.push(frame)
      return waitingBytes <= MAX_RESUMED_BYTES
    },
    end() {
      raw.end()
    },
  }
  const watch = (): NodeJS.Timeout => {
    let beats = 0
    let isAsking = false
    return setInterval(() => {
      if (++beats % RECHECKS_PER_BEAT === 0) write(':\n\n')
      if (isAsking) return
      isAsking = true
      again()
        .then(
          (current) => {
            if (current.organizationId === opened.organizationId) principal = current
            else raw.end()
          },
          () => raw.end(), // Expired, revoked or unknown: the client must reconnect with its credential.
        )
        .finally(() => {
          isAsking = false
        })
    }, RECHECK_MS)
  }
  return {
    listener,
    begin(headers: Record<string, string>, leave: () => void): void {
      if (raw.destroyed) return leave() // The client left while joining: its `close` event has passed, so nothing else stops the timer.
      const timer = watch()
      raw.on('close', () => {
        clearInterval(timer)
        leave()
      })
      raw.on('error', () => {})
      raw.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
      raw.write(`retry: ${RETRY_MS}\n\n`)
      const held = waiting!
      waiting = null
      raw.write(held.join(''))
      if (waitingBytes > MAX_RESUMED_BYTES) raw.end() // The client reconnects with the last of these IDs for the rest.
    },
  }
}
