/** Goal: overviews hold what their names say: means of the data under a pixel, or one of its samples, also on odd sides and along masks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { ExactSampleArray } from '#raster/types.ts'
import { AverageReducer } from '#raster/write/average.ts'
import { IntegerAverageReducer } from './average-integers.ts'
import { averageReducer } from './halve.ts'
import { writeCog } from '#raster/write/cog.ts'
import type { ReduceShape, RowReducer } from '#raster/write/row-reducer.ts'
import { memorySink } from '#raster/write/sink.ts'
import type { CogSpec } from '#raster/write/spec.ts'

type Small = Partial<CogSpec> & { width: number; height: number }

/** The first overview of a one-band raster written in blocks of 16. */
async function overview(
  small: Small,
  samples: ExactSampleArray,
  mask: Uint8Array | null = null,
): Promise<{ samples: number[]; mask: number[] | null }> {
  const spec: CogSpec = { dataType: 'uint8', bandCount: 1, blockSize: 16, hasMask: mask !== null, ...small }
  const sink = memorySink()
  await writeCog(sink, spec, async (y, rows) => {
    const from = y * spec.width
    const to = (y + rows) * spec.width
    const data = samples.slice(from, to)
    return {
      width: spec.width,
      height: rows,
      bands: [0],
      data: [data],
      starts: [0],
      stride: 1,
      mask: mask?.slice(from, to) ?? null,
      byteLength: data.byteLength,
    }
  })
  const raster = await openTiff(memorySource(sink.bytes()))
  const level = raster.info.levels[1]
  assert.ok(level)
  const window = await raster.readWindow(1, { x: 0, y: 0, width: level.width, height: level.height })
  return { samples: [...(window.data[0] ?? [])], mask: window.mask && [...window.mask] }
}

test('average is the rounded mean of four', async () => {
  const samples = Uint8Array.from({ length: 18 * 2 }, (_, i) => i)
  const { samples: got } = await overview({ width: 18, height: 2 }, samples)
  assert.deepEqual(
    got,
    Array.from({ length: 9 }, (_, x) => Math.floor((4 * (2 * x) + 1 + 1 + 18 + 18) / 4 + 0.5)),
  )
})

test('average of an odd side covers the whole side evenly', async () => {
  // 17 columns become 9: each coarse pixel covers 17/9 fine ones, so the mean of the whole stays.
  const samples = Float64Array.from({ length: 17 }, (_, i) => i * i)
  const { samples: got } = await overview({ width: 17, height: 1, dataType: 'float64' }, samples)
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  assert.equal(got.length, 9)
  assert.ok(Math.abs(mean(got) - mean([...samples])) < 1e-9)
  assert.ok(Math.abs((got[0] ?? 0) - (0 + 1 * (8 / 9)) / (17 / 9)) < 1e-12)
})

test('average ignores nodata, NaN and masked pixels', async () => {
  const row = [10, 0, 0, 0, 20, 40]
  const pad = Array.from({ length: 12 }, () => 5)
  const withNodata = await overview({ width: 18, height: 1, nodata: 0 }, Uint8Array.from([...row, ...pad]))
  assert.deepEqual(withNodata.samples.slice(0, 3), [10, 0, 30])
  const withNan = await overview({ width: 18, height: 1, dataType: 'float32' }, Float32Array.from([1, NaN, NaN, NaN, 2, 4, ...pad]))
  assert.deepEqual(withNan.samples.slice(0, 3), [1, NaN, 3])
  const masked = await overview(
    { width: 18, height: 1 },
    Uint8Array.from([...row, ...pad]),
    Uint8Array.from([255, 0, 0, 0, 255, 255, ...pad.map(() => 255)]),
  )
  assert.deepEqual(masked.samples.slice(0, 3), [10, 0, 30])
  assert.deepEqual(masked.mask?.slice(0, 3), [255, 0, 255])
})

