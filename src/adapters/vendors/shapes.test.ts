import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areaFrom, footprintFrom } from './shapes.ts'

const BOWTIE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [2, 2],
      [2, 0],
      [0, 2],
      [0, 0],
    ],
  ],
}
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [2, 0],
      [2, 2],
      [0, 2],
      [0, 0],
    ],
  ],
}

// Goal: an invalid footprint of a host is replaced and fails no search; an invalid geometry that money depends on is rejected.
test('geometries of hosts', () => {
  assert.deepEqual(footprintFrom(SQUARE, [0, 0, 2, 2]), SQUARE)
  assert.deepEqual(footprintFrom(BOWTIE, [0, 0, 2, 2]), SQUARE, 'its bounding box is valid in any case')
  assert.equal(footprintFrom(BOWTIE, null), null)
  assert.equal(footprintFrom(BOWTIE, [179, 0, -179, 2]), null, 'a box across the antimeridian is not a ring')
  assert.equal(footprintFrom(BOWTIE, [0, 0, 900, 2]), null)
  assert.equal(footprintFrom(null, [0, 0, 2, 2]), null)
  assert.deepEqual(areaFrom({ ...SQUARE, coordinates: [SQUARE.coordinates[0]!.toReversed()] }), SQUARE)
  assert.equal(areaFrom(BOWTIE), null)
})
