/** Parses bodies that are too large for the event loop in a worker thread: two per organization at a time, eight in total. */
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Problem, problem, type ProblemSlug } from '#core/problem.ts'

export interface Cut {
  path: string[]
  list?: string[]
  text?: string
}

export interface ParsedLarge {
  rest: string
  cuts: Cut[]
  hash: Uint8Array
}

export type Answer =
  | { id: number; parsed: ParsedLarge }
  | { id: number; refusal: { slug: ProblemSlug; detail: string; members: object } }
  /** A bug: it is logged, and the caller gets an internal error without details. */
  | { id: number; fault: unknown }

const MAX_PER_OWNER = 2
const MAX_CONCURRENT = 8
const MAX_SLICE_MS = 10
/** An idle thread is ended, because it keeps the memory of the largest body it has parsed. */
const IDLE_MS = 10_000

export interface LargeBodies {
  /** 429 if the owner has too many bodies in progress. `read` is called once the body is admitted. */
  parse(owner: string, read: () => Promise<Buffer>): Promise<{ value: Record<string, unknown>; hash: Buffer }>
  close(): Promise<void>
}

export function createLargeBodies(): LargeBodies {
  const thread = createThread()
  const owners = new Map<string, number>()
  let running = 0
  return {
    async parse(owner, read) {
      const own = owners.get(owner) ?? 0
      if (own >= MAX_PER_OWNER || running >= MAX_CONCURRENT) throw busy()
      owners.set(owner, own + 1)
      running++
      try {
        const { rest, cuts, hash } = await thread.run(await read())
        const value = JSON.parse(rest) as Record<string, unknown>
        for (const each of cuts) await restore(value, each)
        return { value, hash: Buffer.from(hash) }
      } finally {
        running--
        const left = owners.get(owner)! - 1
        if (left > 0) owners.set(owner, left)
        else owners.delete(owner)
      }
    },
    close: thread.close,
  }
}

async function restore(root: Record<string, unknown>, { path, list, text }: Cut): Promise<void> {
  const holder = path.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, root)
  holder[path.at(-1)!] = text ?? (await parsedInSlices(list!))
}

async function parsedInSlices(texts: readonly string[]): Promise<unknown[]> {
  const values: unknown[] = []
  let sliceEnd = performance.now() + MAX_SLICE_MS
  for (const text of texts) {
    values.push(JSON.parse(text))
    if (performance.now() < sliceEnd) continue
    await letOthersRun()
    sliceEnd = performance.now() + MAX_SLICE_MS
  }
  return values
}

const busy = (): Problem =>
  problem('rate-limited', 'Too many large request bodies at once; send them one after another', {
    headers: { 'Retry-After': '2' },
  })

function createThread() {
  let worker: Worker | null = null
  let idle: NodeJS.Timeout | undefined
  let nextId = 1
  const waiting = new Map<number, { resolve: (parsed: ParsedLarge) => void; reject: (error: Error) => void }>()
  const start = (): Worker => {
    const thread = new Worker(new URL('./body-thread.ts', import.meta.url))
    thread.unref()
    thread.on('message', (answer: Answer) => {
      const waiter = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('parsed' in answer) waiter?.resolve(answer.parsed)
      else if ('fault' in answer) waiter?.reject(new Error('A large body could not be parsed', { cause: answer.fault }))
      else waiter?.reject(new Problem(answer.refusal.slug, answer.refusal.detail, { members: { ...answer.refusal.members } }))
    })
    thread.on('error', (error) => {
      worker = null
      for (const { reject } of waiting.values()) reject(error as Error)
      waiting.clear()
    })
    return thread
  }
  const close = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = worker
    worker = null
    await ended?.terminate()
  }
  return {
    close,
    async run(bytes: Buffer): Promise<ParsedLarge> {
      clearTimeout(idle)
      worker ??= start()
      const id = nextId++
      const { promise, resolve, reject } = Promise.withResolvers<ParsedLarge>()
      waiting.set(id, { resolve, reject })
      const own = new Uint8Array(bytes) // Its own buffer, so that it is transferred and not copied.
      worker.postMessage({ id, bytes: own }, [own.buffer])
      try {
        return await promise
      } finally {
        if (waiting.size === 0) idle = setTimeout(() => void close(), IDLE_MS).unref()
      }
    },
  }
}
