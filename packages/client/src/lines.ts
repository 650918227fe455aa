/** NDJSON: one JSON value per line, each available as soon as it arrives. */
import { ProblemError } from './problem.ts'
import type { Problem } from './generated/problems.ts'

/** The service sends no longer lines. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024

export class Lines<L> implements AsyncIterable<L> {
  readonly #name: string
  readonly #open: () => Promise<Response>

  constructor(name: string, open: () => Promise<Response>) {
    this.#name = name
    this.#open = open
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<L, void, void> {
    for await (const line of textLines((await this.#open()).body!)) {
      if (line === '') continue
      const value = JSON.parse(line) as L & { type?: string }
      // After the first line the status can no longer change, so an error arrives as a line.
      if (value.type === 'Error') throw new ProblemError(value as Problem & L, { operation: this.#name })
      yield value as Awaited<L>
    }
  }
}

/** The lines of a text stream. Leaving the loop early closes the stream. */
export async function* textLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop()!
      if (rest.length > MAX_LINE_CHARACTERS) throw new Error(`A line has more than ${MAX_LINE_CHARACTERS} characters`)
      for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    await reader.cancel().catch(() => {})
  }
}
