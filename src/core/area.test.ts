// Goal: areas are those of the ellipsoid, and a clipped shape is exactly what two shapes share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clipToConvex, sqKmOf } from './area.ts'
import type { AreaGeometry, Position } from './geometry.ts'

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

test('what two boxes share', () => {
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
      const found = clipToConvex(a, turned ? ring(b).toReversed() : ring(b))
      assert.ok(Math.abs((found ? sqKmOf(found) : 0) - expected) < 1e-5 + expected * 1e-9)
    }),
  )
})
