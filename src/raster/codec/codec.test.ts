/**
 * Goal: the parts of the codecs that GDAL's files do not exercise: old and reversed bit orders, damaged
 * streams, decoding only the first rows, and the way without Node's private zlib handle.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { decodeLzw } from '#raster/codec/lzw.ts'
import { decodePackbits } from '#raster/codec/packbits.ts'
import { undoFloatPlanes } from '#raster/codec/predictor.ts'
import { boundedDecompressor, decompress, decompressUpTo } from '#raster/codec/stream.ts'
import { halfToNumber, reverseBits, unpackBits } from '#raster/codec/unpack.ts'
import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, plainTags } from '#raster/testing/build-tiff.ts'
import { encodeOldLzw } from '#raster/testing/old-lzw.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RasterError } from '#raster/types.ts'

const isCorrupt = (error: unknown): boolean => error instanceof RasterError && error.code === 'corrupt'

test('old LZW, low bit first, is recognized and read', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 9000 }), (values) => {
      const bytes = Uint8Array.from(values)
      assert.deepEqual(decodeLzw(encodeOldLzw(bytes), bytes.length), bytes)
    }),
    { numRuns: 40 },
  )
})

test('damaged LZW and PackBits are typed errors, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 5000 }), (bytes, size) => {
      for (const decode of [decodeLzw, decodePackbits]) {
        try {
          assert.equal(decode(bytes, size).length, size)
        } catch (error) {
          if (!isCorrupt(error)) throw error
        }
      }
    }),
    { numRuns: 500 },
  )
})

test('both zlib paths give the same bytes, and a truncated stream is an error', () => {
  const bytes = Buffer.from(Uint8Array.from({ length: 50_000 }, (_, i) => (i * i) >> 5))
  for (const [method, packed] of [
    ['deflate', zlib.deflateSync(bytes)],
    ['zstd', zlib.zstdCompressSync(bytes)],
  ] as const) {
    assert.deepEqual(Buffer.from(decompress(method, packed, bytes.length)), bytes)
    const out = new Uint8Array(bytes.length)
    assert.equal(boundedDecompressor(method).run(packed, out), bytes.length)
    assert.deepEqual(Buffer.from(out), bytes)
    assert.deepEqual(Buffer.from(decompress(method, packed, 1000)), bytes.subarray(0, 1000))
    assert.throws(() => decompress(method, packed, bytes.length + 1), isCorrupt)
    assert.equal(boundedDecompressor(method).run(packed, new Uint8Array(bytes.length + 1)), bytes.length)
    assert.deepEqual(Buffer.from(decompressUpTo(method, packed, bytes.length + 9)), bytes)
    assert.throws(() => decompressUpTo(method, packed, bytes.length - 1), isCorrupt)
    assert.throws(() => boundedDecompressor(method).run(packed, new Uint8Array(1000)), isCorrupt)
    assert.throws(() => decompress(method, packed.subarray(0, packed.length >> 1), bytes.length), isCorrupt)
    assert.throws(() => decompress(method, Buffer.from('no stream at all'), 100), isCorrupt)
    // A failed stream leaves nothing behind.
    assert.deepEqual(Buffer.from(decompress(method, packed, bytes.length)), bytes)
  }
})

test('packed bits of every width round-trip', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 31 }),
      fc.integer({ min: 1, max: 20 }),
      fc.infiniteStream(fc.nat()),
      (bits, rowSamples, stream) => {
        const values = Array.from({ length: rowSamples * 2 }, () => (stream.next().value as number) % 2 ** bits)
        const rows = [values.slice(0, rowSamples), values.slice(rowSamples)].map((row) => {
          const text = row.map((value) => value.toString(2).padStart(bits, '0')).join('')
          return (text.padEnd(Math.ceil(text.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
        })
        assert.deepEqual([...unpackBits(Uint8Array.from(rows.flat()), { bits, rowSamples, rows: 2 })], values)
      },
    ),
  )
})

test('half floats: zero, subnormal, normal, infinite, not a number', () => {
  assert.deepEqual([0, 0x8000, 1, 0x3c00, 0xc000, 0x7bff, 0x7c00, 0xfc00].map(halfToNumber), [
    0,
    -0,
    2 ** -24,
    1,
    -2,
    65504,
    Infinity,
    -Infinity,
  ])
  assert.ok(Number.isNaN(halfToNumber(0x7e00)))
})

test('FillOrder 2 reverses the bits of each stored byte', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  const packed = zlib.deflateSync(bytes)
  for (const [compression, stored] of [
    [1, bytes],
    [8, packed],
    [32_946, packed],
  ] as const) {
    const tiff = buildTiff({ ifds: [{ tags: plainTags(16, 16, { 259: [compression], 266: [2] }), blocks: [reverseBits(stored)] }] })
    const block = await (await openTiff(memorySource(tiff))).readBlock(0, 0, 0)
    assert.deepEqual(block.data[0], bytes)
  }
})

const GOLDEN = new URL('../../../test/golden/raster/', import.meta.url)

test('the first rows of a block are the same whether all of it is decoded or not', async () => {
  for (const name of readdirSync(GOLDEN).filter((file) => file.endsWith('.tif'))) {
    const raster = await openTiff(memorySource(readFileSync(new URL(name, GOLDEN))))
    const whole = await raster.readBlock(0, 0, 0)
    const part = await raster.readBlock(0, 0, 0, { rows: 3 })
    assert.equal(part.height, 3)
    part.data.forEach((samples, band) => {
      const expected = whole.data[band]?.subarray(0, samples.length)
      assert.deepEqual(
        Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
        Buffer.from(expected?.slice().buffer ?? new ArrayBuffer(0)),
        name,
      )
    })
  }
})

test('floats are restored from byte planes, for any row width and sample size', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(3, 4, 8),
      fc.integer(),
      (rowSamples, rows, sampleBytes, seed) => {
        const rowBytes = rowSamples * sampleBytes
        let state = seed | 0
        const stored = Uint8Array.from(
          { length: rowBytes * rows },
          () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0) >>> 24,
        )
        const expected = new Uint8Array(stored.length)
        for (let row = 0; row < rows; row++) {
          for (let i = 0, sum = 0; i < rowBytes; i++) {
            sum += stored[row * rowBytes + i]!
            const plane = Math.floor(i / rowSamples)
            expected[row * rowBytes + (i % rowSamples) * sampleBytes + sampleBytes - 1 - plane] = sum
          }
        }
        assert.deepEqual(Buffer.from(undoFloatPlanes(stored, { rowSamples, rows, stride: 1 }, sampleBytes)), Buffer.from(expected))
      },
    ),
    { numRuns: 200 },
  )
})
