// Goal: a file that is paused, continued and taken away, at whatever moment, has one session and one run, and tells the truth.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createUploadLine, type Position, type Sending } from '../../packages/console/src/screens/upload-line.ts'

const TARGET = { projectId: 'p', collectionId: null, itemId: null, isCategorical: false }
const FILE = { name: 'field.tif', size: 100 }

interface Step {
  what: 'open' | 'send'
  uploadId: string
  signal: AbortSignal | null
  onSent(bytes: number): void
  succeed(): void
  fail(message?: string): void
  position: Position | null
}

/** A service whose every answer is in our hand. What was aborted still ends when it likes. */
function desk() {
  const waiting: Step[] = []
  const opened: string[] = []
  const givenUp: string[] = []
  const ask = <T>(step: Omit<Step, 'succeed' | 'fail'>, answer: T): Promise<T> =>
    new Promise((resolve, reject) => {
      const leave = () => void waiting.splice(waiting.indexOf(asked), 1)
      const asked: Step = {
        ...step,
        succeed: () => (leave(), resolve(answer)),
        fail: (message = 'it broke') => (leave(), reject(new Error(message))),
      }
      waiting.push(asked)
    })
  const line = createUploadLine<typeof FILE>({
    open() {
      const uploadId = `upload-${opened.length + 1}`
      opened.push(uploadId)
      return ask({ what: 'open', uploadId, signal: null, position: null, onSent: () => {} }, uploadId)
    },
    send: (uploadId, _file, _target, { signal, position, onSent }) =>
      ask<void>({ what: 'send', uploadId, signal, position, onSent }, undefined),
    lacksPosition: (error) => error instanceof Error && error.message === 'it lies nowhere',
    follow: async () => ({ state: 'done', error: null }),
    giveUp: (uploadId) => void givenUp.push(uploadId),
  })
  return { line, waiting, opened, givenUp, one: (): Sending | undefined => line.list()[0] }
}
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

test('paused and continued while its session is being opened: one session', async () => {
  const { line, waiting, opened, one: addFile } = desk()
  line.add(FILE, TARGET, {})
  line.pause(addFile()!.key)
  line.resume(addFile()!.key)
  await settle()
  for (const step of waiting.slice()) step.succeed()
  await settle()
  assert.deepEqual(opened, ['upload-1'])
  assert.equal(waiting.length, 1, 'one run sends')
  waiting[0]!.succeed()
  await settle()
  assert.equal(addFile()!.state, 'done')
})

test('the run before the pause fails late: the new run goes on', async () => {
  const { line, waiting, one: addFile } = desk()
  line.add(FILE, TARGET, { uploadId: 'upload-9' })
  await settle()
  const [old] = waiting
  line.pause(addFile()!.key)
  line.resume(addFile()!.key)
  await settle()
  old!.onSent(100)
  assert.deepEqual([addFile()!.state, addFile()!.sent], ['uploading', 0], 'what the old run says is no longer heard')
  old!.fail()
  await settle()
  assert.deepEqual([addFile()!.state, addFile()!.error], ['uploading', null])
  waiting[0]!.onSent(100)
  assert.equal(addFile()!.state, 'finishing')
  line.pause(addFile()!.key)
  assert.equal(addFile()!.state, 'finishing', 'when every byte has arrived there is nothing left to pause')
  waiting[0]!.succeed()
  await settle()
  assert.equal(addFile()!.state, 'done')
})

test('a file that lacks a position keeps its session, and goes on with one; one that is not taken can be given again', async () => {
  const { line, waiting, opened, one: addFile } = desk()
  line.add(FILE, TARGET, {})
  await settle()
  waiting[0]!.succeed()
  await settle()
  waiting[0]!.fail('it lies nowhere')
  await settle()
  assert.deepEqual([addFile()!.state, addFile()!.lacksPosition], ['failed', true])
  const position = { crs: 'EPSG:4326', bounds: [1, 2, 3, 4] }
  line.place(addFile()!.key, position)
  await settle()
  assert.deepEqual([addFile()!.state, addFile()!.lacksPosition, waiting[0]!.position], ['uploading', false, position])
  waiting[0]!.fail('positions.0.crs: is not known')
  await settle()
  assert.equal(addFile()!.lacksPosition, true)
  line.place(addFile()!.key, position)
  await settle()
  waiting[0]!.succeed()
  await settle()
  assert.deepEqual([addFile()!.state, opened.length], ['done', 1])
})

test('taken away while its session is being opened: the session is given up', async () => {
  const { line, waiting, givenUp, one: addFile } = desk()
  line.add(FILE, TARGET, {})
  await settle()
  line.discard(addFile()!.key)
  waiting[0]!.succeed()
  await settle()
  assert.deepEqual([line.list().length, waiting.length, givenUp], [0, 0, ['upload-1']])
})

test('whatever is pressed and however the service answers: one session, one run, never more than three at a time', async () => {
  const press = fc.constantFrom('pause', 'resume', 'succeed', 'succeed last', 'fail', 'settle')
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(press, fc.nat({ max: 4 })), { maxLength: 80 }),
      async (count, steps) => {
        const { line, waiting, opened } = desk()
        let failedOpen = 0
        for (let n = 0; n < count; n++) line.add(FILE, TARGET, {})
        for (const [what, at] of steps) {
          const entry = line.list()[at % count]!
          const step = waiting[at % Math.max(1, waiting.length)]
          if (what === 'pause' && entry.state === 'uploading') line.pause(entry.key)
          else if (what === 'resume' && ['paused', 'failed'].includes(entry.state)) line.resume(entry.key)
          else if (what === 'succeed') step?.succeed()
          else if (what === 'succeed last') waiting.at(-1)?.succeed()
          else if (what === 'fail') {
            if (step?.what === 'open') failedOpen++
            step?.fail()
          } else await settle()
          assert.ok(line.list().filter(({ state }) => state === 'uploading').length <= 3)
        }
        await settle()
        const running = waiting.filter(({ what, signal }) => what === 'send' && !signal!.aborted).map(({ uploadId }) => uploadId)
        assert.equal(new Set(running).size, running.length, 'no session has two runs')
        for (let round = 0; round < 50; round++) {
          for (const { key, state } of line.list()) if (state === 'paused' || state === 'failed') line.resume(key)
          for (const step of waiting.slice()) step.succeed()
          await settle()
        }
        assert.deepEqual(new Set(line.list().map(({ state }) => state)), new Set(['done']))
        assert.equal(opened.length - failedOpen, count, 'each file had one session')
      },
    ),
    { numRuns: 300 },
  )
})
