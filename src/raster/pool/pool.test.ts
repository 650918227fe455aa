// Goal: raster tasks run in child processes that can crash, hang or use too much memory without affecting others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { RasterError } from '#raster/errors.ts'
import { RasterPool, type PoolOptions, type StartWorker } from './pool.ts'
import { Worker } from './worker.ts'

const MIB = 1024 * 1024
const pools: RasterPool[] = []
after(() => Promise.all(pools.map((pool) => pool.close())))

function start(options: Partial<PoolOptions> = {}): RasterPool {
  const pool = new RasterPool({
    module: new URL(import.meta.resolve('#raster/testing/pool-handlers.ts')),
    size: 1,
    deadlineMs: 20_000,
    ...options,
  })
  pools.push(pool)
  return pool
}

/** The first child is an ordinary one. */
const unlessFirst = (other: StartWorker): StartWorker => {
  let count = 0
  return (options) => (count++ === 0 ? new Worker(options) : other(options))
}

/** Never ready: a child whose start takes longer than everything else. */
class Slow extends Worker {
  override ready(): Promise<void> {
    return new Promise(() => {})
  }
}

const withCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof RasterError && error.code === code

test('a task runs in a child, with binary data in and out, and without our environment', async () => {
  const pool = start()
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i)
  assert.deepEqual(await pool.run('echo', { bytes, text: 'x' }), { bytes, text: 'x' })
  assert.notEqual(await pool.run('pid', null), process.pid)
  assert.deepEqual(
    ((await pool.run('environment', null)) as string[]).filter((name) => /KEY|TOKEN|SECRET|PATH|HOME/.test(name)),
    [],
  )
  assert.equal(pool.metrics.completed, 3)
  assert.equal(pool.metrics.started, 1)
})

test('errors keep their type, and neither they nor bugs end the child', async () => {
  const pool = start()
  const pid = await pool.run('pid', null)
  await assert.rejects(pool.run('refuse', 'bad block'), (error) => withCode('corrupt')(error) && (error as Error).message === 'bad block')
  await assert.rejects(pool.run('throw', null), /a bug/)
  for (const name of ['nothing', '__proto__', 'constructor']) await assert.rejects(pool.run(name, null), withCode('invalid_argument'))
  assert.equal(await pool.run('pid', null), pid)
})

test('a crash fails only its own task, and the child is replaced', async () => {
  const pool = start()
  const first = pool.run('pid', null)
  const broken = assert.rejects(pool.run('crash', null), withCode('worker_failed'))
  const later = pool.run('pid', null)
  await broken
  assert.notEqual(await later, await first)
  assert.deepEqual([pool.metrics.crashed, pool.metrics.started, pool.metrics.completed], [1, 2, 2])
})

test('a task that hangs is killed at its deadline', async () => {
  const pool = start({ graceMs: 50 })
  await pool.run('echo', 1)
  await assert.rejects(pool.run('spin', null, { deadlineMs: 100 }), withCode('deadline_exceeded'))
  assert.equal(pool.metrics.timedOut, 1)
  assert.equal(await pool.run('echo', 2), 2)
  await assert.rejects(pool.run('wait', null, { deadlineMs: 50 }), withCode('deadline_exceeded'))
  assert.equal(pool.metrics.started, 2, 'a task that stops when told does not cost its child')
})

test('a task that uses too much memory is killed, with a typed error', async () => {
  const pool = start({ maxRssBytes: 200 * MIB })
  await assert.rejects(pool.run('hoard', null), withCode('limit_exceeded'))
  assert.equal(pool.metrics.outOfMemory, 1)
  assert.equal(await pool.run('echo', 3), 3)
})

test('an aborted caller frees its place in the queue and its child', async () => {
  const pool = start()
  const [waiting, queued] = [new AbortController(), new AbortController()]
  const cancelled = assert.rejects(pool.run('wait', null, { signal: waiting.signal }), withCode('aborted'))
  const two = assert.rejects(pool.run('echo', 1, { signal: queued.signal }), withCode('aborted'))
  queued.abort()
  await two
  assert.equal(pool.metrics.queued, 0)
  waiting.abort()
  await cancelled
  assert.equal(await pool.run('echo', 4), 4)
  await assert.rejects(pool.run('echo', 5, { signal: AbortSignal.abort() }), withCode('aborted'))
})

test('a full queue rejects at once', async () => {
  const pool = start({ maxQueue: 2 })
  const stop = new AbortController()
  const running = [1, 2, 3].map(() => assert.rejects(pool.run('wait', null, { signal: stop.signal })))
  await assert.rejects(pool.run('echo', 1), withCode('overloaded'))
  assert.equal(pool.metrics.refused, 1)
  stop.abort()
  await Promise.all(running)
})

