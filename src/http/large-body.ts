/** Bodies that are too large to be parsed on the event loop: in a thread, two of an organization at a time, a few altogether. */
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
  /** An error that is not the caller's to see: it is logged, and the caller gets the fixed text of an internal error. */
  | { id: number; fault: unknown }

const MAX_OF_ONE_OWNER = 2
const MAX_AT_ONCE = 8
const MAX_SLICE_MS = 10
/** A thread that nobody needs any more is ended: it holds the memory of the largest body it has seen. */
const IDLE_MS = 10_000

export interface LargeBodies {
  /** 429 while the owner has as many under way as one may have. `read` brings the bytes, once there is a place for them. */
  parse(owner: string, read: () => Promise<Buffer>): Promise<{ value: Record<string, unknown>; hash: Buffer }>
  close(): Promise<void>
}

export function createLargeBodies(): LargeBodies {
  const thread = createThread()
  const owners = new Map<string, number>()
  let underWay = 0
  return {
    async parse(owner, read) {
      const own = owners.get(owner) ?? 0
      if (own >= MAX_OF_ONE_OWNER || underWay >= MAX_AT_ONCE) throw busy()
      owners.set(owner, own + 1)
      underWay++
      try {
        const { rest, cuts, hash } = await thread.run(await read())
        const value = JSON.parse(rest) as Record<string, unknown>
        for (const each of cuts) await restore(value, each)
        return { value, hash: Buffer.from(hash) }
      } finally {
        underWay--
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
  problem('rate-limited', 'Too many large bodies are being read at once; send them one after the other', {
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
      const own = new Uint8Array(bytes) // A buffer of its own: it is handed over, not copied.
      worker.postMessage({ id, bytes: own }, [own.buffer])
      try {
        return await promise
      } finally {
        if (waiting.size === 0) idle = setTimeout(() => void close(), IDLE_MS).unref()
      }
    },
  }
}
