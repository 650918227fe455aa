import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { faultyGeometries, randomGeometries } from '../../test/support/geometries.ts'
import { sqKmOf } from './area.ts'
import { MAX_VERTICES, requireArea, requireGeometry, requireUnsplit, type Position } from './geometry.ts'
import { Problem } from './problem.ts'

const polygon = (...rings: unknown[]) => ({ type: 'Polygon', coordinates: rings })
const SQUARE = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
]

function refusal(value: unknown): string {
  try {
    requireArea(value, 'geometry')
    return 'none'
  } catch (error) {
    assert.ok(error instanceof Problem)
    assert.equal(error.status, 422)
    return error.message
  }
}

/** A regular polygon with `count` positions, the closing one included. */
const circle = (count: number, radius = 1) =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * (i % (count - 1))) / (count - 1)
    return [radius * Math.cos(angle), radius * Math.sin(angle)]
  })

// Goal: valid areas can be used in computations; others are rejected with a message that a user understands.
test('areas that are rejected', () => {
  const cases: [unknown, RegExp][] = [
    [null, /must be a GeoJSON Polygon or MultiPolygon/],
    [{ type: 'Point', coordinates: [0, 0] }, /must be a GeoJSON/],
    [{ type: '__proto__', coordinates: [] }, /must be a GeoJSON/],
    [polygon(), /must have a ring in polygon 1/],
    [{ type: 'MultiPolygon', coordinates: [] }, /must have coordinates/],
    [
      polygon([
        [0, 0],
        [1, 1],
        [0, 0],
      ]),
      /at least 4/,
    ],
    [
      polygon([
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 1],
      ]),
      /polygon 1, outer ring is not closed at \[0, 1\]/,
    ],
    [
      polygon([
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [0, 0],
      ]),
      /polygon 1, outer ring crosses itself at \[0.5, 0.5\]/,
    ],
    [
      polygon([
        [0, 0],
        [181, 0],
        [1, 1],
        [0, 0],
      ]),
      /out of range/,
    ],
    [
      polygon([
        [0, 0],
        [1, 91],
        [1, 1],
        [0, 0],
      ]),
      /out of range/,
    ],
    [
      polygon([
        [0, 0],
        [1, '1'],
        [1, 1],
        [0, 0],
      ]),
      /of the form \[longitude, latitude\]/,
    ],
    [
      polygon([
        [0, 0],
        [1, Number.NaN],
        [1, 1],
        [0, 0],
      ]),
      /of the form \[longitude, latitude\]/,
    ],
    [polygon(SQUARE, 'x'), /polygon 1, hole 1 must be a list of positions/],
  ]
  for (const [value, reason] of cases) assert.match(refusal(value), reason)
})

test('areas that pass', () => {
  assert.equal(refusal(polygon(SQUARE)), 'none')
  assert.equal(refusal(polygon(SQUARE.map(([x, y]) => [x, y, 100]))), 'none')
  assert.equal(refusal({ type: 'MultiPolygon', coordinates: [[SQUARE], [SQUARE.map(([x, y]) => [x! + 5, y!])]] }), 'none')
})

// Goal: the vertex limit counts every ring, so holes and parts cannot bypass it (docs/threats.md, row 23).
test('the 1,000th vertex is rejected, wherever it is', () => {
  assert.equal(refusal(polygon(circle(MAX_VERTICES))), 'none')
  assert.match(refusal(polygon(circle(MAX_VERTICES + 1))), /at most 999/)
  assert.match(refusal(polygon(circle(990), circle(10, 0.5))), /at most 999/)
  assert.match(refusal({ type: 'MultiPolygon', coordinates: [[circle(500)], [circle(500)]] }), /at most 999/)
})

test('no value makes it throw anything but a validation error', () => {
  fc.assert(fc.property(fc.anything(), (value) => typeof refusal(value) === 'string'))
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.array(fc.double(), { maxLength: 4 }), { maxLength: 8 }), { maxLength: 3 }),
      (rings) => typeof refusal(polygon(...rings)) === 'string',
    ),
  )
})

