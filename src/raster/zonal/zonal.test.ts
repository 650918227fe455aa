// Goal: statistics of many zones in one pass equal those of each zone alone, exact to fractions of a pixel.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { computeStatistics } from '#raster/statistics/index.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { RasterError } from '#raster/types.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { changeBetween } from './change.ts'
import { percentilesOf } from './distribution.ts'
import { zonalStatistics, ZONAL_STATISTICS } from './index.ts'

const SIDE = 100
const DEGREES = 0.01

function raster(given: Partial<MemoryRasterOptions> = {}): MemoryRaster {
  return new MemoryRaster({
    width: SIDE,
    height: SIDE,
    epsg: 4326,
    transform: [10, DEGREES, 0, 50, 0, -DEGREES],
    dataType: 'uint16',
    blockSize: 32,
    value: (x, y) => ((x * 7919 + y * 104_729) % 997) + 1,
    ...given,
  })
}

/** A polygon given in pixels from the upper left corner. */
const polygon = (...ring: [number, number][]) => ({
  type: 'Polygon',
  coordinates: [[...ring, ring[0]!].map(([x, y]) => [10 + x * DEGREES, 50 - y * DEGREES])],
})
const box = (left: number, top: number, right: number, bottom: number) =>
  polygon([left, top], [right, top], [right, bottom], [left, bottom])

