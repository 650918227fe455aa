/** Renders PDFs in one thread, one at a time, in rotation between organizations. */
import { Worker } from 'node:worker_threads'
import { createLimiter, queueFull } from '#core/limiter.ts'
import { problem } from '#core/problem.ts'
import type { Printer } from '#ports/printer.ts'

/** For one document. A report of 500 items takes a second or two. */
const DEADLINE_MS = 20_000
const MEMORY_MB = 256
const MAX_WAITING = 64
/** An idle thread is ended, because it keeps the memory of its largest document. */
const IDLE_MS = 10_000

type PrintResponse = { bytes: Uint8Array } | { failure: string }

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
    const worker = new Worker(new URL('./pdf-thread.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
    worker.unref()
    return worker
  }

  const render = async (kind: string, document: object): Promise<Buffer> => {
    clearTimeout(idle)
    const worker = (thread ??= start())
    const { promise, resolve, reject } = Promise.withResolvers<PrintResponse>()
    const deadline = setTimeout(() => reject(tooLarge()), deadlineMs)
    const onError = (error: Error & { code?: string }) => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error)
    const onExit = () => reject(new Error('the PDF thread exited'))
    worker.once('message', resolve).once('error', onError).once('exit', onExit)
    worker.ref()
    try {
      worker.postMessage({ kind, document })
      const response = await promise
      if ('failure' in response) throw new Error(response.failure)
      idle = setTimeout(() => void end(), IDLE_MS).unref()
      return Buffer.from(response.bytes.buffer, response.bytes.byteOffset, response.bytes.byteLength)
    } catch (error) {
      await end() // The next document starts a new thread.
      throw error
    } finally {
      clearTimeout(deadline)
      worker.off('message', resolve).off('error', onError).off('exit', onExit)
      worker.unref()
    }
  }

  return {
    print: (organizationId, kind, document) => limit(() => render(kind, document), { tenant: organizationId }),
    close: end,
  }
}

const tooLarge = () =>
  problem('bad-request', 'This document is too large to be printed. Request csv or json, a shorter period or fewer items.')
