// Goal: statistics equal those of an independent implementation, over whole rasters and over areas.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import fc from 'fast-check'

import { readPolygons } from '#raster/geometry/polygon.ts'
import { rasterizeMask } from '#raster/geometry/rasterize.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { RasterError, type DataType } from '#raster/types.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { toPixels } from './area.ts'
import { computeStatistics, type Summary } from './index.ts'
import { summarizeCounts, summarizeSamples } from './summarize.ts'

interface Reference {
  percentiles: number[]
  side: number
  cases: Record<string, Summary & { nodata?: number | null }>
}
const reference = JSON.parse(readFileSync(new URL('./reference.json', import.meta.url), 'utf8')) as Reference
const OPTIONS = { percentiles: reference.percentiles, binCount: 7 }
const SIDE = reference.side

/** The same samples as in test/reference/statistics.py. */
function sample(kind: string, i: number): number {
  const mixed = (i * 7919 + 13) % 10007
  if (kind === 'uint8') return mixed % 256
  if (kind === 'uint16') return mixed * 5
  if (kind === 'int16') return mixed - 5000
  if (kind === 'float32') return mixed % 11 === 0 ? Number.NaN : Math.fround(mixed / 7 - 300)
  return mixed * 1e6 + mixed / 3
}

function raster(dataType: DataType, given: Partial<MemoryRasterOptions> = {}): MemoryRaster {
  return new MemoryRaster({
    width: SIDE,
    height: SIDE,
    epsg: 4326,
    transform: [10, 0.01, 0, 50, 0, -0.01],
    dataType,
    blockSize: 32,
    value: (x, y) => sample(dataType, y * SIDE + x),
    ...given,
  })
}

/** Equal to nine digits, also where the expected number is large or 0. */
function assertClose(actual: number | null | undefined, expected: number | null, what: string): void {
  const distance = Math.abs((actual ?? Number.NaN) - (expected ?? Number.NaN))
  assert.ok(distance <= 1e-9 * Math.max(1, Math.abs(expected ?? 0)), `${what}: ${actual} is not ${expected}`)
}

function assertSummary(actual: Summary | undefined, name: string): void {
  const expected = reference.cases[name] ?? assert.fail(name)
  for (const key of ['count', 'min', 'max', 'mean', 'std', 'sum'] as const) assertClose(actual?.[key], expected[key], `${name} ${key}`)
  expected.percentiles.forEach((value, i) => assertClose(actual?.percentiles[i], value, `${name} percentile ${reference.percentiles[i]}`))
  expected.histogram.counts.forEach((value, i) => assertClose(actual?.histogram.counts[i], value, `${name} bin ${i}`))
  expected.histogram.edges.forEach((value, i) => assertClose(actual?.histogram.edges[i], value, `${name} edge ${i}`))
}

test('statistics of every sample type equal numpy', async () => {
  for (const kind of ['uint8', 'uint16', 'int16', 'float32', 'float64'] as const) {
    const { nodata = null } = reference.cases[kind] ?? {}
    const statistics = await computeStatistics(raster(kind, { nodata }), OPTIONS)
    assertSummary(statistics.bands[0], kind)
    const { count = 0, validFraction } = statistics.bands[0] ?? {}
    assertClose(validFraction, count / (SIDE * SIDE), 'valid fraction')
  }
})

test('percentiles and histograms equal those of sorted samples, whatever the samples', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: -20, max: 20 }),
    fc.constantFrom(0, -0, 5e-324, -1.7e308, 1.7e308, 0.1, 0.30000000000000004),
  )
  const range = fc.option(fc.tuple(fc.integer({ min: -10, max: 0 }), fc.integer({ min: 0, max: 15 })), { nil: undefined })
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 9 }), range, (list, binCount, binRange) => {
      const percentiles = [0, 2, 37.5, 50, 98, 100]
      const summary = summarizeSamples(
        { values: Float64Array.from(list), weights: null, count: list.length },
        { percentiles, binCount, binRange },
      )
      const sorted = Float64Array.from(list).sort()
      const expected = percentiles.map((percentile) => {
        const place = (percentile / 100) * (sorted.length - 1)
        const lower = sorted[Math.floor(place)]!
        return lower + (sorted[Math.ceil(place)]! - lower) * (place - Math.floor(place))
      })
      assert.deepEqual(
        summary.percentiles.map((value) => value! + 0),
        expected.map((value) => value + 0),
      )
      const { edges, counts } = summary.histogram
      const inBin = (k: number) =>
        list.filter((value) => value >= edges[k]! && (k === binCount - 1 ? value <= edges[k + 1]! : value < edges[k + 1]!)).length
      assert.deepEqual(
        counts,
        counts.map((_, k) => inBin(k)),
      )
    }),
    { numRuns: campaign({ short: 100, long: 500 }) },
  )
})

