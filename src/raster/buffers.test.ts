import assert from 'node:assert/strict'
import { test } from 'node:test'

import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { BlockCache } from '#raster/warp/blocks.ts'
import { createHandlers } from '#raster/pool/handlers.ts'
import type { Block } from '#raster/types.ts'
import { scene } from '../../test/support/scene.ts'
import { giveBack, takeBytes, takeZeros } from './buffers.ts'

const KIB = 1024

// Goal: memory is reused only after it was returned, once, and never while it is still being read.
test('a returned buffer is reused for the next request of its size, once', () => {
  const first = takeBytes(300 * KIB)
  first.fill(7)
  giveBack(first)
  giveBack(first)
  const [second, third] = [takeBytes(301 * KIB), takeBytes(300 * KIB)]
  assert.equal(second.buffer, first.buffer)
  assert.notEqual(third.buffer, first.buffer)
  assert.deepEqual([second.length, third.length], [301 * KIB, 300 * KIB])
  giveBack(second.subarray(10, 20))
  const zeros = takeZeros(310 * KIB)
  assert.equal(zeros.buffer, first.buffer, 'any view gives back the whole')
  assert.ok(zeros.every((byte) => byte === 0))
})

test('buffers from elsewhere and small buffers are ignored', () => {
  const foreign = new Uint8Array(704 * KIB)
  giveBack(foreign)
  assert.notEqual(takeBytes(704 * KIB).buffer, foreign.buffer)
  const small = takeBytes(100)
  giveBack(small)
  assert.notEqual(takeBytes(100).buffer, small.buffer)
})

test('sizes that are no longer requested are dropped for those in use', () => {
  const old = Array.from({ length: 40 }, () => takeBytes(960 * KIB))
  for (const buffer of old) giveBack(buffer)
  const wanted = takeBytes(8_000 * KIB)
  giveBack(wanted)
  assert.equal(takeBytes(8_000 * KIB).buffer, wanted.buffer)
  const large = takeBytes(64 * 1024 * KIB)
  giveBack(large)
  assert.notEqual(takeBytes(64 * 1024 * KIB).buffer, large.buffer, 'more than is kept at all')
})

const block = (samples: Uint8Array): Block => ({
  width: samples.length,
  height: 1,
  bands: [0],
  data: [samples],
  starts: [0],
  stride: 1,
  mask: null,
  byteLength: samples.buffer.byteLength,
})

test('an evicted block keeps its memory until the last reader is done', async () => {
  const size = 832 * KIB
  const cache = new BlockCache(1000 * KIB)
  const gate = Promise.withResolvers<void>()
  const read = (key: string, samples: Uint8Array) => cache.get(key, async () => block(samples))
  const held = takeBytes(size)
  const slow = cache.reading(async () => {
    const mine = await read('a', held)
    await gate.promise
    return mine.data[0]![0]
  })
  held[0] = 42
  await cache.reading(() => read('b', takeBytes(size)))
  assert.equal(cache.metrics.evictions, 1)
  assert.notEqual(takeBytes(size).buffer, held.buffer, 'still being read')
  gate.resolve()
  assert.equal(await slow, 42)
  assert.equal(takeBytes(size).buffer, held.buffer)
})

test('a raster that a child’s cache evicts is closed after the task', async () => {
  const closed: string[] = []
  const open = async (name: string) => {
    const raster = await openTiff(memorySource(await scene({ width: 8, height: 8 })))
    raster.close = async () => void closed.push(name)
    return raster
  }
  const handlers = createHandlers({ open, rasterCacheBytes: 512 * KIB })
  const { signal } = new AbortController()
  for (const name of ['a', 'b', 'c', 'a']) await handlers.info({ source: name, key: name }, signal)
  assert.deepEqual(closed, ['a', 'b'])
})
