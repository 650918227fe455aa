// Goal: coordinates in every notation are those of PROJ, and grid lines are few, round and where their labels say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { definitionOf, dms, formatPlace, loadConverter, projectionFor, utmZone } from '../../packages/console/src/map/crs.ts'
import type { Box, Position } from '../../packages/console/src/map/geo.ts'
import { decimalStep, gridLines } from '../../packages/console/src/map/graticule.ts'
import { epsgOf } from '../../packages/console/src/screens/viewer/item-epsg.ts'

const LOIRE: Position = [2.3, 48.2]
const converter = await loadConverter()
const text = (notation: Parameters<typeof formatPlace>[0], at: Position, epsg: number | null = null) =>
  formatPlace(notation, at, epsg, converter)

test('a place in every notation', () => {
  assert.equal(text('degrees', LOIRE), '48.200000, 2.300000')
  assert.equal(text('dms', LOIRE), '48° 12′ 0.0″ N, 2° 18′ 0.0″ E')
  assert.equal(text('dms', [-0.5, -33.9999999]), '34° 0′ 0.0″ S, 0° 30′ 0.0″ W')
  // By gdaltransform of GDAL.
  assert.equal(text('mercator', LOIRE), 'EPSG:3857 256034.8, 6140192.4')
  assert.equal(text('utm', LOIRE), 'UTM 31N 447985.4, 5338766.7')
  assert.equal(text('item', [137.99, -33.19], 32_753), 'EPSG:32753 778764.2, 6323665.4')
  assert.equal(text('mgrs', LOIRE), '31U DP 47985 38767')
  assert.equal(text('item', LOIRE, 4326), '48.200000, 2.300000')
})

test('a system that cannot be shown has no text', () => {
  assert.equal(text('item', LOIRE, 2154), null)
  assert.equal(text('utm', [0, 85]), null)
  assert.equal(text('mgrs', [0, -81]), null)
  assert.equal(definitionOf(null), null)
  for (const epsg of [32_600, 32_661, 25_827, 7_860]) assert.equal(definitionOf(epsg), null)
})

test('zones are those of the grid, with the exceptions of Norway and Svalbard', () => {
  assert.deepEqual(utmZone([2.3, 48.2]), { zone: 31, isSouth: false })
  assert.deepEqual(utmZone([137.99, -33.19]), { zone: 53, isSouth: true })
  assert.deepEqual(utmZone([5, 60]), { zone: 32, isSouth: false })
  assert.deepEqual(utmZone([8, 78]), { zone: 31, isSouth: false })
  assert.deepEqual(utmZone([180, 0]), { zone: 1, isSouth: false })
  assert.deepEqual(utmZone([-180, 0]), { zone: 1, isSouth: false })
})

test('degrees, minutes and seconds are never 60', () => {
  fc.assert(
    fc.property(fc.double({ min: -180, max: 180, noNaN: true }), (degrees) => {
      const [, minutes, seconds] = dms(degrees, ['E', 'W']).match(/° (\d+)′ ([\d.]+)″/)!
      assert.ok(Number(minutes) < 60 && Number(seconds) < 60)
    }),
  )
})

test('there are few lines, each where its label says', () => {
  const boxes = fc
    .tuple(
      fc.double({ min: -179, max: 170, noNaN: true }),
      fc.double({ min: -70, max: 70, noNaN: true }),
      fc.double({ min: 0.001, max: 8, noNaN: true }),
    )
    .map(([west, south, size]): Box => [west, south, west + size * 1.4, south + size])
  fc.assert(
    fc.property(boxes, (box) => {
      for (const notation of ['degrees', 'dms', 'mercator', 'utm'] as const) {
        const projection = projectionFor(notation, [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2], null, converter)
        const lines = gridLines(box, notation, projection)
        for (const kind of ['x', 'y'] as const) {
          const some = lines.filter((line) => line.kind === kind)
          assert.ok(some.length >= 1 && some.length <= 16, `${some.length} lines of ${notation}`)
          assert.equal(new Set(some.map((line) => line.text)).size, some.length, 'no two have the same label')
        }
        if (notation !== 'degrees') continue
        for (const { kind, text: label, path } of lines) {
          const shown = Number(label.split('°')[0]) * (/[WS]$/.test(label) ? -1 : 1)
          for (const place of path) assert.ok(Math.abs(((((place[kind === 'x' ? 0 : 1] - shown) % 360) + 540) % 360) - 180) < 1e-6)
        }
      }
    }),
    { numRuns: 30 },
  )
})

test('steps are 1, 2 or 5 times a power of ten', () => {
  assert.deepEqual([0.001, 0.012, 1, 9, 11, 2_600].map(decimalStep), [0.0002, 0.005, 0.2, 2, 5, 1_000])
})

test("an item's system is that of its properties or of its first raster", () => {
  assert.equal(epsgOf({ properties: {}, assets: { thumbnail: {}, data: { 'proj:epsg': 32_631 } } }), 32_631)
  assert.equal(epsgOf({ properties: { 'proj:code': 'EPSG:3857' }, assets: {} }), 3857)
  assert.equal(epsgOf({ properties: { 'proj:epsg': null }, assets: {} }), null)
  assert.equal(epsgOf(undefined), null)
})
