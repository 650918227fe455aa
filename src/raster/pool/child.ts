/**
 * The child process of a pool: loads the module in its first argument and runs its handlers, one task at a time.
 * `pool.ts` starts it as a process; nothing imports it.
 */
import { flushCompileCache } from 'node:module'

import { RasterError } from '#raster/errors.ts'

import { takeAnswer } from './ask.ts'
import { describeError, type ChildMessage, type HandlerModule, type ParentMessage } from './protocol.ts'

const { handlers } = (await import(process.argv[2] ?? '')) as HandlerModule
const running = new Map<number, AbortController>()

process.on('message', (message: ParentMessage) => {
  if (message.kind === 'run') void run(message)
  else if (message.kind === 'answer') takeAnswer(message)
  else running.get(message.id)?.abort()
})
// Without its parent, a child ends.
process.on('disconnect', () => process.exit(0))
send({ kind: 'ready' })

async function run({ id, task, input }: Extract<ParentMessage, { kind: 'run' }>): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  try {
    if (!Object.hasOwn(handlers, task)) throw new RasterError('invalid_argument', `Unknown task '${task}'`)
    const output = await handlers[task]?.(input as never, controller.signal, (progress) => send({ kind: 'progress', id, progress }))
    send({ kind: 'done', id, output, rssBytes: memory() })
  } catch (error) {
    send({ kind: 'failed', id, ...describeError(error), rssBytes: memory() })
  } finally {
    running.delete(id)
    keepCompiled()
  }
}

let hasKept = false

/**
 * Writes compiled modules where the service keeps them, if it does, once the first task has loaded its own. Node does so when a process
 * exits, but a child is killed. The next child then needs no compiler of types, which takes 17 MB and a twentieth of a second.
 */
function keepCompiled(): void {
  if (hasKept) return
  hasKept = true
  setImmediate(flushCompileCache)
}

/** The query takes a tenth of a millisecond in a process with many blocks, and changes little between two tiles. */
const MEMORY_EVERY_MS = 20
let measured = { bytes: 0, atMs: -Infinity }

function memory(): number {
  const nowMs = performance.now()
  if (nowMs - measured.atMs >= MEMORY_EVERY_MS) measured = { bytes: process.memoryUsage.rss(), atMs: nowMs }
  return measured.bytes
}

function send(message: ChildMessage): void {
  process.send?.(message)
}
