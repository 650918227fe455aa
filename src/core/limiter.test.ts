import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimiter, queueFull, type Limiter } from './limiter.ts'

/** Work that ends when told to, and records when it started. */
function bench(limit: Limiter) {
  const began: string[] = []
  const waiting: (() => void)[] = []
  return {
    began,
    bring: (who: string, name: string) =>
      limit(
        () => {
          began.push(name)
          return new Promise<void>((resolve) => waiting.push(resolve))
        },
        { tenant: who },
      ),
    async finishOne() {
      waiting.shift()!()
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    },
  }
}

// Goal: tenants are served in rotation, a busy tenant waits behind its own requests, and a full queue never blocks the others.
test('limiter', async (t) => {
  await t.test('one at a time, tenant by tenant', async () => {
    const b = bench(createLimiter({ maxRunning: 1, maxWaiting: 100, full: queueFull('tests') }))
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => b.bring(name[0]!, name))
    for (const _ of all) await b.finishOne()
    await Promise.all(all)
    assert.deepEqual(b.began, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  await t.test('no more than the limit at once, and a failure frees its slot', async () => {
    const limit = createLimiter({ maxRunning: 2, maxWaiting: 100, full: queueFull('tests') })
    let running = 0
    let most = 0
    const settled = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        limit(
          async () => {
            most = Math.max(most, ++running)
            await Promise.resolve()
            running--
            if (index % 3 === 0) throw new Error('x')
          },
          { tenant: `who ${index % 4}` },
        ),
      ),
    )
    assert.equal(most, 2)
    assert.equal(settled.filter(({ status }) => status === 'rejected').length, 10)
  })

  await t.test(
    'when it is full, the newest entry of the longest queue is rejected, and a flood of one tenant does not block others',
    async () => {
      const b = bench(createLimiter({ maxRunning: 1, maxWaiting: 3, full: queueFull('tests') }))
      const kept = [b.bring('a', 'a1'), b.bring('a', 'a2'), b.bring('a', 'a3')]
      const sentAway = b.bring('a', 'a4')
      await assert.rejects(b.bring('a', 'a5'), /Too many tests/)
      kept.push(b.bring('b', 'b1'))
      await assert.rejects(sentAway, /Too many tests/)
      for (const _ of kept) await b.finishOne()
      await Promise.all(kept)
      assert.deepEqual(b.began, ['a1', 'a2', 'b1', 'a3'])
    },
  )

  await t.test('a waiting call leaves the queue when aborted or timed out, and its slot goes to the next', async () => {
    const limit = createLimiter({ maxRunning: 1, maxWaiting: 3, full: queueFull('tests') })
    const blocker = Promise.withResolvers<void>()
    const first = limit(() => blocker.promise)
    const abort = new AbortController()
    const aborted = limit(async () => assert.fail('it was aborted'), { signal: abort.signal })
    const late = limit(async () => assert.fail('it was too late'), { timeout: { ms: 1, error: () => new Error('too late') } })
    const last = limit(async () => 'done')
    abort.abort(new Error('aborted'))
    await assert.rejects(aborted, /aborted/)
    await assert.rejects(late, /too late/)
    await assert.rejects(
      limit(async () => assert.fail('it was aborted before'), { signal: abort.signal }),
      /aborted/,
    )
    blocker.resolve()
    await first
    assert.equal(await last, 'done')
  })
})
