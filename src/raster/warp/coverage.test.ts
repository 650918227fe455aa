import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryRaster } from '#raster/testing/memory-raster.ts'
import { coverageOf } from './coverage.ts'
import { fromMercator, toMercator, WORLD_M } from './mercator.ts'

const info = (options: { epsg: number; transform: [number, number, number, number, number, number]; width?: number; height?: number }) =>
  new MemoryRaster({ width: 1_000, height: 800, value: () => 1, ...options }).info

// Goal: a map gets the extent and the useful zoom levels of a raster, for any position, size and resolution.
test('bounds are the raster’s, and a tile’s pixel at the finest zoom is as fine as its own', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -170, max: 170, noNaN: true }),
      fc.double({ min: -70, max: 70, noNaN: true }),
      fc.double({ min: -1, max: 4, noNaN: true }),
      (longitude, latitude, magnitude) => {
        const metres = 10 ** magnitude / 10
        const [x, y] = toMercator(longitude, latitude)
        const { bounds, center, minZoom, maxZoom } = coverageOf(info({ epsg: 3857, transform: [x, metres, 0, y, 0, -metres] }))
        const corners = [...fromMercator(x, y - 800 * metres), ...fromMercator(x + 1_000 * metres, y)]
        bounds.forEach((degrees, side) => assert.ok(Math.abs(degrees - corners[side]!) < 1e-6, `${bounds.join()} ${corners.join()}`))
        const pixel = (zoom: number) => WORLD_M / 256 / 2 ** zoom
        assert.ok(pixel(maxZoom) <= metres * 1.08 || maxZoom === 24, `${pixel(maxZoom)} for ${metres}`)
        assert.ok(pixel(maxZoom - 1) > metres || maxZoom === 0)
        assert.ok(minZoom >= 0 && minZoom <= center[2] && center[2] <= maxZoom)
        assert.ok(minZoom === 0 || (1_000 * metres) / pixel(minZoom) < 130, 'a speck at its lowest zoom')
        assert.ok(center[0] >= bounds[0] && center[0] <= bounds[2] && center[1] >= bounds[1] && center[1] <= bounds[3])
      },
    ),
  )
})

test('known examples', () => {
  const sentinel = coverageOf(info({ epsg: 32_632, transform: [399_960, 10, 0, 5_000_040, 0, -10], width: 10_980, height: 10_980 }))
  assert.deepEqual([sentinel.minZoom, sentinel.maxZoom], [6, 14])
  assert.ok(Math.abs(sentinel.bounds[0] - 7.7) < 0.1 && Math.abs(sentinel.bounds[3] - 45.15) < 0.05)
  const dateline = coverageOf(info({ epsg: 4326, transform: [179, 0.002, 0, -16, 0, -0.002] }))
  assert.deepEqual([dateline.bounds[0], dateline.bounds[2], Math.round(dateline.center[0])], [-180, 180, 180])
  const beyond = coverageOf(info({ epsg: 4326, transform: [181, 0.002, 0, -16, 0, -0.002] }))
  assert.ok(beyond.center[0] < -177 && beyond.center[0] > -179)
  assert.deepEqual([beyond.bounds[0], beyond.bounds[2]], [-179, -177])
  const pole = coverageOf(info({ epsg: 3413, transform: [-400_000, 800, 0, 320_000, 0, -800] }))
  assert.deepEqual([pole.bounds[0], pole.bounds[2]], [-180, 180])
  const world = coverageOf(info({ epsg: 4326, transform: [-180, 0.36, 0, 90, 0, -0.225] }))
  assert.deepEqual([world.bounds[0], world.bounds[2], world.minZoom], [-180, 180, 0])
})

test('a huge raster without overviews is only offered at zooms where a tile can be read', () => {
  const { minZoom, maxZoom } = coverageOf(info({ epsg: 3857, transform: [0, 1, 0, 0, 0, -1], width: 100_000, height: 100_000 }))
  assert.equal(maxZoom, 18)
  assert.equal(minZoom, 13)
  assert.throws(() => coverageOf({ ...info({ epsg: 4326, transform: [0, 1, 0, 0, 0, -1] }), transform: null }), /no georeference/)
})
