// Goal: a run that has stopped its heartbeat can release its work: no report of it arrives afterwards. A run that was replaced is aborted,
// and so is one whose reports do not arrive, before another takes its work.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startHeartbeat } from './heartbeat.ts'

test('the end of a heartbeat waits for the report that is on its way', async () => {
  const arrived: string[] = []
  const report = Promise.withResolvers<boolean>()
  const heartbeat = startHeartbeat({
    signal: new AbortController().signal,
    firstStep: 'start',
    beat: async ({ step }) => await report.promise.finally(() => arrived.push(step)),
  })
  heartbeat.at('convert', 0.5)
  const stopped = heartbeat.stop().then(() => arrived.push('stopped'))
  report.resolve(true)
  await stopped
  assert.deepEqual(arrived, ['convert', 'stopped'])
  assert.equal(heartbeat.signal.aborted, false)
})

test('a report that fails does not keep a run from ending', async () => {
  const heartbeat = startHeartbeat({
    signal: new AbortController().signal,
    firstStep: 'start',
    beat: async () => await Promise.reject(new Error('the database is away')),
  })
  heartbeat.at('convert', 0.5)
  await heartbeat.stop()
  assert.equal(heartbeat.isReplaced(), false)
})

test('a run that was replaced is aborted', async () => {
  const heartbeat = startHeartbeat({ signal: new AbortController().signal, firstStep: 'start', beat: async () => false })
  heartbeat.at('convert', 0.5)
  await heartbeat.stop()
  assert.deepEqual([heartbeat.isReplaced(), heartbeat.signal.aborted], [true, true])
})

test('a run whose reports do not arrive is aborted, if others may take its work', async () => {
  const unheard = { signal: new AbortController().signal, firstStep: 'start', beat: async () => await Promise.reject(new Error('away')) }
  const [patient, careful] = [startHeartbeat(unheard), startHeartbeat({ ...unheard, aloneAfterMs: -1 })]
  for (const heartbeat of [patient, careful]) heartbeat.at('convert', 0.5)
  await Promise.all([patient.stop(), careful.stop()])
  assert.deepEqual([patient.signal.aborted, careful.signal.aborted], [false, true])
  assert.equal(careful.isReplaced(), false, 'nobody has taken it yet')
})
