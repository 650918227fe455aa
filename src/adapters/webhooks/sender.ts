import { createEgress, EgressError, type EgressOptions } from '#adapters/egress/guard.ts'
import type { Webhooks } from '#ports/webhooks.ts'

interface SenderOptions extends EgressOptions {
  backoffSeconds: readonly number[]
  timeoutMs: number
}

/** Maximum bytes of a response that are read. */
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_SHOWN_CHARACTERS = 1_000
const USER_AGENT = 'Groundtrack-Webhooks/1'

/** Sends through the egress guard, over kept-alive connections. A redirect counts as a failed delivery. */
export function createWebhooks({ backoffSeconds, timeoutMs, ...options }: SenderOptions): Webhooks {
  const egress = createEgress(options)
  return {
    backoffSeconds,
    timeoutMs,
    async rejectionReason(url) {
      try {
        await egress.check(url)
        return null
      } catch (error) {
        if (error instanceof EgressError) return error.message
        throw error
      }
    },
    async post(url, headers, body, signal) {
      try {
        const answer = await egress.fetch(url, {
          method: 'POST',
          headers: { 'user-agent': USER_AGENT, ...headers },
          body: Buffer.from(body),
          maxBytes: MAX_ANSWER_BYTES,
          beyondMaxBytes: 'cut',
          redirects: 'return',
          continuesTrace: true,
          deadlineMs: timeoutMs,
          ...(signal ? { signal } : {}),
        })
        return { status: answer.status, retryAfter: answer.headers['retry-after'] ?? null, start: shown(answer.body) }
      } catch (error) {
        if (error instanceof EgressError) return { status: null, retryAfter: null, start: '' }
        throw error
      }
    },
    close: () => egress.close(),
  }
}

/** Removes characters that PostgreSQL cannot store. */
const shown = (body: Buffer): string =>
  body
    .subarray(0, MAX_SHOWN_CHARACTERS * 4)
    .toString('utf8')
    .replaceAll('\0', '\u{FFFD}')
    .slice(0, MAX_SHOWN_CHARACTERS)
    .toWellFormed()
