/** A client of `GET /v1/events`. */
import { request, type IncomingMessage } from 'node:http'

interface Heard {
  id: string
  type: string
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

interface Stream {
  status: number
  heard: Heard[]
  /** Until so many have come. */
  until(count: number): Promise<void>
  ended: Promise<void>
  cut(): void
}

export async function listen(baseUrl: string, credential: string, lastEventId?: string): Promise<Stream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${credential}`, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) }
    request(`${baseUrl}/v1/events`, { headers, agent: false }, resolve).on('error', reject).end()
  })
  const heard: Heard[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = frameOf(text.slice(0, end))
      text = text.slice(end + 2)
      if (frame) heard.push(frame)
      for (const wait of waiting) if (heard.length >= wait.count) wait.resolve()
    }
  })
  const ended = new Promise<void>((resolve) => response.on('close', resolve))
  response.on('error', () => {})
  return {
    status: response.statusCode!,
    heard,
    until: (count) => (heard.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))),
    ended,
    cut: () => response.destroy(),
  }
}

function frameOf(text: string): Heard | null {
  const fields = new Map(text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const))
  return fields.has('data') ? { id: fields.get('id')!, type: fields.get('event')!, body: JSON.parse(fields.get('data')!) } : null
}
