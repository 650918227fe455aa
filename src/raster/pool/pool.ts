import { RasterError, throwIfAborted } from '#raster/errors.ts'

import { FairQueue, Tally } from '#core/fair-queue.ts'
import { crashed, Worker, type PoolWorker, type WorkerOptions, type WorkerOutcome } from './worker.ts'

export interface PoolOptions {
  /** Module that exports `handlers`; each child loads it. */
  module: URL
  /** Maximum number of child processes. They start on demand. */
  size: number
  /** Maximum length of the queue; further tasks are rejected at once. */
  maxQueue?: number
  /** Maximum queued tasks of one tenant. */
  maxQueuePerTenant?: number
  /** Children that one tenant can occupy while others wait; default all but one. */
  maxRunningPerTenant?: number
  /** Deadline of one task, from its start in a child. */
  deadlineMs?: number
  /** Makes every deadline so many times longer. */
  deadlineFactor?: number
  /** Resident memory of one child. */
  maxRssBytes?: number
  /**
   * A child that grows above this releases its caches when it is idle, and is replaced if that does not
   * help; must be above what full caches need.
   */
  recycleRssBytes?: number
  /** A child is also replaced after this many tasks. */
  recycleAfterTasks?: number
  /** A child is idle after this long without a task: between the tiles of a map there are short pauses. */
  recycleIdleMs?: number
  graceMs?: number
  /** A task that makes a child release its caches; runs after `restMs` of idleness. */
  restTask?: string
  restMs?: number
  /** A child that stays idle this long after that ends. The next task starts a new one, which is slow at first. */
  idleMs?: number
  /** The nice value of the children, 0 to 19, for a busy machine. */
  niceness?: number
  /** Called with each task, for its times; null if nobody needs them. */
  watch?: (task: string) => TaskWatch | null
  /** Answers questions that a task asks with `askParent`. */
  answer?: (question: unknown) => Promise<unknown>
  /** Starts a child; tests pass children on from pool to pool, because starting one takes longer than most of their tasks. */
  startWorker?: StartWorker
}

/** Follows one task. */
export interface TaskWatch {
  /** It left the queue: a child process begins with it. */
  started(): void
  ended(ending: WorkerOutcome['ending'] | 'cancelled'): void
}

export type StartWorker = (options: WorkerOptions) => PoolWorker

interface RunOptions {
  signal?: AbortSignal | undefined
  /** Overrides that of the pool. */
  deadlineMs?: number
  /** Tasks with the same key prefer one child, whose caches hold the file. */
  affinity?: string
  /** The tenant of the task: tenants are served in turn. */
  tenant?: string
  /** Receives the progress that the task reports. */
  onProgress?: (progress: unknown) => void
}

export interface PoolMetrics {
  queued: number
  running: number
  children: number
  started: number
  completed: number
  failed: number
  refused: number
  cancelled: number
  crashed: number
  timedOut: number
  outOfMemory: number
  recycled: number
  rested: number
  /** Total time in children, of all tasks. */
  busyMs: number
}

const MIB = 1024 * 1024
const DEFAULTS = {
  maxQueue: 256,
  maxQueuePerTenant: 64,
  deadlineMs: 5000,
  deadlineFactor: 1,
  maxRssBytes: 512 * MIB,
  recycleRssBytes: 460 * MIB,
  recycleAfterTasks: 20_000,
  recycleIdleMs: 1_000,
  graceMs: 250,
  restMs: 60_000,
  idleMs: 600_000,
  niceness: 0,
  watch: (_task: string): TaskWatch | null => null,
  startWorker: (options: WorkerOptions): PoolWorker => new Worker(options),
  answer: async (_question: unknown): Promise<unknown> => {
    throw new RasterError('invalid_argument', 'This pool answers no questions')
  },
}

/** Fraction of the memory limit: a child above it between tasks would be killed in the next one, so it is replaced at once. */
const FULL_SHARE = 0.94

interface QueuedTask {
  id: number
  task: string
  input: unknown
  options: RunOptions
  watch: TaskWatch | null
  resolve: (output: unknown) => void
  reject: (error: Error) => void
}

type Slot = { worker: PoolWorker | null; isStarting: boolean; isBusy: boolean; idle: NodeJS.Timeout | undefined }

/**
 * Runs raster work in child processes. An untrusted file can make a decoder hang or crash; that costs one task and one
 * child, never the service. A child runs one task at a time, so a crash fails only that task.
 */