test('average of negative and 64-bit samples', async () => {
  const pad = Array.from({ length: 14 }, () => 0)
  const negative = await overview({ width: 18, height: 1, dataType: 'int16' }, Int16Array.from([-3, -4, -1, -2, ...pad]))
  assert.deepEqual(negative.samples.slice(0, 2), [-3, -1])
  const wide = await overview({ width: 18, height: 1, dataType: 'int64' }, BigInt64Array.from([-3, 5, 1e12, 1e12 + 2, ...pad].map(BigInt)))
  assert.deepEqual(wide.samples.slice(0, 2), [1, 1e12 + 1])
})

test('integers are averaged by rows first with the same result', () => {
  const reduced = (reducer: RowReducer, { fine, coarse, bandCount }: ReduceShape, samples: Int16Array): Int16Array => {
    const out = new Int16Array(coarse.width * coarse.height * bandCount)
    let row = 0
    for (let y = 0; y < fine.height; y++) {
      const to = { samples: out, sampleAt: row * coarse.width * bandCount, mask: null, maskAt: 0 }
      if (reducer.push({ samples, sampleAt: y * fine.width * bandCount, mask: null, maskAt: 0 }, to)) row += 1
    }
    assert.equal(row, coarse.height)
    return out
  }
  const side = fc.integer({ min: 1, max: 23 })
  fc.assert(
    fc.property(
      side,
      side,
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.integer({ min: -2, max: 2 })),
      fc.infiniteStream(fc.integer({ min: -3, max: 3 })),
      (width, height, bandCount, nodata, stream) => {
        const shape = {
          fine: { width, height, tilesX: 1, tilesY: 1 },
          coarse: { width: Math.ceil(width / 2), height: Math.ceil(height / 2), tilesX: 1, tilesY: 1 },
          bandCount,
          nodata,
          alphaBand: null,
          isFloat: false,
        }
        const samples = Int16Array.from({ length: width * height * bandCount }, () => stream.next().value as number)
        const wanted = reduced(new AverageReducer(shape), shape, samples)
        assert.deepEqual(reduced(new IntegerAverageReducer(shape), shape, samples), wanted)
        // The reducer that writers choose: another one for even sides, and for four bands.
        assert.deepEqual(reduced(averageReducer(shape, false, false), shape, samples), wanted)
      },
    ),
    { numRuns: 200 },
  )
})

test('mode is the most frequent class and ignores nodata', async () => {
  const top = [1, 1, 0, 0, 7, 8, ...Array.from({ length: 12 }, () => 3)]
  const bottom = [2, 1, 0, 9, 8, 7, ...Array.from({ length: 12 }, () => 3)]
  const { samples } = await overview({ width: 18, height: 2, overviews: 'mode', nodata: 0 }, Uint8Array.from([...top, ...bottom]))
  assert.deepEqual(samples.slice(0, 4), [1, 9, 7, 3])
})

test('mode of integers is that of the same numbers in any other type', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 17, max: 21 }),
      fc.integer({ min: 1, max: 5 }),
      fc.option(fc.nat(2)),
      fc.infiniteStream(fc.nat(3)),
      async (width, height, nodata, stream) => {
        const classes = Array.from({ length: width * height }, () => stream.next().value as number)
        const wanted = await overview({ width, height, nodata, overviews: 'mode', dataType: 'float32' }, Float32Array.from(classes))
        const given = { width, height, nodata, overviews: 'mode' } as const
        assert.deepEqual((await overview(given, Uint8Array.from(classes))).samples, wanted.samples)
      },
    ),
    { numRuns: 40 },
  )
})

test('nearest only takes existing samples', async () => {
  const samples = Uint8Array.from({ length: 18 * 18 }, (_, i) => i % 251)
  const { samples: got } = await overview({ width: 18, height: 18, overviews: 'nearest' }, samples)
  assert.equal(got[0], samples[19])
  assert.equal(got.at(-1), samples.at(-1))
})
