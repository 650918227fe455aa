// Goal: areas are those on the ellipsoid, and a clipped shape is exactly the intersection of two shapes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clipToConvex, sqKmOf } from './area.ts'
import { dice } from '../../test/support/geometries.ts'
import { requireArea, type AreaGeometry, type Position } from './geometry.ts'
import { commonOf } from './overlay.ts'

const box = (west: number, south: number, east: number, north: number): AreaGeometry & { type: 'Polygon' } => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

test('areas of the ellipsoid', () => {
  // The Earth has 510.0656 million square kilometres; a degree at the equator 12,309 (Karney's GeographicLib: 12308.78).
  assert.ok(Math.abs(sqKmOf(box(-180, -90, 180, 90)) / 510_065_621.7 - 1) < 1e-6)
  assert.ok(Math.abs(sqKmOf(box(0, 0, 1, 1)) / 12_308.78 - 1) < 1e-3)
  assert.equal(sqKmOf(box(0, 0, 1, 1)), sqKmOf({ type: 'Polygon', coordinates: [box(0, 0, 1, 1).coordinates[0]!.toReversed()] }))
  const holed: AreaGeometry = { type: 'Polygon', coordinates: [box(0, 0, 2, 2).coordinates[0]!, box(0.5, 0.5, 1, 1).coordinates[0]!] }
  assert.ok(Math.abs(sqKmOf(holed) - sqKmOf(box(0, 0, 2, 2)) + sqKmOf(box(0.5, 0.5, 1, 1))) < 1e-6)
})

test('the intersection of two boxes', () => {
  const ring = (shape: AreaGeometry & { type: 'Polygon' }) => shape.coordinates[0] as Position[]
  assert.equal(clipToConvex(box(0, 0, 1, 1), ring(box(2, 2, 3, 3))), null)
  assert.equal(clipToConvex(box(0, 0, 1, 1), ring(box(1, 0, 2, 1))), null)
  const side = fc.tuple(fc.double({ min: -20, max: 20, noNaN: true }), fc.double({ min: 0.01, max: 20, noNaN: true }))
  fc.assert(
    fc.property(side, side, side, side, fc.boolean(), ([x1, w1], [y1, h1], [x2, w2], [y2, h2], turned) => {
      const [a, b] = [box(x1, y1, x1 + w1, y1 + h1), box(x2, y2, x2 + w2, y2 + h2)]
      const west = Math.max(x1, x2)
      const south = Math.max(y1, y2)
      const east = Math.min(x1 + w1, x2 + w2)
      const north = Math.min(y1 + h1, y2 + h2)
      const expected = west < east && south < north ? sqKmOf(box(west, south, east, north)) : 0
      const clipped = clipToConvex(a, turned ? ring(b).toReversed() : ring(b))
      assert.ok(Math.abs((clipped ? sqKmOf(clipped) : 0) - expected) < 1e-5 + expected * 1e-9)
    }),
  )
})

// Goal: clipping a shape to a convex window gives a valid shape, with the area that an independent overlay computes.
test('valid shapes in convex windows', () => {
  const window = [
    [-2.1, -1.3],
    [2.7, -1.9],
    [2.2, 2.4],
    [-1.8, 1.6],
    [-2.1, -1.3],
  ] as Position[]
  const next = dice(12)
  let cut = 0
  for (let nth = 0; nth < 300; nth++) {
    const corners = 5 + Math.floor(next() * 30)
    const isFar = nth % 2 === 1
    const ring = Array.from({ length: corners }, (_, i): Position => {
      const [angle, reach] = [(2 * Math.PI * (i + 0.8 * next())) / corners, 0.6 + 3 * next()]
      return [(isFar ? 4 : 2.6) + reach * Math.cos(angle), 0.5 + reach * Math.sin(angle)]
    })
    const hole = [
      [2.35, 0.45],
      [2.65, 0.4],
      [2.7, 0.65],
      [2.35, 0.45],
    ] as Position[]
    const shape = requireArea({ type: 'Polygon', coordinates: isFar ? [[...ring, ring[0]!]] : [[...ring, ring[0]!], hole] }, 'shape')
    const [clipped, expected] = [clipToConvex(shape, window), commonOf(shape, { type: 'Polygon', coordinates: [window] })]
    assert.equal(clipped === null, expected === null)
    if (!clipped || !expected) continue
    requireArea(clipped, 'clipped')
    assert.ok(Math.abs(sqKmOf(clipped) / sqKmOf(expected) - 1) < 1e-6, `${sqKmOf(clipped)} is not ${sqKmOf(expected)}`)
    if (clipped.type === 'MultiPolygon') cut++
  }
  assert.ok(cut > 20, 'some are split into pieces')
})
