import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStore } from '../../packages/console/src/store.ts'

/** Where a browser keeps texts. */
function withStorage(t: { after(work: () => void): void }, kept: Map<string, string>): void {
  const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, text: string) => void kept.set(key, text) }
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
  t.after(() => Reflect.deleteProperty(globalThis, 'localStorage'))
}

const numbers = { key: 'numbers', read: (text: string) => JSON.parse(text) as number[], write: JSON.stringify }

// Goal: one primitive holds what components share: it tells of changes and of nothing else, and keeps what is meant to last.
test('a store tells its listeners of changes until they leave', () => {
  const store = createStore(1)
  const seen: number[] = []
  const leave = store.subscribe(() => seen.push(store.get()))
  store.set(2)
  store.set(2)
  leave()
  store.set(3)
  assert.deepEqual(seen, [2])
  assert.equal(store.get(), 3)
})

test('what is kept outlives the page; what cannot be read counts as absent', (t) => {
  const kept = new Map([['broken', '{']])
  withStorage(t, kept)
  const first = createStore<number[]>([], numbers)
  assert.deepEqual(first.get(), [])
  assert.equal(kept.has('numbers'), false, 'nothing is written before a change')
  first.set([1, 2])
  assert.deepEqual(createStore<number[]>([], numbers).get(), [1, 2])
  assert.deepEqual(createStore<number[]>([7], { ...numbers, key: 'broken' }).get(), [7])
})

test('a browser that keeps nothing works with the initial value', () => {
  assert.deepEqual(createStore<number[]>([7], numbers).get(), [7])
})
