// Goal: a cache loads each value once, stays within its byte limit, and no caller waits for a cancelled load.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { RasterError } from '#raster/types.ts'
import { LoadingCache } from './cache.ts'

const make = (maxBytes = 10): LoadingCache<string> => new LoadingCache({ maxBytes, sizeOf: (value) => value.length })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a value is loaded once for all concurrent callers', async () => {
  const cache = make()
  const gate = Promise.withResolvers<string>()
  let loads = 0
  const requests = [1, 2, 3].map(() => cache.get('a', () => ((loads += 1), gate.promise)))
  gate.resolve('value')
  assert.deepEqual(await Promise.all(requests), ['value', 'value', 'value'])
  assert.equal(await cache.get('a', () => assert.fail('loaded again')), 'value')
  assert.equal(loads, 1)
  assert.deepEqual(cache.metrics, { hits: 1, misses: 1, joined: 2, evictions: 0, entries: 1, bytes: 5 })
})

test('the least recently used values are evicted first, within the byte limit', async () => {
  const cache = make(10)
  for (const key of ['a', 'b']) await cache.get(key, async () => '12345')
  cache.peek('a')
  await cache.get('c', async () => '1234')
  assert.equal(cache.peek('b'), undefined)
  assert.equal(cache.peek('a'), '12345')
  await cache.get('huge', async () => 'x'.repeat(11))
  assert.equal(cache.peek('huge'), undefined)
  assert.ok(cache.metrics.bytes <= 10)
})

test('a failed load is not cached', async () => {
  const cache = make()
  await assert.rejects(
    cache.get('a', async () => Promise.reject(new Error('once'))),
    /once/,
  )
  assert.equal(await cache.get('a', async () => 'then'), 'then')
})

test('an aborted caller does not cancel the load for the others; the last one does', async () => {
  const cache = make()
  const gate = Promise.withResolvers<string>()
  const first = new AbortController()
  const second = new AbortController()
  let inner: AbortSignal | undefined
  const load = (signal: AbortSignal): Promise<string> => ((inner = signal), gate.promise)
  const waiter = cache.get('a', load, { signal: first.signal })
  const two = cache.get('a', load, { signal: second.signal })
  first.abort()
  await assert.rejects(waiter, (error) => error instanceof RasterError && error.code === 'aborted')
  assert.equal(inner?.aborted, false)
  second.abort()
  await assert.rejects(two, RasterError)
  assert.equal(inner?.aborted, true)
  gate.reject(new Error('cancelled'))
  await turn()
  await assert.rejects(cache.get('b', load, { signal: AbortSignal.abort() }), RasterError)
})

test('an insufficient cached value is loaded again', async () => {
  const cache = make()
  await cache.get('rows', async () => 'ab')
  assert.equal(await cache.get('rows', async () => 'abcd', { accepts: (value) => value.length >= 4 }), 'abcd')
  assert.equal(await cache.get('rows', async () => assert.fail(), { accepts: (value) => value.length >= 3 }), 'abcd')
  assert.equal(cache.metrics.bytes, 4)
})
