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

// Goal: a host's bad footprint costs it its shape and nobody their search; a bad shape that money depends on is not taken.
test('shapes of hosts', () => {
  assert.deepEqual(footprintFrom(SQUARE, [0, 0, 2, 2]), SQUARE)
  assert.deepEqual(footprintFrom(BOWTIE, [0, 0, 2, 2]), SQUARE, 'its box is true in any case')
  assert.equal(footprintFrom(BOWTIE, null), null)
  assert.equal(footprintFrom(BOWTIE, [179, 0, -179, 2]), null, 'a box over the antimeridian is no ring')
  assert.equal(footprintFrom(BOWTIE, [0, 0, 900, 2]), null)
  assert.equal(footprintFrom(null, [0, 0, 2, 2]), null)
  assert.deepEqual(areaFrom({ ...SQUARE, coordinates: [SQUARE.coordinates[0]!.toReversed()] }), SQUARE)
  assert.equal(areaFrom(BOWTIE), null)
})
