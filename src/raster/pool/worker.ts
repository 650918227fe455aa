import { fork, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { setPriority } from 'node:os'
import path from 'node:path'

import { RasterError } from '#raster/errors.ts'

import { describeError, reviveError, type Answer, type ChildMessage, type ParentMessage } from './protocol.ts'

export interface WorkerOptions {
  /** URL of the module with the handlers. */
  module: URL
  /** Resident memory above which the child is killed. */
  maxRssBytes: number
  /** Time for a child to react to a cancelled task. */
  graceMs: number
  /** How many times longer than usual it may take to start. */
  deadlineFactor: number
  niceness: number
  /** Answers the questions of the child. */
  answer: (question: unknown) => Promise<unknown>
}

export interface WorkerTask {
  id: number
  task: string
  input: unknown
  deadlineMs: number
  onProgress?: ((progress: unknown) => void) | undefined
}

/** How a task ended, and whether the worker can take another one. */
export interface WorkerOutcome {
  result: { ok: true; output: unknown } | { ok: false; error: Error }
  ending: 'done' | 'failed' | 'crashed' | 'timed out' | 'out of memory'
  rssBytes: number
}

const MEMORY_CHECK_MS = 100
/** A child that does not start within this time has failed. */
const START_LIMIT_MS = 60_000
const MIB = 1024 * 1024
/** The heap holds directories and small objects; pixels are outside it and count towards resident memory. */
const HEAP_SHARE = 0.5
const PAGE_BYTES = 4096
/**
 * Keeps a child's memory constant over tens of thousands of tiles. V8's young generation doubles whenever a busy moment fills
 * it, up to 100 MB, and never shrinks. And glibc keeps freed pixels: in one arena per thread of the image library, and, after the
 * first block of some size was freed, in its heap instead of returning pages; a fixed threshold and one arena prevent both.
 *
 * The old generation starts large: pixels count towards its limit although they are outside it, and with the small default every
 * tenth tile of a new file triggered a full collection of a heap with next to nothing to collect.
 */
export const STEADY_FLAGS = ['--max-semi-space-size=8', '--initial-old-space-size=128']
export const STEADY_ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }

/** Where this process keeps compiled modules, children do too: they start in half the time. */
function compileCache(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  return folder ? { NODE_COMPILE_CACHE: path.dirname(folder) } : {}
}

/** What a pool needs of a worker. */
export type PoolWorker = Pick<Worker, 'isAlive' | 'taskCount' | 'ready' | 'run' | 'kill'>

