import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairScheduler } from './fair-scheduler.ts'
import type { Reply } from './reply.ts'

// Goal: a flood of calls that read from the database never has more of them at work than it has slots, and none waits forever.
test('a call keeps its slot while it reads', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const scheduler = createFairScheduler()
  t.after(() => scheduler.close())
  const { signal } = new AbortController()
  const reply = { status: 200, headers: {}, body: Buffer.alloc(0) }
  let begun = 0
  let isQuerying = true
  const flood = async (count: number) => {
    for (let n = 0; n < count; n++)
      void scheduler.run('bad', { signal, isQuerying: () => isQuerying }, () => {
        begun++
        return new Promise<Reply>(() => {})
      })
    await new Promise(setImmediate)
  }
  const ticks = async (count: number) => {
    for (let n = 0; n < count; n++) t.mock.timers.tick(50)
    await new Promise(setImmediate)
  }
  await scheduler.run('good', { signal }, async () => reply)
  await flood(60)
  const first = begun
  assert.ok(first <= 17, `${first} begun at once`)
  await ticks(20)
  assert.equal(begun, first, 'those that began are still reading')
  await ticks(25)
  assert.ok(begun > first && begun <= 2 * first, 'nobody reads for that long; they may wait for one of those that wait')
  const second = begun
  isQuerying = false
  await ticks(6)
  assert.ok(begun > second, 'what waits for something else gives up its slot soon')
})
