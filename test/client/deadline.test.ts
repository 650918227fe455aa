// Goal: a call without its own deadline still ends, a late response is discarded, and no timer keeps running.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { within } from '../../packages/client/src/deadline.ts'

test('the default deadline of all calls', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const answered = within(60_000, Promise.resolve(new Response('in time')))
  assert.equal(await (await answered).text(), 'in time')
  await assert.rejects(within(60_000, Promise.reject(new Error('refused'))), /refused/)

  let answer: (response: Response) => void = () => {}
  const late = within(0, new Promise((resolve) => (answer = resolve)))
  const patient = within(60_000, new Promise(() => {}))
  t.mock.timers.tick(1_000)
  await assert.rejects(late, /the request timed out/)
  let isCancelled = false
  answer(new Response(new ReadableStream({ cancel: () => void (isCancelled = true) })))
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(isCancelled, 'nobody reads it, so it is let go')
  assert.equal(await Promise.race([patient, Promise.resolve('still waiting')]), 'still waiting')
})
