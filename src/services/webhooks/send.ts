/** Sends one delivery: signs it, posts it and decides on a retry. */
import type { Clock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import { tracedFrom } from '#core/tracing.ts'
import { bodyOf, headersOf, nextAttempt, type PublishedEvent } from '#core/webhooks.ts'
import type { Attempt, Claimed, Outcome } from '#model/events/delivery.ts'
import * as traceLinks from '#model/platform/trace-link.ts'
import type { Context } from '#operation.ts'
import type { Webhooks } from '#ports/webhooks.ts'

interface Sending {
  readonly clock: Clock
  readonly webhooks: Webhooks
}

interface SignedRequest {
  url: string
  headers: Record<string, string>
  secrets: readonly string[]
  event: PublishedEvent
}

/** One message for all network failures: details would tell a stranger about our network. */
export const NO_RESPONSE = 'The endpoint could not be reached or did not respond in time'
const NO_ACCESS = 'The creator of the subscription no longer has access to the subject of the event'

export async function post(
  { clock, webhooks }: Sending,
  { url, headers, secrets, event }: SignedRequest,
  signal?: AbortSignal,
): Promise<{ attempt: Attempt; isDelivered: boolean; retryAfter: string | null }> {
  const [id, at, startedMs] = [newId(), clock.now(), performance.now()]
  const body = bodyOf(event)
  const signed = headersOf(body, { eventId: event.id, eventType: event.type, attemptId: id, secrets, at })
  const { status, retryAfter, start } = await webhooks.post(url, { ...headers, ...signed }, body, signal)
  const isDelivered = status !== null && status >= 200 && status < 300
  const error = status === null ? NO_RESPONSE : isDelivered ? null : `The endpoint returned ${status}`
  const durationMs = Math.round(performance.now() - startedMs)
  return { attempt: { id, at, durationMs, httpStatus: status, error, start }, isDelivered, retryAfter }
}

/** In the trace of the call or task that emitted the event. */
async function tracedPost(sending: Sending & { readonly db: Context['db'] }, delivery: Claimed): ReturnType<typeof post> {
  const { event, id, tries } = delivery
  const attributes = { 'groundtrack.event.type': event.type, 'groundtrack.delivery_id': id, 'groundtrack.delivery.attempt': tries + 1 }
  return await tracedFrom(
    await traceLinks.find(sending.db, event.id),
    `webhook ${event.type}`,
    async (span) => {
      const posted = await post(sending, delivery)
      if (!posted.isDelivered) span?.fail(posted.attempt.httpStatus ?? 'no response')
      return posted
    },
    () => ({ kind: 'producer', attributes }),
  )
}

/** Sends a claimed delivery and returns its outcome: delivered, due for a retry, or dead. */
export async function send(sending: Sending & { readonly db: Context['db'] }, delivery: Claimed): Promise<Outcome> {
  if (!delivery.isReadable) return { delivery, attempt: null, state: 'dead', dueAt: null, reason: NO_ACCESS }
  const { attempt, isDelivered, retryAfter } = await tracedPost(sending, delivery)
  if (isDelivered) return { delivery, attempt, state: 'delivered', dueAt: null, reason: null }
  const { backoffSeconds } = sending.webhooks
  const dueAt = nextAttempt(backoffSeconds, delivery.tries + 1, retryAfter, sending.clock.now(), Math.random())
  return dueAt
    ? { delivery, attempt, state: 'pending', dueAt, reason: null }
    : { delivery, attempt, state: 'dead', dueAt: null, reason: `All ${delivery.tries + 1} attempts failed; the last: ${attempt.error}` }
}
