import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AreaGeometry, Position } from './geometry.ts'
import { convexHull, convexRing, polygonWkt, readWkt } from './wkt.ts'

const SQUARE: Position[] = [
  [0, 0],
  [2, 0],
  [2, 2],
  [0, 2],
  [0, 0],
]
const HOLE: Position[] = [
  [0.5, 0.5],
  [1, 1],
  [1, 0.5],
  [0.5, 0.5],
]
const polygon = (...coordinates: Position[][]): AreaGeometry => ({ type: 'Polygon', coordinates })

// Goal: areas survive WKT, and nothing else is taken for one.
test('polygons are written and read', () => {
  assert.equal(polygonWkt([SQUARE]), 'POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))')
  assert.deepEqual(readWkt(polygonWkt([SQUARE, HOLE])), polygon(SQUARE, HOLE))
  assert.deepEqual(
    readWkt('polygon((-1.5e1 2.25,3 4,5 6,-1.5e1 2.25))'),
    polygon([
      [-15, 2.25],
      [3, 4],
      [5, 6],
      [-15, 2.25],
    ]),
  )
  assert.deepEqual(
    readWkt('SRID=4326;POLYGON Z ((0 0 9, 2 0 9, 2 2 9, 0 0 9))'),
    polygon([
      [0, 0],
      [2, 0],
      [2, 2],
      [0, 0],
    ]),
  )
  assert.deepEqual(readWkt('MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))')?.type, 'MultiPolygon')
  for (const text of [
    '',
    'POINT (1 2)',
    'POLYGON EMPTY',
    'POLYGON ((1 2, 3))',
    'POLYGON (1 2, 3 4)',
    'POLYGON ((a b))',
    'MULTIPOLYGON ((0 0))',
  ])
    assert.equal(readWkt(text), null, text)
})

// Goal: what is convex is recognized, in either direction and with straight corners, and a hull is convex and contains everything.
test('convex polygons and hulls', () => {
  assert.deepEqual(convexRing(polygon(SQUARE)), SQUARE)
  assert.ok(convexRing(polygon(SQUARE.toReversed())))
  assert.ok(
    convexRing(
      polygon([
        [0, 0],
        [1, 0],
        [2, 0],
        [2, 2],
        [0, 2],
        [0, 0],
      ]),
    ),
    'a straight corner',
  )
  assert.equal(convexRing(polygon(SQUARE, HOLE)), null, 'a hole')
  assert.equal(convexRing({ type: 'MultiPolygon', coordinates: [[SQUARE], [HOLE]] }), null, 'two parts')
  const dented = polygon([
    [0, 0],
    [2, 0],
    [1, 1],
    [2, 2],
    [0, 2],
    [0, 0],
  ])
  assert.equal(convexRing(dented), null)
  assert.deepEqual(convexHull(dented), SQUARE)
  assert.ok(
    convexRing(
      polygon(
        convexHull({
          type: 'MultiPolygon',
          coordinates: [
            [SQUARE],
            [
              [
                [5, 5],
                [6, 5],
                [6, 6],
                [5, 5],
              ],
            ],
          ],
        }),
      ),
    ),
  )
})
