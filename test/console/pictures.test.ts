// Goal: pictures never take more connections than their share, and nothing of one session is shown in the next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPictures, MAX_AT_ONCE } from '../../packages/console/src/ui/pictures.ts'

interface Asked {
  path: string
  signal: AbortSignal
  answer(): void
  fail(): void
}

function studio() {
  const open: Asked[] = []
  const shown = new Set<string>()
  let most = 0
  let next = 0
  const pictures = createPictures({
    fetch: (path, signal) =>
      new Promise((resolve, reject) => {
        const leave = () => void open.splice(open.indexOf(asked), 1)
        const asked: Asked = {
          path,
          signal,
          answer: () => (leave(), resolve(new Blob([path]))),
          fail: () => (leave(), reject(new Error('HTTP 500'))),
        }
        open.push(asked)
        most = Math.max(most, open.length)
        signal.addEventListener('abort', () => (leave(), reject(signal.reason as Error)))
      }),
    show: () => {
      const address = `blob:${next++}`
      shown.add(address)
      return address
    },
    revoke: (address) => void shown.delete(address),
  })
  return { pictures, open, shown, most: () => most }
}
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

test('however they come and go, at most so many pictures are fetched at once, and each comes in the end', async () => {
  const step = fc.record({ what: fc.constantFrom('ask', 'ask', 'ask', 'answer', 'fail'), turns: fc.nat({ max: 6 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      const { pictures, open, most } = studio()
      const asked: Promise<unknown>[] = []
      for (const [index, { what, turns }] of steps.entries()) {
        if (what === 'ask') asked.push(pictures.get(`/tile/${index}`).catch(() => 'failed'))
        else if (what === 'answer') open[0]?.answer()
        else open[0]?.fail()
        // What comes next may come before whoever waits has had a turn.
        for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      }
      await settle()
      while (open.length > 0) {
        open[0]!.answer()
        await settle()
      }
      await Promise.all(asked)
      assert.ok(most() <= MAX_AT_ONCE, `${most()} at once`)
    }),
    { numRuns: 300 },
  )
})

test('signing out takes back every picture, also those that are still on their way', async () => {
  const { pictures, open, shown } = studio()
  const first = pictures.get('/a')
  await settle()
  open[0]!.answer()
  assert.ok(shown.has(await first))
  const late = Array.from({ length: MAX_AT_ONCE + 2 }, (_, index) => pictures.get(`/late/${index}`).catch((error: Error) => error.name))
  await settle()
  pictures.forget()
  await settle()
  for (const request of open.slice()) request.answer()
  assert.deepEqual(new Set(await Promise.all(late)), new Set(['AbortError']))
  assert.deepEqual([...shown], [], 'no address is left')
  assert.equal(pictures.known('/a'), null)

  const again = pictures.get('/a')
  await settle()
  assert.equal(open.length, 1, 'the next session fetches for itself')
  open[0]!.answer()
  const address = await again
  assert.equal(pictures.known('/a'), address)
})
