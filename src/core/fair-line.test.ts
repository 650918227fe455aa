import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fairLine } from './fair-line.ts'

/** Work that ends when it is told to, and writes down when it began. */
function bench(line: ReturnType<typeof fairLine>) {
  const began: string[] = []
  const waiting: (() => void)[] = []
  return {
    began,
    bring: (who: string, name: string) =>
      line(who, () => {
        began.push(name)
        return new Promise<void>((resolve) => waiting.push(resolve))
      }),
    async finishOne() {
      waiting.shift()!()
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    },
  }
}

// Goal: callers take turns, whoever brings much waits behind their own, and a full line never shuts out the quiet ones.
test('fair line', async (t) => {
  await t.test('one after the other, caller by caller', async () => {
    const b = bench(fairLine({ maxRunning: 1, maxWaiting: 100, waiting: 'tests' }))
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => b.bring(name[0]!, name))
    for (const _ of all) await b.finishOne()
    await Promise.all(all)
    assert.deepEqual(b.began, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  await t.test('no more than so many at once, and a failure gives its place on', async () => {
    const line = fairLine({ maxRunning: 2, maxWaiting: 100, waiting: 'tests' })
    let running = 0
    let most = 0
    const settled = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        line(`who ${index % 4}`, async () => {
          most = Math.max(most, ++running)
          await Promise.resolve()
          running--
          if (index % 3 === 0) throw new Error('x')
        }),
      ),
    )
    assert.equal(most, 2)
    assert.equal(settled.filter(({ status }) => status === 'rejected').length, 10)
  })

  await t.test('when it is full, the newest of the longest line goes, and a crowd of one keeps nobody out', async () => {
    const b = bench(fairLine({ maxRunning: 1, maxWaiting: 3, waiting: 'tests' }))
    const kept = [b.bring('a', 'a1'), b.bring('a', 'a2'), b.bring('a', 'a3')]
    const sentAway = b.bring('a', 'a4')
    await assert.rejects(b.bring('a', 'a5'), /Too many tests/)
    kept.push(b.bring('b', 'b1'))
    await assert.rejects(sentAway, /Too many tests/)
    for (const _ of kept) await b.finishOne()
    await Promise.all(kept)
    assert.deepEqual(b.began, ['a1', 'a2', 'b1', 'a3'])
  })
})