// Goal: items can be points and lines too, under the same limits.
test('geometries of items', () => {
  const line = (count: number) => ({ type: 'LineString', coordinates: Array.from({ length: count }, (_, i) => [i / 100, 1]) })
  for (const fine of [
    { type: 'Point', coordinates: [1, 2, 3] },
    { type: 'MultiPoint', coordinates: [[1, 2]] },
    line(2),
    line(MAX_VERTICES),
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
    polygon(SQUARE),
  ])
    assert.deepEqual(requireGeometry(fine, 'geometry'), fine)
  const halves = { type: 'MultiLineString', coordinates: [line(500).coordinates, line(500).coordinates] }
  const wrong = [
    null,
    5,
    {},
    { type: 'Point' },
    { type: 'Point', coordinates: [1] },
    { type: 'Point', coordinates: [181, 0] },
    { type: 'MultiPoint', coordinates: [] },
    line(1),
    line(MAX_VERTICES + 1),
    halves,
    { type: 'GeometryCollection', geometries: [] },
    { type: 'constructor', coordinates: [] },
  ]
  for (const each of wrong)
    assert.throws(
      () => requireGeometry(each, 'geometry'),
      (error) => error instanceof Problem && error.status === 422,
    )
})

// Goal: repeated points, spikes and winding are corrected, idempotently and without changing the area.
test('repeated points, spikes and winding', () => {
  const geometries = [...randomGeometries(7, 2_000), ...faultyGeometries(100)]
  let valid = 0
  for (const { polygons, family } of geometries) {
    const value = { type: 'MultiPolygon', coordinates: polygons }
    if (refusal(value) !== 'none') continue
    valid++
    const once = requireArea(value, 'geometry')
    assert.deepEqual(requireArea(once, 'geometry'), once, family)
    const turned = { type: 'MultiPolygon', coordinates: polygons.map((rings) => rings.map((ring) => ring.toReversed())) }
    assert.ok(Math.abs(sqKmOf(requireArea(turned, 'geometry')) / sqKmOf(once) - 1) < 1e-9, family)
    for (const [outer, ...holes] of once.coordinates as Position[][][]) {
      assert.ok(signed(outer!) > 0, 'an outer ring runs counter-clockwise')
      for (const hole of holes) assert.ok(signed(hole) < 0, 'a hole runs clockwise')
    }
  }
  assert.ok(valid > 500)
})

const signed = (ring: readonly Position[]): number =>
  ring
    .slice(1)
    .reduce(
      (sum, [x, y], index) =>
        sum + (ring[index]![0] - ring[0]![0]) * (y - ring[0]![1]) - (x - ring[0]![0]) * (ring[index]![1] - ring[0]![1]),
      0,
    )

// Goal: every common fault is reported with its ring and its location.
test('every kind of fault', () => {
  for (const { family, polygons } of faultyGeometries(500)) {
    const message = refusal({ type: 'MultiPolygon', coordinates: polygons })
    assert.match(message, /polygon \d+, (outer ring|hole \d+) .* at \[.*\]$/, family)
  }
})

// Goal: shapes that differ in the last bit of a coordinate are told apart.
test('touching and crossing by one bit', () => {
  const notch = (y: number) =>
    polygon([
      [0, 0],
      [1, 0],
      [1, 1],
      [0.5, y],
      [0, 1],
      [0, 0],
    ])
  assert.equal(refusal(notch(2 ** -60)), 'none')
  assert.match(refusal(notch(0)), /touches itself at \[0.5, 0\]/)
  assert.match(refusal(notch(-(2 ** -60))), /crosses itself/)
})

// Goal: a ring across the antimeridian that is not split is validated as it runs on the Earth.
test('geometries that are not split', () => {
  const follow = (rings: readonly Position[][]) => rings.map((ring) => ring.map(([x, y]): Position => [x < 0 ? x + 360 : x, y]))
  const over = (corner: Position) => polygon([[179, 0], [-179, 0], [-179, 2], corner, [179, 2], [179, 0]])
  assert.deepEqual(requireUnsplit(over([180, 1]), 'geometry', follow), over([180, 1]))
  assert.throws(() => requireUnsplit(over([180, -1]), 'geometry', follow), /outer ring crosses itself at \[-?179/)
  assert.throws(() => requireUnsplit({ type: 'Polygon', coordinates: [] }, 'geometry', follow), /must have a ring/)
})
