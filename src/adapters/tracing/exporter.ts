/** Sends spans to a collector in batches: OTLP over HTTP, as JSON. A collector that is slow or gone costs spans, never requests. */
import { setTimeout as pause } from 'node:timers/promises'
import { createEgress, EgressError } from '#adapters/egress/guard.ts'
import { createFlusher } from '#core/flusher.ts'
import type { Attributes } from '#core/tracing.ts'
import { keyValues, type FinishedSpan } from './tracer.ts'

interface ExporterOptions {
  /** With the path, such as `http://127.0.0.1:4318/v1/traces`. */
  url: string
  headers: Readonly<Record<string, string>>
  resource: Attributes
  version: string
  onError: (message: string) => void
}

export interface Exporter {
  add(span: FinishedSpan): void
  /** Sends what is left, once. */
  close(): Promise<void>
}

const BATCH = 512
/** Spans that wait; further ones are dropped and counted. */
const MAX_WAITING = 8_192
const FLUSH_AFTER_MS = 1_000
const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 65_536
const MAX_TRIES = 3
const FIRST_PAUSE_MS = 250
/** What OTLP calls retryable. */
const RETRYABLE = new Set([429, 502, 503, 504])

export function createExporter({ url, headers, resource, version, onError }: ExporterOptions): Exporter {
  const egress = createEgress({ allow: [new URL(url).host] }) // The operator has named it: it can be private.
  let waiting: FinishedSpan[] = []
  let dropped = 0
  let isClosing = false
  const described = { attributes: keyValues(resource) }
  const envelope = (spans: readonly FinishedSpan[]) =>
    JSON.stringify({ resourceSpans: [{ resource: described, scopeSpans: [{ scope: { name: 'groundtrack', version }, spans }] }] })

  /** Null if it was accepted; otherwise why not. */
  const attempt = async (body: string): Promise<{ reason: string; isFinal: boolean } | null> => {
    try {
      const { status } = await egress.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: Buffer.from(body),
        redirects: 'return',
        maxBytes: MAX_ANSWER_BYTES,
        beyondMaxBytes: 'cut',
        deadlineMs: TIMEOUT_MS,
      })
      return status >= 200 && status < 300 ? null : { reason: `HTTP ${status}`, isFinal: !RETRYABLE.has(status) }
    } catch (error) {
      if (error instanceof EgressError) return { reason: error.message, isFinal: false }
      throw error
    }
  }
  const send = async (spans: readonly FinishedSpan[]): Promise<void> => {
    const body = envelope(spans)
    for (let tries = 1; ; tries++) {
      const failure = await attempt(body)
      if (!failure) return
      if (failure.isFinal || tries >= MAX_TRIES || isClosing) {
        dropped += spans.length
        return onError(`${dropped} spans could not be sent to the collector so far: ${failure.reason}`)
      }
      await pause(FIRST_PAUSE_MS * 2 ** (tries - 1))
    }
  }
  const flusher = createFlusher({
    async drain() {
      const spans = waiting.splice(0, BATCH)
      await send(spans)
    },
    isEmpty: () => waiting.length === 0,
    afterMs: FLUSH_AFTER_MS,
    onError: (error) => onError(String(error)),
  })
  return {
    add(span) {
      if (waiting.length >= MAX_WAITING) {
        dropped += 1
        return
      }
      waiting.push(span)
      flusher.arm()
    },
    async close() {
      isClosing = true
      await flusher.close()
      waiting = []
      await egress.close()
    },
  }
}