const near = (actual: number | null | undefined, expected: number, what: string) =>
  assert.ok(Math.abs(actual! - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${what}: ${actual} is not ${expected}`)

test('a zone of partial pixels equals a manual calculation', async () => {
  // Pixels 1, 2 / 3, 4: the zone covers all of the first, half of the second and third, a quarter of the fourth.
  const small = raster({ width: 2, height: 2, value: (x, y) => 1 + x + 2 * y })
  const { zones } = await zonalStatistics(small, { zones: [box(0, 0, 1.5, 1.5)], statistics: ZONAL_STATISTICS, percentiles: [0, 100] })
  const { values, percentiles, covered } = zones[0]![0]!
  near(values.count, 2.25, 'count')
  near(covered, 2.25, 'covered')
  near(values.sum, 1 + 1 + 1.5 + 1, 'sum')
  near(values.mean, 4.5 / 2.25, 'mean')
  near(values.variance, (1 * 1 + 0.5 * 0 + 0.5 * 1 + 0.25 * 4) / 2.25, 'variance')
  assert.deepEqual([values.min, values.max, values.range, values.majority, values.minority, values.variety], [1, 4, 3, 1, 4, 4])
  assert.deepEqual(percentiles, [1, 4])
})

test('percentiles of equal weights are the usual ones, and weights shift them', () => {
  const of = (values: number[], weights: number[], percentile: number) =>
    percentilesOf({ values: Float64Array.from(values), weights: Float64Array.from(weights), count: values.length }, [percentile])[0]
  assert.equal(of([1, 2, 3, 4], [1, 1, 1, 1], 50), 2.5)
  assert.equal(of([1, 2, 3, 4, 5], [1, 1, 1, 1, 1], 25), 2)
  assert.equal(of([7], [0.3], 50), 7)
  // Places are 0, 1·3 + 1·1 = 4; half of 4 lies half way.
  assert.equal(of([10, 20], [1, 3], 50), 15)
})

test('many zones at once equal each alone, for any shapes, blocks and bands', async () => {
  const corner = fc.double({ min: -10, max: SIDE + 10, noNaN: true })
  const triangle = fc.tuple(fc.tuple(corner, corner), fc.tuple(corner, corner), fc.tuple(corner, corner))
  await fc.assert(
    fc.asyncProperty(
      fc.array(triangle, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(16, 32, 48, 128),
      fc.constantFrom('uint8' as const, 'uint16' as const, 'float32' as const),
      async (triangles, blockSize, dataType) => {
        const source = raster({ blockSize, dataType, value: (x, y) => ((x * 31 + y * 17) % 251) + 1, nodata: 42 })
        const zones = triangles.map((points) => polygon(...points))
        const { zones: results } = await zonalStatistics(source, { zones })
        for (const [index, zone] of zones.entries()) {
          const alone = await computeStatistics(source, { geometry: zone, exactCoverage: true }).catch((error: unknown) => {
            assert.ok(error instanceof RasterError && /intersect/.test(error.message), String(error))
            return null
          })
          const { values, count } = results[index]![0]!
          const summary = alone?.bands[0]
          if (!summary || summary.count < 1e-6) {
            assert.ok(count < 1e-6)
            continue
          }
          near(values.count, summary.count, 'count')
          near(values.sum, summary.sum, 'sum')
          // The area of a sliver has few digits that a float can tell, and its mean has no more.
          if (summary.count < 1e-3) continue
          near(values.mean, summary.mean!, 'mean')
          assert.ok(Math.abs(values.std! - summary.std!) < 1e-6, `std ${values.std} is not ${summary.std}`)
        }
      },
    ),
    { numRuns: campaign({ short: 60, long: 2_000 }) },
  )
})

test('values far from zero keep their precision', async () => {
  const high = raster({ dataType: 'float64', value: (x) => 1e9 + (x % 2) })
  const { zones } = await zonalStatistics(high, { zones: [box(0, 0, 90, 90)] })
  near(zones[0]![0]!.values.std, 0.5, 'std')
})

test('expressions, masks and nodata count as they do elsewhere', async () => {
  const source = raster({
    bandCount: 2,
    nodata: 0,
    value: (x, _y, band) => (band === 0 ? (x < 50 ? 0 : 10) : 30),
    mask: (_x, y) => (y < 20 ? 0 : 255),
  })
  const { zones } = await zonalStatistics(source, {
    zones: [box(0, 0, 100, 40)],
    expression: '(b2 - b1) / (b2 + b1)',
    statistics: ['count', 'mean', 'median'],
  })
  const { values, covered } = zones[0]![0]!
  near(covered, 4_000, 'covered')
  near(values.count, 1_000, 'count')
  near(values.mean, 0.5, 'mean')
  near(values.median, 0.5, 'median')
})

test('zones outside the raster are empty, blocks without zones are not read, and too many pixels are rejected before reading', async () => {
  const source = raster()
  const { zones, pixelsRead } = await zonalStatistics(source, { zones: [box(-30, -30, -10, -10), box(1, 1, 5, 5)] })
  assert.deepEqual(zones[0]![0], {
    count: 0,
    covered: 0,
    values: { count: 0, mean: null, min: null, max: null, std: null, sum: null },
    percentiles: [],
  })
  assert.equal(zones[1]![0]!.count, 16)
  assert.equal(source.reads, 1)
  assert.equal(pixelsRead, 5 * 32)
  await assert.rejects(zonalStatistics(source, { zones: [box(0, 0, 100, 100)], maxPixels: 1_000 }), { code: 'limit_exceeded' })
  assert.equal(source.reads, 1)
})

test('a change between two scenes is weighted, counted and rendered, on any grids', async () => {
  const before = raster({ value: () => 100 })
  const after = raster({ value: (x) => (x < 10 ? 150 : x < 20 ? 60 : 105) })
  const options = {
    geometry: box(0, 0, 40, 10.5),
    before: { expression: 'b1' },
    after: { expression: 'b1' },
    threshold: 20,
    maxPixels: 1_000_000,
  }
  const change = await changeBetween(before, after, options)
  near(change.count, 40 * 10.5, 'count')
  near(change.gain, 105, 'gain')
  near(change.loss, 105, 'loss')
  near(change.mean, (50 * 10 - 40 * 10 + 5 * 20) / 40, 'mean')
  // A hundredth of a degree at 50° north is 1,112.6 m by 716.6 m.
  assert.ok(Math.abs(change.pixelAreaM2 - 1_112.5 * 717) < 1_500, `${change.pixelAreaM2}`)
  assert.ok(change.cog.length > 500)
  // The same scene on pixels half as large and shifted: away from the borders the numbers stay.
  const finer = raster({
    width: 2 * SIDE,
    height: 2 * SIDE,
    transform: [10.0023, DEGREES / 2, 0, 49.9987, 0, -DEGREES / 2],
    value: () => 140,
  })
  const shifted = await changeBetween(before, finer, { ...options, geometry: box(5, 5, 30, 30) })
  near(shifted.mean, 40, 'mean')
  near(shifted.gain, 625, 'gain')
  await assert.rejects(changeBetween(before, after, { ...options, maxPixels: 10 }), { code: 'limit_exceeded' })
})
