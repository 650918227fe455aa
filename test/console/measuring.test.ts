// Goal: distances, bearings and areas are those of GeographicLib, and what was measured survives its way through an address.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Position } from '../../packages/console/src/map/geo.ts'
import { alongGlobe, distanceM, inverse, lengthM } from '../../packages/console/src/map/geodesic.ts'
import { formatPath, MAX_PATH_POINTS, measure, parsePath, polygonOf } from '../../packages/console/src/map/path.ts'
import { extentOf, linePath } from '../../packages/console/src/screens/viewer/profile-scale.ts'

/** Geodesic.WGS84.Inverse of GeographicLib 2.1. */
const KNOWN: readonly (readonly [Position, Position, number, number])[] = [
  [[137.99, -33.19], [138.01, -33.18], 2_169.9889, 59.268463],
  [[0, 0], [1, 0], 111_319.4908, 90],
  [[0, 0], [0, 1], 110_574.3886, 0],
  [[2.3, 48.2], [2.32, 48.212], 1_997.5708, 48.081403],
  [[144.424868, -37.951033], [143.926496, -37.652821], 54_972.2273, 306.868154],
  [[10, 60], [18.4, -33.9], 10_435_269.0758, 172.995444],
  [[-73.8, 40.6], [-0.5, 51.6], 5_551_759.4003, 51.198883],
  [[174.81, -41.32], [-5.5, 40.96], 19_959_679.2674, 161.06767],
  [[179.9, 10], [-179.9, 10.2], 31_143.292, 44.721609],
  [[0, 89], [180, 89], 223_387.7298, 0],
]

const places = fc.tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -89, max: 89, noNaN: true }))

test('distances and bearings are those of GeographicLib, to a millimetre', () => {
  for (const [from, to, expectedM, bearing] of KNOWN) {
    const found = inverse(from, to)
    assert.ok(Math.abs(found.distanceM - expectedM) < 1e-3, `${found.distanceM} is not ${expectedM}`)
    assert.ok(Math.abs(((found.bearing - bearing + 540) % 360) - 180) < 1e-4, `${found.bearing} is not ${bearing}`)
  }
})

test('areas and perimeters are those of GeographicLib', () => {
  const box: Position[] = [
    [2.3, 48.2],
    [2.32, 48.2],
    [2.32, 48.212],
    [2.3, 48.212],
  ]
  const triangle: Position[] = [
    [137.9, -33.2],
    [138.1, -33.2],
    [138, -33],
  ]
  for (const [points, perimeterM, areaM2] of [
    [box, 5_641.77505, 1_983_558.6],
    [triangle, 66_779.23586, 206_863_701.9],
  ] as const) {
    const found = measure(points, true)
    assert.ok(Math.abs(found.lengthM - perimeterM) < 1e-2, `${found.lengthM} is not ${perimeterM}`)
    assert.ok(Math.abs(found.areaM2 / areaM2 - 1) < 1e-5, `${found.areaM2} is not ${areaM2}`)
  }
})

test('a shape across the antimeridian is as large as the same shape elsewhere', () => {
  const shape = (x: number): Position[] =>
    [
      [x - 0.1, 10],
      [x + 0.1, 10],
      [x + 0.1, 10.1],
    ].map(([a, b]) => [((a! + 540) % 360) - 180, b!])
  const [here, across] = [measure(shape(20), true), measure(shape(180), true)]
  assert.ok(Math.abs(across.areaM2 / here.areaM2 - 1) < 1e-9)
  assert.ok(Math.abs(across.lengthM / here.lengthM - 1) < 1e-9)
})

test('a distance is the same in both directions, and no way through a third place is shorter', () => {
  fc.assert(
    fc.property(places, places, places, (a, b, c) => {
      assert.ok(Math.abs(distanceM(a, b) - distanceM(b, a)) < 1e-3)
      assert.ok(distanceM(a, c) + distanceM(c, b) >= distanceM(a, b) * 0.994)
    }),
  )
})

test('a line on the globe is as long as its ends are apart, and never jumps', () => {
  fc.assert(
    fc.property(places, places, (from, to) => {
      fc.pre(distanceM(from, to) < 18e6)
      const line = alongGlobe([from, to])
      assert.ok(Math.abs(lengthM(line) - distanceM(from, to)) < 1 + distanceM(from, to) * 1e-4)
      for (const [index, [x]] of line.slice(1).entries()) assert.ok(Math.abs(x - line[index]![0]) <= 180)
    }),
  )
})

test('places survive their way through an address; other text is left out', () => {
  fc.assert(
    fc.property(fc.array(places, { maxLength: 20 }), (points) => {
      const read = parsePath(formatPath(points))
      assert.equal(read.length, points.length)
      for (const [index, place] of read.entries()) assert.ok(distanceM(place, points[index]!) < 0.2)
    }),
  )
  assert.deepEqual(parsePath(undefined), [])
  assert.deepEqual(parsePath('1,2;x;3;4,5,6;,;181,0;0,91;7,8'), [
    [1, 2],
    [7, 8],
  ])
  assert.equal(parsePath(Array.from({ length: 200 }, () => '1,2').join(';')).length, MAX_PATH_POINTS)
})

test('two places enclose nothing', () => {
  assert.equal(
    polygonOf([
      [1, 1],
      [2, 2],
    ]),
    null,
  )
  assert.deepEqual(measure([], true), { lengthM: 0, areaM2: 0, bearing: null })
  assert.deepEqual(measure([[1, 1]], false), { lengthM: 0, areaM2: 0, bearing: null })
})

test('a profile is interrupted where there is no data', () => {
  const samples = [1, null, 3, 2].map((value, index) => ({ distance_m: index * 10, values: [value] }))
  assert.deepEqual(extentOf(samples), { low: 1, high: 3 })
  assert.equal(linePath(samples, 0, { low: 1, high: 3 }, { width: 300, height: 100 }), 'M0.0 100.0M200.0 0.0L300.0 50.0')
  assert.equal(extentOf([{ values: [null] }]), null)
  assert.deepEqual(extentOf([{ values: [5] }]), { low: 4, high: 6 })
})
