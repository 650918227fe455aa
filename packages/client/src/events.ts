/** The organization's events as they happen (`GET /v1/events`, server-sent events). */
import type { Client } from './client.ts'
import type { PlatformEvent } from './generated/events.ts'
import { textLines } from './lines.ts'
import { ConnectionError, ProblemError } from './problem.ts'
import { delayMs, pause } from './retry.ts'

export interface EventsOptions {
  /** Resume after this event; later ones are sent first. */
  lastEventId?: string | undefined
  signal?: AbortSignal | undefined
  /** Called whenever the stream is open. */
  onOpen?: (() => void) | undefined
}

/** Consecutive attempts without an event. */
const MAX_ATTEMPTS = 20
/** Responses that only a change by the caller can fix; all other failures are retried. */
const FINAL = [401, 403, 404, 422]

/** An endless stream of events. It reconnects after a failure and resumes after the last event. */
export async function* events(
  client: Client,
  { lastEventId, signal, onOpen }: EventsOptions = {},
): AsyncGenerator<PlatformEvent, void, void> {
  let last = lastEventId ?? null
  for (let attempt = 0; ; attempt++) {
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream', ...(last === null ? {} : { 'last-event-id': last }) }
      const response = await client.get('/v1/events', { headers, maxRetries: 0, ...(signal ? { signal } : {}) })
      onOpen?.()
      for await (const { id, data } of frames(response.body!)) {
        if (id !== null) last = id
        attempt = 0
        yield JSON.parse(data) as PlatformEvent
      }
    } catch (error) {
      const isFinal = error instanceof ProblemError && FINAL.includes(error.status)
      const isBug = !(error instanceof ProblemError || error instanceof ConnectionError || error instanceof TypeError)
      if (signal?.aborted || isFinal || isBug || attempt >= MAX_ATTEMPTS) throw error
    }
    await pause(delayMs(Math.min(attempt, 5), null), signal)
  }
}

interface Frame {
  id: string | null
  data: string
}

async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame, void, void> {
  let id: string | null = null
  let data: string[] = []
  for await (const line of textLines(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, data: data.join('\n') }
      data = []
      continue
    }
    const [, field, value = ''] = /^(\w*):? ?(.*)$/.exec(line) ?? []
    if (field === 'data') data.push(value)
    if (field === 'id') id = value
  }
}
