// Goal: a file that is paused, resumed and removed, at any moment, has one session and one run, and reports its true state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { UploadQueue, type FilePosition, type QueuedFile } from '../../packages/client/src/upload-queue.ts'

const TARGET = { projectId: 'p', collectionId: null, itemId: null, categorical: false }
const FILE = { name: 'field.tif', size: 100 }

interface Step {
  kind: 'open' | 'send'
  uploadId: string
  signal: AbortSignal | null
  onSent(bytes: number): void
  succeed(): void
  fail(message?: string): void
  position: FilePosition | null
}

/** A transfer that the test settles step by step. Aborted steps still end when the test says so. */
function manualQueue() {
  const waiting: Step[] = []
  const opened: string[] = []
  const abandoned: string[] = []
  const wait = <T>(step: Omit<Step, 'succeed' | 'fail'>, result: T): Promise<T> =>
    new Promise((resolve, reject) => {
      const leave = () => void waiting.splice(waiting.indexOf(pending), 1)
      const pending: Step = {
        ...step,
        succeed: () => (leave(), resolve(result)),
        fail: (message = 'connection lost') => (leave(), reject(new Error(message))),
      }
      waiting.push(pending)
    })
  const queue = new UploadQueue<typeof FILE>({
    open() {
      const uploadId = `upload-${opened.length + 1}`
      opened.push(uploadId)
      return wait({ kind: 'open', uploadId, signal: null, position: null, onSent: () => {} }, uploadId)
    },
    send: (uploadId, _file, _target, { signal, position, onSent }) =>
      wait<void>({ kind: 'send', uploadId, signal, position, onSent }, undefined),
    lacksPosition: (error) => error instanceof Error && error.message === 'no position',
    isRejected: (error) => error instanceof Error && error.message === 'not a TIFF',
    finish: async () => ({ state: 'done', error: null }),
    abandon: (uploadId) => void abandoned.push(uploadId),
  })
  return { queue, waiting, opened, abandoned, first: (): QueuedFile | undefined => queue.list()[0] }
}
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

test('pausing and resuming while the session is being opened creates one session', async () => {
  const { queue, waiting, opened, first } = manualQueue()
  queue.add(FILE, TARGET, {})
  queue.pause(first()!.key)
  queue.resume(first()!.key)
  await settle()
  for (const step of waiting.slice()) step.succeed()
  await settle()
  assert.deepEqual(opened, ['upload-1'])
  assert.equal(waiting.length, 1, 'one run sends')
  waiting[0]!.succeed()
  await settle()
  assert.equal(first()!.state, 'done')
})

test('a paused run that fails late does not stop the new run', async () => {
  const { queue, waiting, first } = manualQueue()
  queue.add(FILE, TARGET, { uploadId: 'upload-9' })
  await settle()
  const [old] = waiting
  queue.pause(first()!.key)
  queue.resume(first()!.key)
  await settle()
  old!.onSent(100)
  assert.deepEqual([first()!.state, first()!.sentBytes], ['uploading', 0], 'reports of the old run are ignored')
  old!.fail()
  await settle()
  assert.deepEqual([first()!.state, first()!.error], ['uploading', null])
  waiting[0]!.onSent(100)
  assert.equal(first()!.state, 'finishing')
  queue.pause(first()!.key)
  assert.equal(first()!.state, 'finishing', 'when every byte is uploaded there is nothing left to pause')
  waiting[0]!.succeed()
  await settle()
  assert.equal(first()!.state, 'done')
})

test('a file without a position keeps its session and completes with one; a rejected position can be corrected', async () => {
  const { queue, waiting, opened, first } = manualQueue()
  queue.add(FILE, TARGET, {})
  await settle()
  waiting[0]!.succeed()
  await settle()
  waiting[0]!.fail('no position')
  await settle()
  assert.deepEqual([first()!.state, first()!.lacksPosition], ['failed', true])
  const position = { crs: 'EPSG:4326', bounds: [1, 2, 3, 4] }
  queue.setPosition(first()!.key, position)
  await settle()
  assert.deepEqual([first()!.state, first()!.lacksPosition, waiting[0]!.position], ['uploading', false, position])
  waiting[0]!.fail('positions.0.crs: unknown code')
  await settle()
  assert.equal(first()!.lacksPosition, true)
  queue.setPosition(first()!.key, position)
  await settle()
  waiting[0]!.succeed()
  await settle()
  assert.deepEqual([first()!.state, opened.length], ['done', 1])
})