test('blocks and runs of a polygon contain the pixels of its mask', async () => {
  const place = fc.tuple(fc.double({ min: 9.9, max: 10.9, noNaN: true }), fc.double({ min: 49.1, max: 50.1, noNaN: true }))
  const kind = fc.constantFrom('uint8' as const, 'int16' as const, 'float32' as const)
  const hole = (x: number, y: number) => ((x * 5 + y * 3) % 7 === 0 ? 0 : 255)
  await fc.assert(
    fc.asyncProperty(place, place, place, kind, fc.boolean(), async (a, b, c, dataType, isMasked) => {
      const value = (x: number, y: number) => ((x * 31 + y * 17) % 120) - (dataType === 'uint8' ? 0 : 60)
      const source = raster(dataType, {
        nodata: 7,
        bandCount: 3,
        value: (x, y, band) => value(x, y) + band,
        ...(isMasked ? { mask: hole } : {}),
      })
      const geometry = { type: 'Polygon', coordinates: [[a, b, c, a]] }
      const inside = rasterizeMask(toPixels(source.info, readPolygons(geometry)), { width: SIDE, height: SIDE })
      const pixels = [...inside.keys()].filter((i) => inside[i] !== 0).map((i) => [i % SIDE, Math.floor(i / SIDE)] as const)
      const kept = (band: number) =>
        pixels
          .filter(([x, y]) => !isMasked || hole(x, y) !== 0)
          .map(([x, y]) => value(x, y) + band)
          .filter((sample) => sample !== 7)
      const statistics = await computeStatistics(source, { geometry }).catch((error: unknown) => error)
      if (statistics instanceof RasterError) return assert.equal(pixels.length, 0)
      const { pixelCount, bands } = statistics as Awaited<ReturnType<typeof computeStatistics>>
      assert.equal(pixelCount, pixels.length)
      assert.deepEqual(
        bands.map(({ count, sum }) => [count, sum]),
        [0, 1, 2].map((band) => [kept(band).length, kept(band).reduce((sum, sample) => sum + sample, 0)]),
      )
    }),
    { numRuns: campaign({ short: 40, long: 150 }) },
  )
})

test('weighted statistics equal numpy, for numbers and for counted bytes', () => {
  const indices = Array.from({ length: SIDE * SIDE }, (_, i) => i)
  const weightOf = (i: number): number => ((i * 31) % 17) / 16
  const kept = indices.filter((i) => weightOf(i) > 0)
  const weights = Float64Array.from(kept, weightOf)
  assertSummary(
    summarizeSamples({ values: Float64Array.from(kept, (i) => sample('float64', i)), weights, count: kept.length }, OPTIONS),
    'weighted',
  )
  const bins = new Float64Array(256)
  for (const i of kept) bins[sample('uint8', i)] = bins[sample('uint8', i)]! + weightOf(i)
  assertSummary(
    summarizeCounts({ values: Float64Array.from(bins, (_, i) => i), weights: bins, count: 256 }, true, OPTIONS),
    'weighted_uint8',
  )
})

test('an expression is described where it is finite', async () => {
  const two = raster('uint16', { bandCount: 2, value: (x, y, band) => sample(band === 0 ? 'uint16' : 'uint8', y * SIDE + x) })
  const statistics = await computeStatistics(two, { ...OPTIONS, expression: 'b1 / b2' })
  assertSummary(statistics.bands[0], 'expression')
})

const box = (west: number, south: number, east: number, north: number): unknown => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

test('over a polygon, a pixel counts if its centre is inside, or by its covered fraction', async () => {
  const columns = raster('float32', { value: (x) => x })
  // From beyond the middle of column 10 to three quarters of column 12, all of rows 20 and 21.
  const geometry = box(10.106, 49.78, 10.1275, 49.8)
  const whole = (await computeStatistics(columns, { geometry })).bands[0]
  assert.deepEqual([whole?.min, whole?.max, whole?.count], [11, 12, 4])
  const exact = await computeStatistics(columns, { geometry, exactCoverage: true })
  assertClose(exact.bands[0]?.count, 4.3, 'covered pixels')
  assertClose(exact.bands[0]?.mean, (10 * 0.4 + 11 + 12 * 0.75) / 2.15, 'weighted mean')
  assertClose(exact.bands[0]?.validFraction, 1, 'valid fraction')
  await assert.rejects(computeStatistics(columns, { geometry: box(30, 10, 31, 11) }), RasterError)
})

test('each band has its own mask, and a band without data has no numbers', async () => {
  const two = raster('float32', { bandCount: 2, value: (x, _y, band) => (band === 0 ? x : Number.NaN) })
  const { bands } = await computeStatistics(two)
  assert.equal(bands[0]?.validFraction, 1)
  assert.deepEqual([bands[1]?.count, bands[1]?.mean, bands[1]?.percentiles], [0, null, [null, null]])
})

test('the smallest sufficient overview is read, and scale and offset apply', async () => {
  const large = raster('int16', { width: 4000, height: 3000, overviews: [2, 4, 8], value: () => 10, scale: -0.5, offset: 3 })
  const statistics = await computeStatistics(large, { minSidePx: 512, unscale: true })
  assert.equal(statistics.level, 2, '500 pixels would be too few, 1000 are enough')
  assert.equal(statistics.bands[0]?.mean, -2)
  assert.equal((await computeStatistics(large, { maxPixels: 1_000_000 })).level, 2)
  await assert.rejects(computeStatistics(large, { maxPixels: 1000 }), /too large/)
})

test('invalid options are rejected', async () => {
  for (const options of [{ percentiles: [101] }, { binCount: 0 }, { bands: [2] }, { bands: [0] }, { expression: 'b9' }, { geometry: {} }]) {
    await assert.rejects(computeStatistics(raster('uint8'), options), RasterError)
  }
})
