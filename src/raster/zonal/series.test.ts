// Goal: a series gives the same result for each scene as the scene alone, on any grid, and a failed scene affects no other.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sliverOf } from '#raster/statistics/area.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { RasterError, type Raster } from '#raster/types.ts'
import { zonalStatistics } from './index.ts'
import { zonalSeries } from './series.ts'

const EXPRESSION = '(b2 - b1) / (b2 + b1)'
const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [10.103, 49.901],
      [10.512, 49.877],
      [10.433, 49.512],
      [10.087, 49.498],
      [10.103, 49.901],
    ],
  ],
}

function scene(number: number, given: Partial<MemoryRasterOptions> = {}): MemoryRaster {
  return new MemoryRaster({
    width: 100,
    height: 100,
    epsg: 4326,
    transform: [10, 0.01, 0, 50, 0, -0.01],
    dataType: 'uint16',
    bandCount: 2,
    blockSize: 32,
    nodata: 0,
    value: (x, y, band) => ((x * 7_919 + y * 104_729 + number * 31) % 997) + band * 500,
    ...given,
  })
}

test('a series equals its scenes one by one', async () => {
  const moved: Partial<MemoryRasterOptions> = { transform: [9.993, 0.01, 0, 50.004, 0, -0.01] }
  const scenes: Raster[] = [
    scene(1),
    scene(2),
    scene(3, moved),
    scene(4),
    scene(5, { ...moved, blockSize: 64 }),
    scene(6, { dataType: 'float32' }),
    scene(7, { transform: [60, 0.01, 0, 10, 0, -0.01] }),
  ]
  const options = { statistics: ['count', 'mean', 'min', 'max', 'std', 'median', 'variety'] as const, percentiles: [10, 90] }
  const points = await zonalSeries(
    scenes.map((raster) => ({ expression: EXPRESSION, open: async () => raster })),
    { geometry: FIELD, ...options },
  )
  for (const [index, raster] of scenes.entries()) {
    const { zones } = await zonalStatistics(raster, { zones: [FIELD], expression: EXPRESSION, ...options })
    assert.deepEqual(points[index], { summary: zones[0]![0]! }, `scene ${index + 1}`)
  }
  assert.ok('summary' in points[0]! && points[0].summary.count > 1_000)
  assert.ok('summary' in points[6]! && points[6].summary.covered === 0)
})

test('a scene that cannot be read has a reason, and an invalid request ends the series', async () => {
  const open = async () => scene(1)
  const broken = async (): Promise<Raster> => {
    throw new RasterError('corrupt', 'half of it is missing')
  }
  const points = await zonalSeries(
    [
      { expression: EXPRESSION, open },
      { expression: EXPRESSION, open: broken },
      { expression: 'b9', open },
      { expression: EXPRESSION, open },
    ],
    { geometry: FIELD },
  )
  assert.deepEqual(
    points.map((point) => ('failure' in point ? point.failure.code : 'fine')),
    ['fine', 'corrupt', 'invalid_argument', 'fine'],
  )
  assert.deepEqual(points[0], points[3])
  await assert.rejects(zonalSeries([{ expression: EXPRESSION, open }], { geometry: FIELD, maxPixels: 10 }), { code: 'limit_exceeded' })
})

test('fractions of a pixel count down to the precision of a float', async () => {
  const raster = scene(1)
  const sliver = sliverOf(raster.info)
  assert.ok(sliver > 1e-12 && sliver < 1e-11, `${sliver}`)
  /** A triangle that reaches from the pixel above a corner into the one at it with a tip of this area. */
  const variety = async (area: number) => {
    const side = Math.sqrt(2 * area) * 0.01
    const [x, y] = [10.5, 49.5]
    const ring = [
      [x - 0.005, y + 0.005 + side],
      [x + 0.005 + side, y - 0.005],
      [x - 0.005, y - 0.005],
      [x - 0.005, y + 0.005 + side],
    ]
    const { zones } = await zonalStatistics(raster, {
      zones: [{ type: 'Polygon', coordinates: [ring] }],
      bands: [1],
      statistics: ['variety'],
    })
    return zones[0]![0]!.values.variety
  }
  assert.equal(await variety(1e-8), 4)
  assert.equal(await variety(1e-14), 3)
})
