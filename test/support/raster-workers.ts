/**
 * Raster processes that the worlds of a test process use one after the other: starting one takes more CPU than most tests give it to
 * do. A process that is busy, large or used up when its world ends is ended with it, as in production.
 */
import type { StartWorker } from '#raster/pool/pool.ts'
import { Worker, type PoolWorker, type WorkerOptions } from '#raster/pool/worker.ts'
import { atEnd } from './ending.ts'

const MIB = 1024 * 1024
const MAX_RSS_BYTES = 250 * MIB
const MAX_TASKS = 200
const MAX_SPARES = 4
const REST_MS = 60_000

interface Spare {
  worker: Worker
  /** Whoever uses it now answers its questions. */
  answer: WorkerOptions['answer']
}

const spares = new Map<string, Spare[]>()

let isOver = false

atEnd.add(() => {
  isOver = true
  for (const { worker } of [...spares.values()].flat()) worker.kill()
  spares.clear()
})

const kindOf = ({ module, maxRssBytes, niceness }: WorkerOptions) => `${module.href} ${maxRssBytes} ${niceness}`

export const borrowWorker: StartWorker = (options) => {
  const spare = spares.get(kindOf(options))?.pop() ?? start(options)
  spare.answer = options.answer
  return lend(spare, kindOf(options))
}

function start(options: WorkerOptions): Spare {
  const spare: Spare = { answer: options.answer, worker: new Worker({ ...options, answer: (question) => spare.answer(question) }) }
  return spare
}

function lend(spare: Spare, kind: string): PoolWorker {
  const { worker } = spare
  let isBusy = false
  let isLent = true
  return {
    get isAlive() {
      return isLent && worker.isAlive
    },
    taskCount: 0,
    ready: () => worker.ready(),
    async run(task, signal) {
      this.taskCount += 1
      isBusy = true
      try {
        return await worker.run(task, signal)
      } finally {
        isBusy = false
      }
    },
    kill() {
      if (!isLent) return
      isLent = false
      if (isBusy || !worker.isAlive || worker.taskCount > MAX_TASKS) worker.kill()
      else void takeBack(spare, kind)
    },
  }
}

/** Its caches are emptied first: the next world may have other bytes under the same URL. */
async function takeBack(spare: Spare, kind: string): Promise<void> {
  const { ending, rssBytes } = await spare.worker.run({ id: 0, task: 'rest', input: null, deadlineMs: REST_MS }, undefined)
  const waiting = spares.get(kind) ?? []
  if (isOver || ending !== 'done' || rssBytes > MAX_RSS_BYTES || waiting.length >= MAX_SPARES) spare.worker.kill()
  else spares.set(kind, [...waiting, spare])
}
