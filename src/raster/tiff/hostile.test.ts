/**
 * Goal: no file can crash, hang or fill the memory of a reader. Whatever comes in, the outcome is
 * pixels or a RasterError, within seconds and 200 MB.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, LONG, plainTags, SHORT, type TestTiff } from '#raster/testing/build-tiff.ts'
import { readEverything } from '#raster/testing/exhaust.ts'
import { cpuTimer } from '../../../test/support/cpu.ts'

const MOST_MS = 3000
const MOST_GROWTH_BYTES = 200 * 1024 * 1024
const tile = new Uint8Array(256).fill(7)

/** Runs a hostile file under the watch of computing time and memory. */
async function outcome(bytes: Uint8Array): Promise<string> {
  const cpuMs = cpuTimer()
  const before = process.memoryUsage().rss
  const result = await readEverything(memorySource(bytes))
  const ms = cpuMs()
  const growth = process.memoryUsage().rss - before
  assert.ok(ms < MOST_MS, `took ${ms} ms`)
  assert.ok(growth < MOST_GROWTH_BYTES, `took ${growth} bytes`)
  return result
}

const craft = (tiff: TestTiff): Promise<string> => outcome(buildTiff(tiff))
const codeOf = (changes: Record<number, readonly number[] | null>, blocks: readonly Uint8Array[] = [tile]): Promise<string> =>
  craft({ ifds: [{ tags: plainTags(16, 16, changes), blocks }] })

test('the original file is valid', async () => {
  assert.equal(await codeOf({}), 'ok')
})

test('directories that form a cycle, or are too many', async () => {
  const ifd = { tags: plainTags(16, 16), blocks: [tile] }
  assert.equal(await craft({ ifds: [{ ...ifd, next: 0 }] }), 'corrupt')
  assert.equal(await craft({ ifds: [ifd, { ...ifd, next: 0 }] }), 'corrupt')
  assert.equal(await craft({ ifds: Array.from({ length: 65 }, () => ifd) }), 'limit_exceeded')
  assert.equal(await craft({ ifds: Array.from({ length: 64 }, () => ifd), big: true }), 'ok')
})

test('sizes that are inconsistent or too large', async () => {
  assert.equal(await codeOf({ 256: [2_000_000] }), 'too_large')
  assert.equal(await codeOf({ 256: [0] }), 'corrupt')
  assert.equal(await codeOf({ 256: [4_000_000_000], 257: [4_000_000_000] }), 'too_large')
  assert.equal(await codeOf({ 322: [65_536], 323: [65_536] }), 'too_large')
  assert.equal(await codeOf({ 322: [0] }), 'corrupt')
  assert.equal(await codeOf({ 277: [65_535] }), 'limit_exceeded')
  assert.equal(await codeOf({ 277: [0] }), 'corrupt')
  assert.equal(await codeOf({ 256: [900_000], 257: [900_000] }), 'corrupt')
  assert.equal(await codeOf({ 258: [8, 16], 277: [2] }), 'unsupported')
  assert.equal(await codeOf({ 258: [33] }), 'unsupported')
  assert.equal(await codeOf({ 339: [6], 258: [32] }), 'unsupported')
  assert.equal(await codeOf({ 339: [7] }), 'unsupported')
  assert.equal(await codeOf({ 259: [34_712] }), 'unsupported')
  assert.equal(await codeOf({ 259: [50_002] }), 'unsupported')
  assert.equal(await codeOf({ 259: [4] }), 'unsupported')
  for (const codec of [34_925, 4]) assert.equal(await codeOf({ 259: [codec], 258: [1] }), 'corrupt')
  // One strip of 10^6 pixels by 10^6 rows would be a terabyte.
  const strip = {
    tags: plainTags(1_000_000, 1_000_000, { 322: null, 323: null, 259: [8], 278: [1_000_000] }),
    blocks: [tile],
    strips: true,
  }
  assert.equal(await craft({ ifds: [strip] }), 'too_large')
})

