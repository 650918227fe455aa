/** What happens in the organization, as it happens (`GET /v1/events`, server-sent events). */
import type { Client } from './client.ts'
import type { PlatformEvent } from './generated/events.ts'
import { textLines } from './lines.ts'
import { ConnectionError, ProblemError } from './problem.ts'
import { delayMs, pause } from './retry.ts'

export interface EventsOptions {
  /** Go on after this event; what happened since comes first. */
  lastEventId?: string | undefined
  signal?: AbortSignal | undefined
  /** Called whenever the stream is open: what happens from then on is heard. */
  onOpen?: (() => void) | undefined
}

/** Tries in a row that brought nothing. */
const MAX_TRIES = 20
/** What a person would have to change ends the stream; anything else is tried again. */
const FINAL = [401, 403, 404, 422]

/** Events without end. It comes back by itself after a break, from the event that it saw last. */
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
      const isOurs = !(error instanceof ProblemError || error instanceof ConnectionError || error instanceof TypeError)
      if (signal?.aborted || isFinal || isOurs || attempt >= MAX_TRIES) throw error
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
