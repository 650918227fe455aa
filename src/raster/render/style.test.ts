import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryRaster } from '#raster/testing/memory-raster.ts'
import { RasterError } from '#raster/types.ts'
import { naturalRanges, rangesOfBands, rescaleText, type Range } from './style.ts'

/** Where a sample of a band ends up, from 0 to 1. */
const shown = (sample: number, [low, high, gamma = 1]: readonly [number, number, number?]) =>
  Math.min(1, Math.max(0, (sample - low) / (high - low))) ** (1 / gamma)

// Goal: natural colours look like a photograph: grey stays grey, and what is dark beside clouds can still be seen.
test('ranges of natural colours', async (t) => {
  await t.test('an ordinary scene is lifted a little', () => {
    const ranges = naturalRanges([
      [300, 900, 1500, 2000],
      [350, 1000, 1600, 2100],
      [400, 900, 1400, 1900],
    ])
    assert.deepEqual(ranges, [
      [300, 2050, 1.3],
      [350, 2100, 1.3],
      [400, 2150, 1.3],
    ])
  })

  await t.test('under small clouds the ground is not left in the dark, and clouds keep their shades', () => {
    const percentiles = [
      [6692, 8235, 21_108, 36_016],
      [7673, 9274, 21_125, 35_030],
      [9057, 10_439, 22_060, 36_063],
    ]
    const [red] = naturalRanges(percentiles)
    assert.ok(shown(8235, red!) > 0.2, 'the ground')
    assert.ok(shown(21_108, red!) < 0.8, 'thin clouds')
    assert.ok(shown(36_016, red!) > 0.99, 'bright ones')
  })

  await t.test('all three have one width and one gamma within bounds, whatever the image', () => {
    const samples = fc
      .array(fc.integer({ min: 0, max: 65_535 }), { minLength: 4, maxLength: 4 })
      .map((four) => four.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(fc.array(samples, { minLength: 3, maxLength: 3 }), (bands) => {
        const ranges = naturalRanges(bands)
        for (const [low, high, gamma = 1] of ranges) {
          assert.ok(high > low && Number.isFinite(high))
          assert.ok(Math.abs(high - low - (ranges[0]![1] - ranges[0]![0])) < 1e-6)
          assert.ok(gamma >= 1 && gamma <= 2 && gamma === (ranges[0]![2] ?? 1))
        }
      }),
    )
  })
})

// Goal: each band shown has the range that was meant for it.
test('ranges of the bands that are shown', () => {
  const { info } = new MemoryRaster({ epsg: 3857, width: 4, height: 4, bandCount: 5, transform: [0, 1, 0, 0, 0, -1], value: () => 0 })
  const pairs = (count: number): Range[] => Array.from({ length: count }, (_, index) => [index, index + 1])
  assert.deepEqual(rangesOfBands(pairs(5), [5, 3, 1], info, true), [
    [4, 5],
    [2, 3],
    [0, 1],
  ])
  assert.deepEqual(rangesOfBands(pairs(5), [2], info, true), [[1, 2]])
  assert.deepEqual(rangesOfBands(pairs(3), [5, 3, 1], info, true), pairs(3), 'one for each shown, in their order')
  assert.deepEqual(rangesOfBands(pairs(1), [5, 3, 1], info, true), pairs(1))
  assert.throws(() => rangesOfBands(pairs(4), [5, 3, 1], info, true), RasterError)
  assert.equal(rescaleText([null, null]), null)
  assert.equal(rescaleText([null, [7, 7], [1, 2]]), '0,1;7,8;1,2')
})
