// Goal: a call without a limit of its own is aborted when its time is up, a body may take longer, and nothing keeps ticking.
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { Client } from '../../packages/client/src/core.ts'
import { within } from '../../packages/client/src/deadline.ts'

const MINUTE_MS = 60_000

/** Time stands still but for what is passed, which the clock of all calls then notices. */
function stopClock(t: TestContext): (ms: number) => void {
  let now = performance.now()
  t.mock.timers.enable({ apis: ['setInterval'] })
  t.mock.method(performance, 'now', () => now)
  return (ms) => {
    now += ms
    t.mock.timers.tick(1_000)
  }
}

test('the clock of all calls', async (t) => {
  const pass = stopClock(t)
  const answered = await within(MINUTE_MS, () => Promise.resolve(new Response('in time')))
  assert.equal(await answered.text(), 'in time')
  await assert.rejects(
    within(MINUTE_MS, () => Promise.reject(new Error('refused'))),
    /refused/,
  )
  const never = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  const late = within(1_000, never)
  const patient = within(MINUTE_MS, never)
  pass(1_000)
  await assert.rejects(late, /the time is up/)
  assert.equal(await Promise.race([patient, Promise.resolve('still waiting')]), 'still waiting')
  pass(MINUTE_MS)
  await assert.rejects(patient, /the time is up/)
})

test('a service that does not answer', { timeout: MINUTE_MS }, async (t) => {
  const pass = stopClock(t)
  const asked: ServerResponse[] = []
  const server = createServer((request, response) => void (request.resume(), asked.push(response), server.emit('asked')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = new Client({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, maxRetries: 0 })

  await t.test('is let go after two minutes, and the connection with it', async () => {
    const coming = once(server, 'asked')
    const call = client.call('projects.list')
    await coming
    const gone = once(asked[0]!, 'close')
    pass(121_000)
    await assert.rejects(call, { name: 'ConnectionError' })
    await gone
    assert.equal(asked[0]!.writableFinished, false)
  })

  await t.test('has all the time it needs once its answer has begun', async () => {
    const coming = once(server, 'asked')
    const call = client.raw('items.export', {})
    await coming
    asked[1]!.write('slow')
    const response = await call
    pass(600_000)
    asked[1]!.end('ly')
    assert.equal(await response.text(), 'slowly')
  })
})
