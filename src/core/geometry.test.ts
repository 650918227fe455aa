import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_VERTICES, requireArea, requireGeometry } from './geometry.ts'
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

// Goal: what passes can be computed with; what does not is refused with a reason that a person understands.
test('areas that are refused', () => {
  const cases: [unknown, RegExp][] = [
    [null, /must be a GeoJSON Polygon or MultiPolygon/],
    [{ type: 'Point', coordinates: [0, 0] }, /must be a GeoJSON/],
    [{ type: '__proto__', coordinates: [] }, /must be a GeoJSON/],
    [polygon(), /without rings|no coordinates/],
    [{ type: 'MultiPolygon', coordinates: [] }, /no coordinates/],
    [
      polygon([
        [0, 0],
        [1, 1],
        [0, 0],
      ]),
      /fewer than 4/,
    ],
    [
      polygon([
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 1],
      ]),
      /not closed/,
    ],
    [
      polygon([
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [0, 0],
      ]),
      /crosses itself/,
    ],
    [
      polygon([
        [0, 0],
        [181, 0],
        [1, 1],
        [0, 0],
      ]),
      /not on the Earth/,
    ],
    [
      polygon([
        [0, 0],
        [1, 91],
        [1, 1],
        [0, 0],
      ]),
      /not on the Earth/,
    ],
    [
      polygon([
        [0, 0],
        [1, '1'],
        [1, 1],
        [0, 0],
      ]),
      /not \[longitude, latitude\]/,
    ],
    [
      polygon([
        [0, 0],
        [1, Number.NaN],
        [1, 1],
        [0, 0],
      ]),
      /not \[longitude, latitude\]/,
    ],
    [polygon(SQUARE, 'x'), /not a list of positions/],
  ]
  for (const [value, reason] of cases) assert.match(refusal(value), reason)
})

test('areas that pass', () => {
  assert.equal(refusal(polygon(SQUARE)), 'none')
  assert.equal(refusal(polygon(SQUARE.map(([x, y]) => [x, y, 100]))), 'none')
  assert.equal(refusal({ type: 'MultiPolygon', coordinates: [[SQUARE], [SQUARE.map(([x, y]) => [x! + 5, y!])]] }), 'none')
})

// Goal: the vertex limit counts every ring, so holes and parts cannot get around it (docs/threats.md, row 23).
test('the 1,000th vertex is refused, wherever it is', () => {
  assert.equal(refusal(polygon(circle(MAX_VERTICES))), 'none')
  assert.match(refusal(polygon(circle(MAX_VERTICES + 1))), /more than 999/)
  assert.match(refusal(polygon(circle(990), circle(10, 0.5))), /more than 999/)
  assert.match(refusal({ type: 'MultiPolygon', coordinates: [[circle(500)], [circle(500)]] }), /more than 999/)
})

test('no value whatever makes it throw anything but a refusal', () => {
  fc.assert(fc.property(fc.anything(), (value) => typeof refusal(value) === 'string'))
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.array(fc.double(), { maxLength: 4 }), { maxLength: 8 }), { maxLength: 3 }),
      (rings) => typeof refusal(polygon(...rings)) === 'string',
    ),
  )
})

// Goal: items may be points and lines too, under the same limits.
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