test('a child is replaced after many tasks, when idle, and children share the work', async () => {
  const pool = start({ recycleAfterTasks: 2, recycleIdleMs: 0 })
  const pids = await Promise.all([1, 2, 3].map(() => pool.run('pid', null)))
  assert.deepEqual([new Set(pids).size, pool.metrics.recycled], [1, 0], 'not while tasks wait')
  while (pool.metrics.children > 0) await new Promise(setImmediate)
  assert.equal(pool.metrics.recycled, 1)
  assert.notEqual(await pool.run('pid', null), pids[0])
  const two = start({ size: 2 })
  const stop = new AbortController()
  const held = assert.rejects(two.run('wait', null, { signal: stop.signal }))
  await two.run('pid', null)
  assert.deepEqual([two.metrics.running, two.metrics.started], [1, 2])
  stop.abort()
  await held
  assert.equal(await two.run('pid', null, { affinity: 'a' }), await two.run('pid', null, { affinity: 'a' }))
})

test('a further child starts only when those that run are busy, whichever child a file prefers', async () => {
  const pool = start({ size: 4 })
  const alone = new Set<unknown>()
  for (const affinity of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) alone.add(await pool.run('pid', null, { affinity }))
  assert.deepEqual([alone.size, pool.metrics.started], [1, 1])
  const stop = new AbortController()
  const held = assert.rejects(pool.run('wait', null, { affinity: 'a', signal: stop.signal }))
  assert.ok(!alone.has(await pool.run('pid', null, { affinity: 'b' })))
  assert.equal(pool.metrics.started, 2)
  stop.abort()
  await held
})

test('a task does not wait for a child that is starting, if another is free before', async () => {
  const pool = start({ size: 2, startWorker: unlessFirst((options) => new Slow(options)) })
  const first = await pool.run('pid', null)
  const together = await Promise.all([pool.run('pid', null), pool.run('pid', null)])
  assert.deepEqual([together, pool.metrics.started], [[first, first], 2])
})

test('a child that does not start fails the next task only if no other can take it', async () => {
  const broken = start({ size: 2, startWorker: (options) => new Worker({ ...options, module: new URL('file:///nothing.ts') }) })
  await Promise.all([1, 2, 3].map(() => assert.rejects(broken.run('echo', 1), withCode('worker_failed'))))
  assert.deepEqual([broken.metrics.queued, broken.metrics.children], [0, 0])
  const half = start({
    size: 2,
    startWorker: unlessFirst((options) => new Worker({ ...options, module: new URL('file:///nothing.ts') })),
  })
  const first = await half.run('pid', null)
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => half.run('pid', null))), [first, first, first])
})

test('a child that has grown is replaced when idle; one close to its memory limit, at once', async () => {
  const pool = start({ maxRssBytes: 400 * MIB, recycleRssBytes: 200 * MIB })
  const pid = await pool.run('pid', null)
  await pool.run('grow', 300 * MIB)
  assert.equal(await pool.run('pid', null), pid)
  await pool.run('grow', 384 * MIB)
  assert.notEqual(await pool.run('pid', null), pid)
  assert.deepEqual([pool.metrics.recycled, pool.metrics.outOfMemory], [1, 0])
})

test('an idle child releases its caches, once, and continues', async () => {
  const pool = start({ restTask: 'rest', restMs: 0 })
  const first = await pool.run('pid', null)
  while (pool.metrics.rested === 0) await new Promise(setImmediate)
  assert.deepEqual([await pool.run('rests', null), await pool.run('pid', null)], [1, first])
  const ended = start({ restTask: 'rest', restMs: 0, idleMs: 0 })
  await ended.run('pid', null)
  while (ended.metrics.children > 0) await new Promise(setImmediate)
})

test('an idle child ends, and the next task starts another', async () => {
  const pool = start({ idleMs: 0 })
  const first = await pool.run('pid', null)
  while (pool.metrics.children > 0) await new Promise(setImmediate)
  assert.notEqual(await pool.run('pid', null), first)
})

test('closing rejects queued tasks', async () => {
  const pool = start()
  const running = assert.rejects(pool.run('wait', null), RasterError)
  const queued = assert.rejects(pool.run('echo', 1), withCode('aborted'))
  await pool.close()
  await Promise.all([running, queued])
  await assert.rejects(pool.run('echo', 1), withCode('aborted'))
})