test('tags that claim more values than the file or the limits allow', async () => {
  const claim = (claimedCount: number): Promise<string> =>
    craft({ ifds: [{ tags: [...plainTags(16, 16), { tag: 34_735, type: SHORT, values: [1, 1, 0, 0, 0], claimedCount }], blocks: [tile] }] })
  assert.equal(await claim(4_000_000_000), 'limit_exceeded')
  assert.equal(await claim(5_000_000), 'corrupt')
  const offsets = { tag: 324, type: LONG, values: [8, 8], claimedCount: 3_000_000_000 }
  assert.equal(await craft({ ifds: [{ tags: [...plainTags(16, 16), offsets], blocks: [tile] }] }), 'limit_exceeded')
})

test('blocks outside the file, or far larger than their pixels', async () => {
  assert.equal(await codeOf({ 324: [1_000_000] }), 'corrupt')
  assert.equal(await codeOf({ 325: [4_000_000] }, [new Uint8Array(4_000_000)]), 'ok')
  assert.equal(await codeOf({ 259: [8] }, [new Uint8Array(4_000_000)]), 'corrupt')
})

test('decompression bombs cost no more than the block they claim to be', async () => {
  const zeros = Buffer.alloc(64 * 1024 * 1024)
  const deflated = zlib.deflateSync(zeros)
  const zstandard = zlib.zstdCompressSync(zeros)
  // More than expected is ignored, as libtiff does; the rest is never made.
  assert.equal(await codeOf({ 259: [8] }, [deflated]), 'ok')
  assert.equal(await codeOf({ 259: [50_000] }, [zstandard]), 'ok')
  assert.equal(await codeOf({ 259: [34_887], 50_674: [4, 1] }, [deflated]), 'corrupt')
  assert.equal(await codeOf({ 259: [34_887], 50_674: [4, 2] }, [zstandard]), 'corrupt')
  // The largest block that the limits allow, from a few kilobytes.
  const largest = {
    256: [2048],
    257: [2048],
    322: [2048],
    323: [2048],
    277: [4],
    258: [32, 32, 32, 32],
    339: [3, 3, 3, 3],
    259: [8],
    317: [3],
  }
  assert.equal(await codeOf(largest, [deflated]), 'ok')
  // A directory that asks for the largest tile in all bands is refused before it is allocated.
  const big = { 256: [2048], 257: [2048], 322: [2048], 323: [2048], 277: [64], 258: [64], 259: [8] }
  assert.equal(await codeOf(big, [deflated]), 'too_large')
})

test('image codecs that claim other sizes than the directory', async () => {
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0)
  assert.equal(await codeOf({ 259: [7] }, [jpeg]), 'corrupt')
  const webp = Buffer.concat([Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f'), Buffer.from([0xff, 0xff, 0xff, 0x0f]), Buffer.alloc(9)])
  assert.equal(await codeOf({ 259: [50_001], 277: [3], 258: [8, 8, 8] }, [webp]), 'corrupt')
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==', 'base64')
  assert.equal(await codeOf({ 259: [50_001] }, [png]), 'corrupt')
  const lerc = Buffer.concat([Buffer.from('Lerc2 '), Buffer.from(new Int32Array([6, 0, 1 << 20, 1 << 20, 64, 1 << 30, 8, 1000, 1]).buffer)])
  assert.equal(await codeOf({ 259: [34_887] }, [lerc]), 'corrupt')
})

test('files that are not TIFFs', async () => {
  for (const bytes of [
    new Uint8Array(0),
    new Uint8Array(7),
    Buffer.from('GIF89a...........'),
    Buffer.from('II*\0'),
    Buffer.from('MM\0+\0\x04\0\0........'),
  ]) {
    assert.equal(await outcome(bytes), 'not_a_tiff')
  }
})

const CORPUS = new URL('../../../../shared/data/hostile-tiffs/', import.meta.url)

test(
  'the public corpus of malformed files',
  { skip: existsSync(CORPUS) ? false : 'shared/data/hostile-tiffs is not on this machine' },
  async () => {
    for (const name of readdirSync(CORPUS)) await outcome(readFileSync(new URL(name, CORPUS)))
  },
)
