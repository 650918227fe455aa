// Goal: NeXT and ThunderScan decode to the stored pixels; any other bytes give exactly the expected rows or a typed error.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, LONG, SHORT } from '#raster/testing/build-tiff.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RasterError } from '#raster/types.ts'
import { decodeNext } from './next.ts'
import { decodeThunderscan } from './thunderscan.ts'

const nibbles = (bytes: Uint8Array): number[] => [...bytes].flatMap((byte) => [byte >> 4, byte & 0xf])
const pairs = (bytes: Uint8Array): number[] => [...bytes].flatMap((byte) => [byte >> 6, (byte >> 4) & 3, (byte >> 2) & 3, byte & 3])

test('NeXT: literal rows, partial rows and runs', () => {
  const literal = [0x00, 0x1b, 0xe4]
  // The second byte of the row; what is not given is white.
  const span = [0x40, 0, 1, 0, 1, 0x1b]
  const runs = [0x80 | 5, 0x40 | 2, 0xc0 | 63]
  const decoded = decodeNext(Uint8Array.from([...literal, ...span, ...runs]), { width: 8, rows: 3 })
  assert.deepEqual(pairs(decoded), [0, 1, 2, 3, 3, 2, 1, 0, 3, 3, 3, 3, 0, 1, 2, 3, 2, 2, 2, 2, 2, 1, 1, 3])
})

test('ThunderScan: pixels, runs and both kinds of differences', () => {
  // 7; three more of it; +1, nothing, -1; +3, -2; a row of its own begins at 0.
  const stored = [0xc7, 0x03, 0x40 | (1 << 4) | (2 << 2) | 3, 0x80 | (3 << 3) | 6, 0x02, 0xcf, 0x05]
  const decoded = decodeThunderscan(Uint8Array.from(stored), { width: 8, rows: 2 })
  assert.deepEqual(nibbles(decoded), [7, 7, 7, 7, 8, 7, 10, 8, 0, 0, 15, 15, 15, 15, 15, 15])
})

test('any bytes give exactly the expected rows or a corrupt-block error', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 9 }),
      (stored, width, rows) => {
        for (const [decode, pixels] of [
          [decodeNext, 4],
          [decodeThunderscan, 2],
        ] as const)
          try {
            assert.equal(decode(stored, { width, rows }).length, Math.ceil(width / pixels) * rows)
          } catch (error) {
            assert.ok(error instanceof RasterError && error.code === 'corrupt', String(error))
          }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('files with both compressions are read, but only with their bit depth', async () => {
  const file = (compression: number, bits: number, block: number[]) =>
    openTiff(
      memorySource(
        buildTiff({
          ifds: [
            {
              strips: true,
              blocks: [Uint8Array.from(block)],
              tags: [
                { tag: 256, type: LONG, values: [8] },
                { tag: 257, type: LONG, values: [1] },
                { tag: 258, type: SHORT, values: [bits] },
                { tag: 259, type: SHORT, values: [compression] },
                { tag: 262, type: SHORT, values: [1] },
                { tag: 277, type: SHORT, values: [1] },
                { tag: 278, type: LONG, values: [1] },
              ],
            },
          ],
        }),
      ),
    )
  const read = async (raster: Awaited<ReturnType<typeof file>>) => [
    ...(await raster.readWindow(0, { x: 0, y: 0, width: 8, height: 1 })).data[0]!,
  ]
  assert.deepEqual(await read(await file(32_766, 2, [0x00, 0x1b, 0xe4])), [0, 1, 2, 3, 3, 2, 1, 0])
  assert.deepEqual(await read(await file(32_809, 4, [0xc7, 0x07])), [7, 7, 7, 7, 7, 7, 7, 7])
  await assert.rejects(file(32_766, 8, [0]), /requires one band of 2-bit samples/)
  await assert.rejects(file(32_809, 8, [0]), /requires one band of 4-bit samples/)
})