/** One child process. Runs one task at a time. */
export class Worker {
  readonly #options: WorkerOptions
  readonly #child: ChildProcess
  readonly #ready: Promise<void>
  #settle: ((outcome: WorkerOutcome) => void) | null = null
  #onProgress: WorkerTask['onProgress']
  #killedFor: 'timed out' | 'out of memory' | null = null
  #isAlive = true
  taskCount = 0

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#child = fork(new URL('./child.ts', import.meta.url), [options.module.href], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${Math.max(64, Math.floor((options.maxRssBytes / MIB) * HEAP_SHARE))}`, ...STEADY_FLAGS],
      // The child decodes untrusted files: it gets no secrets.
      env: { ...STEADY_ENVIRONMENT, ...compileCache() },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    if (options.niceness > 0 && this.#child.pid !== undefined) setPriority(this.#child.pid, options.niceness)
    const ready = Promise.withResolvers<void>()
    this.#ready = ready.promise
    this.#ready.catch(() => undefined)
    this.#child.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') ready.resolve()
      else if (message.kind === 'progress') this.#onProgress?.(message.progress)
      else if (message.kind === 'ask') void this.#answer(message)
      else this.#finish(message)
    })
    this.#child.on('error', (error) => this.#died(error.message, ready.reject))
    this.#child.on('exit', (code, signal) => this.#died(`exit ${signal ?? code}`, ready.reject))
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Resolves when the child can take a task; rejects if it does not start. */
  async ready(): Promise<void> {
    const limit = setTimeout(() => this.#kill('timed out'), START_LIMIT_MS * this.#options.deadlineFactor)
    try {
      await this.#ready
    } finally {
      clearTimeout(limit)
    }
  }

  /** Runs a task to its end, which always comes: the deadline, a cancellation and too much memory end it by force. */
  async run(task: WorkerTask, signal: AbortSignal | undefined): Promise<WorkerOutcome> {
    this.taskCount += 1
    const outcome = Promise.withResolvers<WorkerOutcome>()
    this.#settle = outcome.resolve
    this.#onProgress = task.onProgress
    let cancelTimer: NodeJS.Timeout | undefined
    const cancel = (): void => {
      this.#send({ kind: 'cancel', id: task.id })
      cancelTimer ??= setTimeout(() => this.#kill('timed out'), this.#options.graceMs)
    }
    const memory = setInterval(() => void this.#checkMemory(), MEMORY_CHECK_MS)
    signal?.addEventListener('abort', cancel, { once: true })
    let isLate = false
    let deadline: NodeJS.Timeout | undefined
    try {
      await Promise.race([this.ready(), outcome.promise])
      // The task's time starts here, because starting a process on a busy machine is not its fault.
      deadline = setTimeout(() => {
        isLate = true
        cancel()
      }, task.deadlineMs)
      this.#send({ kind: 'run', id: task.id, task: task.task, input: task.input })
      if (signal?.aborted) cancel()
      const ended = await outcome.promise
      return isLate && !ended.result.ok ? timedOut(ended, task.deadlineMs) : ended
    } catch (error) {
      return crashed(error instanceof Error ? error.message : 'unknown')
    } finally {
      signal?.removeEventListener('abort', cancel)
      for (const timer of [deadline, cancelTimer]) clearTimeout(timer)
      clearInterval(memory)
      this.#settle = null
      this.#onProgress = undefined
    }
  }

  kill(): void {
    this.#isAlive = false
    this.#child.kill('SIGKILL')
  }

  async #answer({ id, question }: Extract<ChildMessage, { kind: 'ask' }>): Promise<void> {
    const result: Answer = await this.#options.answer(question).then(
      (output) => ({ ok: true, output }),
      (error: unknown) => ({ ok: false, ...describeError(error) }),
    )
    this.#send({ kind: 'answer', id, result })
  }

  #finish(message: Extract<ChildMessage, { kind: 'done' | 'failed' }>): void {
    const { rssBytes } = message
    this.#settle?.(
      message.kind === 'done'
        ? { result: { ok: true, output: message.output }, ending: 'done', rssBytes }
        : { result: { ok: false, error: reviveError(message.code, message.message) }, ending: 'failed', rssBytes },
    )
  }

  #died(reason: string, rejectReady: (error: Error) => void): void {
    this.#isAlive = false
    rejectReady(new Error(`The raster process did not start: ${reason}`))
    const outcome = crashed(reason)
    if (this.#killedFor) outcome.ending = this.#killedFor
    if (this.#killedFor === 'out of memory')
      outcome.result = { ok: false, error: new RasterError('limit_exceeded', 'The raster needs more memory than a task can use') }
    this.#settle?.(outcome)
  }

  #kill(reason: 'timed out' | 'out of memory'): void {
    this.#killedFor = reason
    this.kill()
  }

  /** A child that is busy decoding cannot report, so its memory is read from the system. */
  async #checkMemory(): Promise<void> {
    const statm = await readFile(`/proc/${this.#child.pid}/statm`, 'utf8').catch(() => null)
    const rssBytes = statm === null ? 0 : Number(statm.split(' ')[1]) * PAGE_BYTES
    if (rssBytes > this.#options.maxRssBytes && this.#settle) this.#kill('out of memory')
  }

  #send(message: ParentMessage): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}

export const crashed = (reason: string): WorkerOutcome => ({
  result: {
    ok: false,
    error: new RasterError('worker_failed', 'The raster process crashed while reading this raster', { cause: new Error(reason) }),
  },
  ending: 'crashed',
  rssBytes: 0,
})

const timedOut = (outcome: WorkerOutcome, deadlineMs: number): WorkerOutcome => ({
  ...outcome,
  ending: outcome.ending === 'failed' ? 'failed' : 'timed out',
  result: { ok: false, error: new RasterError('deadline_exceeded', `The raster task took longer than ${deadlineMs} ms`) },
})
