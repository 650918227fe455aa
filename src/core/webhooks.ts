/** The parts of a webhook delivery: its body, its signatures and its retry schedule. Pure functions. */
import { createHmac, randomBytes } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Backoff after the first attempt, which is immediate: from a minute to a day, 42 hours in total. */
export const STANDARD_BACKOFF_SECONDS: readonly number[] = [60, 300, 1_800, 7_200, 18_000, 36_000, 86_400]
export const STANDARD_TIMEOUT_SECONDS = 15
/** The longest `Retry-After` of a receiver that is respected. */
const MAX_RETRY_AFTER_SECONDS = 86_400
/** Spreads the retries of deliveries that failed together. */
const JITTER = 0.1

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export interface PublishedEvent {
  id: string
  type: string
  organizationId: string
  entityType: string
  entityId: string
  data: Record<string, unknown>
  occurredAt: Date
}

export function bodyOf(event: PublishedEvent): string {
  return JSON.stringify({
    event_id: event.id,
    event_type: event.type,
    timestamp: event.occurredAt.toISOString(),
    organization_id: event.organizationId,
    entity_type: event.entityType,
    entity_id: event.entityId,
    data: event.data,
  })
}

interface Signing {
  eventId: string
  eventType: string
  attemptId: string
  /** The current one first; a replaced secret also signs for a day. */
  secrets: readonly string[]
  at: Date
}

/**
 * Both signature schemes. `X-Svc-Signature` uses the secret's text as key and covers the body; Standard Webhooks use its decoded bytes
 * and also cover ID and time.
 */
export function headersOf(body: string, { eventId, eventType, attemptId, secrets, at }: Signing): Record<string, string> {
  const seconds = String(Math.floor(at.getTime() / 1_000))
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${eventId}.${seconds}.${body}`).digest('base64')}`
  })
  return {
    'Content-Type': 'application/json',
    'X-Svc-Signature': `sha256=${createHmac('sha256', secrets[0]!).update(body).digest('hex')}`,
    'X-Svc-Event': eventType,
    'X-Svc-Event-ID': eventId,
    'X-Svc-Delivery-ID': attemptId,
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

/** The time of the next attempt after this many; null if none is left. `random` is between 0 and 1. */
export function nextAttempt(
  backoffSeconds: readonly number[],
  tries: number,
  retryAfter: string | null,
  now: Date,
  random: number,
): Date | null {
  const step = backoffSeconds[tries - 1]
  if (step === undefined) return null
  const jittered = step * (1 - JITTER + 2 * JITTER * random)
  return new Date(now.getTime() + Math.max(jittered, retryAfterSeconds(retryAfter, now)) * 1_000)
}

/** Seconds or an HTTP date; anything else counts as zero. */
function retryAfterSeconds(value: string | null, now: Date): number {
  if (value === null) return 0
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : (Date.parse(value) - now.getTime()) / 1_000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS) : 0
}