test('removing a file while its session is being opened abandons the session', async () => {
  const { queue, waiting, abandoned, first } = manualQueue()
  queue.add(FILE, TARGET, {})
  await settle()
  queue.remove(first()!.key)
  waiting[0]!.succeed()
  await settle()
  assert.deepEqual([queue.list().length, waiting.length, abandoned], [0, 0, ['upload-1']])
})

test('only a rejected file is marked as such: a lost connection can be retried', async () => {
  for (const [message, isRejected] of [
    ['not a TIFF', true],
    ['connection lost', false],
    ['no position', false],
  ] as const) {
    const { queue, waiting, first } = manualQueue()
    queue.add(FILE, TARGET, {})
    await settle()
    waiting[0]!.succeed()
    await settle()
    waiting[0]!.fail(message)
    await settle()
    assert.deepEqual([first()!.state, first()!.isRejected], ['failed', isRejected])
    queue.resume(first()!.key)
    assert.equal(first()!.isRejected, false)
  }
})

test('a replacement takes the place of a rejected file, in a session of its own', async () => {
  const { queue, waiting, opened, abandoned, first } = manualQueue()
  queue.add(FILE, TARGET, { error: 'not a TIFF' })
  queue.replace(first()!.key, FILE)
  await settle()
  assert.equal(queue.list().length, 1)
  assert.deepEqual([first()!.state, first()!.error, opened, abandoned], ['uploading', null, ['upload-1'], []])
  waiting[0]!.succeed()
  await settle()
  queue.replace(first()!.key, FILE, { error: 'empty' })
  await settle()
  assert.deepEqual([first()!.state, first()!.error, abandoned], ['failed', 'empty', ['upload-1']])
  queue.replace('unknown', FILE)
  assert.equal(queue.list().length, 1)
})

test('any sequence of actions and results: one session and one run per file, never more than three at a time', async () => {
  const action = fc.constantFrom('pause', 'resume', 'succeed', 'succeed last', 'fail', 'settle')
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(action, fc.nat({ max: 4 })), { maxLength: 80 }),
      async (count, steps) => {
        const { queue, waiting, opened } = manualQueue()
        let failedOpen = 0
        for (let n = 0; n < count; n++) queue.add(FILE, TARGET, {})
        for (const [name, at] of steps) {
          const file = queue.list()[at % count]!
          const step = waiting[at % Math.max(1, waiting.length)]
          if (name === 'pause' && file.state === 'uploading') queue.pause(file.key)
          else if (name === 'resume' && ['paused', 'failed'].includes(file.state)) queue.resume(file.key)
          else if (name === 'succeed') step?.succeed()
          else if (name === 'succeed last') waiting.at(-1)?.succeed()
          else if (name === 'fail') {
            if (step?.kind === 'open') failedOpen++
            step?.fail()
          } else await settle()
          assert.ok(queue.list().filter(({ state }) => state === 'uploading').length <= 3)
        }
        await settle()
        const running = waiting.filter(({ kind, signal }) => kind === 'send' && !signal!.aborted).map(({ uploadId }) => uploadId)
        assert.equal(new Set(running).size, running.length, 'no session has two runs')
        for (let round = 0; round < 50; round++) {
          for (const { key, state } of queue.list()) if (state === 'paused' || state === 'failed') queue.resume(key)
          for (const step of waiting.slice()) step.succeed()
          await settle()
        }
        assert.deepEqual(new Set(queue.list().map(({ state }) => state)), new Set(['done']))
        assert.equal(opened.length - failedOpen, count, 'each file had one session')
      },
    ),
    { numRuns: 300 },
  )
})
