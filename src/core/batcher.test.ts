import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { batcher } from './batcher.ts'

// Goal: every caller gets the value of its own key, in batches within the limits, and a failed batch does not affect others.
test('batcher', async (t) => {
  await t.test('values go to their callers, whatever the sizes and the order of batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer(), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 4 }),
        fc.scheduler(),
        async (keys, maxKeys, maxInFlight, scheduler) => {
          let inFlight = 0
          const seen: number[] = []
          const ask = batcher(
            async (batch: readonly number[]) => {
              assert.ok(batch.length >= 1 && batch.length <= maxKeys, `${batch.length} keys in a batch of at most ${maxKeys}`)
              assert.ok(++inFlight <= maxInFlight, `${inFlight} batches in flight, at most ${maxInFlight}`)
              seen.push(...batch)
              await scheduler.schedule(Promise.resolve(), `batch of ${batch.length}`)
              inFlight--
              return batch.map((key) => `answer to ${key}`)
            },
            { maxKeys, maxInFlight },
          )
          const answers = Promise.all(keys.map((key) => ask(key)))
          let done = false
          void answers.finally(() => {
            done = true
          })
          while (!done) {
            if (scheduler.count() > 0) await scheduler.waitOne()
            else await turn()
          }
          assert.deepEqual(
            await answers,
            keys.map((key) => `answer to ${key}`),
          )
          assert.deepEqual(seen, keys, 'requested in order, each once')
        },
      ),
      { numRuns: 100 },
    )
  })

  await t.test('a batch that fails rejects its own callers and nobody else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 5 }), async (bad, maxKeys) => {
        const batches: (readonly number[])[] = []
        const ask = batcher(
          async (batch: readonly number[]) => {
            batches.push(batch)
            if (batch.some((index) => bad[index])) throw new Error(`batch ${batch.join()}`)
            return batch
          },
          { maxKeys, maxInFlight: 2 },
        )
        const settled = await Promise.allSettled(bad.map((_, index) => ask(index)))
        for (const batch of batches)
          for (const index of batch) {
            const outcome = settled[index]!
            if (batch.some((other) => bad[other]))
              assert.equal(outcome.status === 'rejected' && outcome.reason.message, `batch ${batch.join()}`)
            else assert.equal(outcome.status === 'fulfilled' && outcome.value, index)
          }
      }),
      { numRuns: 100 },
    )
  })

  await t.test('a single caller does not wait, and those that come meanwhile share the next batch', async () => {
    const trips: { batch: readonly string[]; answer: (values: string[]) => void }[] = []
    const ask = batcher((batch: readonly string[]) => new Promise<readonly string[]>((resolve) => trips.push({ batch, answer: resolve })), {
      maxKeys: 10,
      maxInFlight: 1,
    })
    const first = ask('first')
    while (trips.length < 1) await turn()
    const others = [ask('second'), ask('third')]
    await turn()
    assert.equal(trips.length, 1, 'the second batch waits for the first')
    trips[0]!.answer(['1'])
    assert.equal(await first, '1')
    while (trips.length < 2) await turn()
    assert.deepEqual(trips[1]!.batch, ['second', 'third'])
    trips[1]!.answer(['2', '3'])
    assert.deepEqual(await Promise.all(others), ['2', '3'])
  })

  await t.test('a run that throws synchronously is a failed batch like any other, and the next one works', async () => {
    let calls = 0
    const ask = batcher(
      (batch: readonly number[]): Promise<readonly number[]> => {
        if (++calls === 1) throw new Error('at once')
        return Promise.resolve(batch)
      },
      { maxKeys: 10, maxInFlight: 1 },
    )
    await assert.rejects(ask(1), /at once/)
    assert.equal(await ask(2), 2)
  })
})