export class RasterPool {
  readonly #options: PoolOptions & typeof DEFAULTS
  readonly #slots: Slot[]
  readonly #queue = new FairQueue<QueuedTask>()
  readonly #running = new Tally()
  #nextId = 1
  #isClosed = false
  readonly #counts = {
    started: 0,
    completed: 0,
    failed: 0,
    refused: 0,
    cancelled: 0,
    crashed: 0,
    timedOut: 0,
    outOfMemory: 0,
    recycled: 0,
    rested: 0,
    busyMs: 0,
  }

  constructor(options: PoolOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#slots = Array.from({ length: options.size }, () => ({ worker: null, isStarting: false, isBusy: false, idle: undefined }))
  }

  get metrics(): PoolMetrics {
    return {
      queued: Math.max(0, this.#queue.size - this.#starting),
      running: this.#slots.filter((slot) => slot.isBusy).length,
      children: this.#slots.filter((slot) => slot.worker?.isAlive).length,
      ...this.#counts,
    }
  }

  /** Runs a handler in a child. Typed array buffers are copied between the processes. */
  async run(task: string, input: unknown, options: RunOptions = {}): Promise<unknown> {
    throwIfAborted(options.signal)
    if (this.#isClosed) throw new RasterError('aborted', 'The raster pool is closed')
    const tenant = options.tenant ?? ''
    // Tasks for which a child is starting do not count as waiting.
    if (this.#queue.size - this.#starting >= this.#options.maxQueue && this.#slots.every((slot) => slot.isBusy || slot.isStarting)) {
      this.#counts.refused += 1
      throw new RasterError('overloaded', 'The queue of raster tasks is full; retry later')
    }
    if (options.tenant !== undefined && this.#queue.waitingOf(tenant) - this.#starting >= this.#options.maxQueuePerTenant) {
      this.#counts.refused += 1
      throw new RasterError('too_many', 'Too many tiles and statistics of this organization are queued; send fewer requests at once')
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const watch = this.#options.watch(task)
    const queued: QueuedTask = { id: this.#nextId++, task, input, options, watch, resolve, reject }
    // A task that is aborted while queued leaves the queue; a running one is cancelled in its child as well.
    const cancel = (): void => {
      this.#queue.remove(tenant, queued)
      this.#counts.cancelled += 1
      watch?.ended('cancelled')
      reject(new RasterError('aborted', 'The raster operation was cancelled', { cause: options.signal?.reason }))
    }
    options.signal?.addEventListener('abort', cancel, { once: true })
    this.#queue.push(tenant, queued)
    this.#dispatch()
    try {
      return await promise
    } finally {
      options.signal?.removeEventListener('abort', cancel)
    }
  }

  /** Ends all children and rejects queued tasks. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const task of this.#queue.clear()) task.reject(new RasterError('aborted', 'The raster pool is closed'))
    for (const { worker, idle } of this.#slots) {
      clearTimeout(idle)
      worker?.kill()
    }
  }

  get #starting(): number {
    return this.#slots.filter((slot) => slot.isStarting).length
  }

  /** How many more tasks of a tenant may run. One child stays free for others: one tenant's long tasks never occupy all of them. */
  #room(tenant: string): number {
    const most = this.#options.maxRunningPerTenant ?? Math.max(1, this.#slots.length - 1)
    return tenant === '' ? Infinity : Math.max(0, most - this.#running.of(tenant))
  }

  #dispatch(): void {
    while (this.#queue.size > 0) {
      const idle = this.#slots.find(isIdle)
      if (!idle) return this.#startWorkers()
      const next = this.#queue.take((tenant) => this.#room(tenant) > 0)
      if (!next) return
      void this.#execute(this.#preferred(next.entry.options.affinity) ?? idle, next.entry, next.tenant)
    }
  }

  /** The child whose caches hold the file, if it is idle. */
  #preferred(affinity: string | undefined): Slot | undefined {
    if (affinity === undefined) return undefined
    const slot = this.#slots[hash(affinity) % this.#slots.length]!
    return isIdle(slot) ? slot : undefined
  }

  /**
   * A further child starts only when those that run are busy: one that follows the other's tasks alone would take as much memory and no
   * less time. Starting takes longer than most tasks, so a task does not wait for a certain child: the first that is free takes it.
   */
  #startWorkers(): void {
    const wanted = this.#queue.servable((tenant) => this.#room(tenant))
    for (const slot of this.#slots) {
      if (this.#starting >= wanted) return
      if (!slot.isBusy && !slot.isStarting) void this.#start(slot)
    }
  }

  async #start(slot: Slot): Promise<void> {
    slot.isStarting = true
    clearTimeout(slot.idle)
    const worker = (slot.worker = this.#startWorker())
    const failure = await worker.ready().then(
      () => null,
      (error: Error) => error,
    )
    slot.isStarting = false
    if (this.#isClosed) return
    if (failure === null) this.#rest(slot, worker, { rssBytes: 0 })
    else this.#didNotStart(slot, failure)
    this.#dispatch()
  }

  /** If no child that has started can take it, the next task fails, so that it does not wait for ever. */
  #didNotStart(slot: Slot, { message }: Error): void {
    slot.worker = null
    const next = this.#slots.some(({ worker, isStarting }) => worker?.isAlive && !isStarting)
      ? null
      : this.#queue.take((tenant) => this.#room(tenant) > 0)
    const outcome = crashed(message)
    this.#count(outcome)
    next?.entry.watch?.ended(outcome.ending)
    if (!outcome.result.ok) next?.entry.reject(outcome.result.error)
  }

  async #execute(slot: Slot, queued: QueuedTask, tenant: string): Promise<void> {
    slot.isBusy = true
    this.#running.add(tenant, 1)
    clearTimeout(slot.idle)
    const worker = slot.worker!
    const startedMs = performance.now()
    const { id, task, input, options, watch } = queued
    watch?.started()
    const deadlineMs = (options.deadlineMs ?? this.#options.deadlineMs) * this.#options.deadlineFactor
    const outcome = await worker.run({ id, task, input, deadlineMs, onProgress: options.onProgress }, options.signal)
    this.#counts.busyMs += performance.now() - startedMs
    this.#count(outcome)
    watch?.ended(outcome.ending)
    slot.isBusy = false
    this.#running.add(tenant, -1)
    this.#rest(slot, worker, outcome)
    if (outcome.result.ok) queued.resolve(outcome.result.output)
    else queued.reject(outcome.result.error)
    this.#dispatch()
  }

  #startWorker(): PoolWorker {
    this.#counts.started += 1
    const { module, maxRssBytes, graceMs, niceness, deadlineFactor, answer } = this.#options
    const options: WorkerOptions = { module, maxRssBytes, graceMs, niceness, deadlineFactor, answer }
    return this.#options.startWorker(options)
  }

  #count({ ending }: WorkerOutcome): void {
    if (ending === 'done') this.#counts.completed += 1
    else this.#counts.failed += 1
    if (ending === 'crashed') this.#counts.crashed += 1
    if (ending === 'timed out') this.#counts.timedOut += 1
    if (ending === 'out of memory') this.#counts.outOfMemory += 1
  }

  /** The state of a child between two tasks: it continues, is replaced when idle, or is replaced now. */
  #rest(slot: Slot, worker: PoolWorker, { rssBytes }: Pick<WorkerOutcome, 'rssBytes'>, { isRested = false } = {}): void {
    const { maxRssBytes, recycleRssBytes, recycleAfterTasks, recycleIdleMs, restTask, restMs, idleMs } = this.#options
    if (!worker.isAlive) {
      slot.worker = null
      return
    }
    const recycle = (): void => {
      this.#counts.recycled += 1
      this.#retire(slot)
    }
    const isLarge = rssBytes > recycleRssBytes
    const later = (action: () => void, ms: number): void => {
      slot.idle = setTimeout(action, ms).unref()
    }
    if (rssBytes > maxRssBytes * FULL_SHARE) recycle()
    else if (worker.taskCount >= recycleAfterTasks) later(recycle, recycleIdleMs)
    else if (restTask !== undefined && !isRested) later(() => void this.#giveBack(slot, worker, restTask), isLarge ? recycleIdleMs : restMs)
    else if (isLarge) later(recycle, recycleIdleMs)
    else later(() => this.#retire(slot), idleMs)
  }

  async #giveBack(slot: Slot, worker: PoolWorker, task: string): Promise<void> {
    slot.isBusy = true
    const outcome = await worker.run({ id: this.#nextId++, task, input: null, deadlineMs: this.#options.deadlineMs }, undefined)
    slot.isBusy = false
    this.#counts.rested += 1
    this.#rest(slot, worker, outcome, { isRested: true })
    this.#dispatch()
  }

  #retire(slot: Slot): void {
    slot.worker?.kill()
    slot.worker = null
  }
}

const isIdle = ({ worker, isStarting, isBusy }: Slot): boolean => worker?.isAlive === true && !isStarting && !isBusy

function hash(text: string): number {
  let value = 2166136261
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619)
  return value >>> 0
}
