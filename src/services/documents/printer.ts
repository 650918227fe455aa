/** One thread that draws PDFs, one after the other; organizations take turns. */
import { Worker } from 'node:worker_threads'
import { createLimiter, queueFull } from '#core/limiter.ts'
import { problem } from '#core/problem.ts'
import type { Printer } from '#ports/printer.ts'

/** Of one document. A report of 500 items takes a second or two. */
const DEADLINE_MS = 20_000
const MEMORY_MB = 256
const MAX_WAITING = 64
/** A thread that nobody needs any more is ended: it holds the memory of its largest document. */
const IDLE_MS = 10_000

type Answer = { bytes: Uint8Array } | { failure: string }

interface PrinterOptions {
  readonly deadlineMs?: number
  readonly memoryMb?: number
}

export function createPrinter({ deadlineMs = DEADLINE_MS, memoryMb = MEMORY_MB }: PrinterOptions = {}): Printer {
  const limit = createLimiter({ maxRunning: 1, maxWaiting: MAX_WAITING, full: queueFull('documents are being printed') })
  let thread: Worker | null = null
  let idle: NodeJS.Timeout | undefined

  const end = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = thread
    thread = null
    await ended?.terminate()
  }
  const start = (): Worker => {
    const made = new Worker(new URL('./pdf-thread.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    made.unref()
    return made
  }

  const draw = async (kind: string, document: object): Promise<Buffer> => {
    clearTimeout(idle)
    const worker = (thread ??= start())
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const deadline = setTimeout(() => reject(tooLarge()), deadlineMs)
    const onError = (error: Error & { code?: string }) => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error)
    const onExit = () => reject(new Error('the thread that prints has ended'))
    worker.once('message', resolve).once('error', onError).once('exit', onExit)
    worker.ref()
    try {
      worker.postMessage({ kind, document })
      const answer = await promise
      if ('failure' in answer) throw new Error(answer.failure)
      idle = setTimeout(() => void end(), IDLE_MS).unref()
      return Buffer.from(answer.bytes.buffer, answer.bytes.byteOffset, answer.bytes.byteLength)
    } catch (error) {
      await end() // Whatever it was doing, the next document finds a new one.
      throw error
    } finally {
      clearTimeout(deadline)
      worker.off('message', resolve).off('error', onError).off('exit', onExit)
      worker.unref()
    }
  }

  return {
    print: (organizationId, kind, document) => limit(() => draw(kind, document), { tenant: organizationId }),
    close: end,
  }
}

const tooLarge = () =>
  problem('bad-request', 'This document is too large to be printed. Ask for it as csv or json, for a shorter period or for fewer items.')
