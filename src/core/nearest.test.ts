import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { operations } from '#registry.ts'
import { nearest } from './nearest.ts'

// Goal: a typo finds its word, and anything else finds none.
test('nearest', () => {
  const words = ['projects.list', 'projects.get', 'items.list', 'project_id', 'bbox']
  for (const [given, meant] of [
    ['project.list', 'projects.list'],
    ['projcets.list', 'projects.list'],
    ['Projects.Get', 'projects.get'],
    ['projectid', 'project_id'],
    ['box', 'bbox'],
    ['orders.place', null],
    ['', null],
    ['x'.repeat(10_000), null],
  ] as const)
    assert.equal(nearest(given, words), meant, given.slice(0, 20))
})

/** The textbook definition, cell by cell. */
function distance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)))
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const replaced = table[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? table[i - 2]![j - 2]! + 1 : Infinity
      table[i]![j] = Math.min(table[i - 1]![j]! + 1, table[i]![j - 1]! + 1, replaced, swapped)
    }
  return table[a.length]![b.length]!
}

test('nearest finds the same word as the textbook distance', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.'), minLength: 1, maxLength: 14 })
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 8 }), (given, known) => {
      const close = known.filter((each) => distance(given, each) <= Math.max(1, Math.floor(each.length / 4)))
      const least = Math.min(...close.map((each) => distance(given, each)))
      assert.equal(nearest(given, known), close.find((each) => distance(given, each) === least) ?? null)
    }),
    { numRuns: 2_000 },
  )
})

// Goal: unknown operation IDs are looked up before authentication, so words that cannot match are not compared.
test('nearest skips words whose length differs too much', () => {
  const read: string[] = []
  const watched = (word: string) =>
    Object.assign(Object.create(null), { length: word.length, toLowerCase: () => (read.push(word), word) }) as string
  const known = [...operations.keys()]
  assert.equal(nearest('x'.repeat(100), known.map(watched)), null)
  assert.deepEqual(read, [])
  nearest('orders.list', known.map(watched))
  assert.ok(read.length < known.length / 2, `${read.length} of ${known.length} words were compared`)
})
