// Goal: areas are rasterized exactly: by pixel centre or by covered fraction.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { RasterError } from '#raster/types.ts'
import { mapPolygons, readPolygons, type Polygon, type Ring } from './polygon.ts'
import { rasterizeCoverage, rasterizeMask } from './rasterize.ts'

const SIZE = { width: 24, height: 18 }
const square = (x0: number, y0: number, x1: number, y1: number): Ring => [
  [x0, y0],
  [x1, y0],
  [x1, y1],
  [x0, y1],
  [x0, y0],
]
const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0)
const area = (ring: Ring): number =>
  Math.abs(ring.slice(1).reduce((total, [x, y], i) => total + (ring[i]?.[0] ?? 0) * y - x * (ring[i]?.[1] ?? 0), 0)) / 2

test('a pixel is inside if its centre is', () => {
  const mask = rasterizeMask([[square(1.4, 1.4, 4.6, 3.4), square(2, 2, 3, 3)]], { width: 6, height: 5 })
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((row) => [...mask.subarray(row * 6, row * 6 + 6)].map((value) => (value ? 'x' : '.')).join('')),
    ['......', '.xxxx.', '.x.xx.', '......', '......'],
  )
})

test('coverage is the exact fraction of each pixel', () => {
  const coverage = rasterizeCoverage([[square(1.25, 1.5, 3.5, 3)]], { width: 5, height: 4 })
  assert.deepEqual([...coverage.subarray(5, 10)], [0, 0.375, 0.5, 0.25, 0])
  assert.deepEqual([...coverage.subarray(10, 15)], [0, 0.75, 1, 0.5, 0])
})

test('coverage adds up to the area, whatever the triangle and its direction', () => {
  const coordinate = (most: number) => fc.double({ min: 0, max: most, noNaN: true })
  const corner = fc.tuple(coordinate(SIZE.width), coordinate(SIZE.height))
  fc.assert(
    fc.property(corner, corner, corner, (a, b, c) => {
      const ring: Ring = [a, b, c, a]
      const total = sum(rasterizeCoverage([[ring]], SIZE))
      assert.ok(Math.abs(total - area(ring)) < 1e-9, `${total} for ${area(ring)}`)
    }),
    // An edge so steep that its width is below the smallest normal number once left the window by rounding.
    {
      numRuns: 2000,
      examples: [
        [
          [0, 1.111813426017532],
          [2.650564556668237e-309, 0],
          [0, 0],
        ],
      ],
    },
  )
})

test('areas are clipped exactly to the window', () => {
  const diamond: Ring = [
    [-3, 9],
    [12, -6],
    [27, 9],
    [12, 24],
    [-3, 9],
  ]
  const inside = sum(rasterizeCoverage([[diamond]], SIZE))
  const brute = bruteForce([[diamond]])
  assert.ok(Math.abs(inside - brute) < 0.2, `${inside} against ${brute}`)
  assert.equal(sum(rasterizeCoverage([[square(-5, -5, 40, 40)]], SIZE)), SIZE.width * SIZE.height)
  assert.equal(sum(rasterizeCoverage([[square(30, 2, 40, 9)]], SIZE)), 0)
  assert.ok(Math.abs(sum(rasterizeCoverage([[square(-5, 2, 3.5, 9)]], SIZE)) - 24.5) < 1e-9)
})

function bruteForce(polygons: Polygon[]): number {
  const fine = 20
  const scaled = polygons.map((polygon) => polygon.map((ring) => ring.map(([x, y]): [number, number] => [x * fine, y * fine])))
  return rasterizeMask(scaled, { width: SIZE.width * fine, height: SIZE.height * fine }).filter((value) => value > 0).length / fine ** 2
}

test('holes and several polygons count once', () => {
  const polygons = [[square(2, 2, 10, 10), square(4, 4, 6.5, 6)], [square(12, 1, 14, 3).toReversed()]]
  assert.ok(Math.abs(sum(rasterizeCoverage(polygons, SIZE)) - (64 - 5 + 4)) < 1e-9)
})

test('long edges are subdivided to follow curves, and positions that cannot be projected are rejected', () => {
  const [[ring = []] = []] = mapPolygons([[square(0, 0, 10, 10)]], ([x, y]) => [x, y * y], 0.5)
  assert.equal(ring.length, 81)
  assert.throws(() => mapPolygons([[square(0, 0, 1, 1)]], () => [Number.NaN, 0], 1), RasterError)
})

test('only polygons with finite positions and closed rings are accepted', () => {
  const ring = square(0, 0, 1, 1)
  assert.equal(readPolygons({ type: 'Polygon', coordinates: [ring.slice(0, 4)] })[0]?.[0]?.length, 5)
  assert.equal(readPolygons({ type: 'Feature', geometry: { type: 'MultiPolygon', coordinates: [[ring], [ring]] } }).length, 2)
  const wrong = [
    null,
    'x',
    {},
    { type: 'Point', coordinates: [0, 0] },
    { type: 'Polygon', coordinates: [] },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 'a'],
          [1, 1],
          [0, 0],
        ],
      ],
    },
  ]
  for (const geometry of wrong) assert.throws(() => readPolygons(geometry), RasterError)
})
