import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sqKmOf } from './area.ts'
import { apart, commonOf, crossingsOf, restOf, squareAround, unionOf } from './overlay.ts'
import type { AreaGeometry } from './geometry.ts'

const box = (west: number, south: number, east: number, north: number): AreaGeometry => ({
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

// Goal: parts of an area add up to it, without counting anything twice.
test('overlays', async (t) => {
  await t.test('a square around a position', () => {
    assert.ok(Math.abs(sqKmOf(squareAround([147, -43], 5)) - 25) < 0.2)
  })

  await t.test('covered part and rest add up to the area; a union counts nothing twice', () => {
    const side = fc.double({ min: 0.01, max: 2, noNaN: true })
    const boxes = fc
      .tuple(fc.double({ min: -170, max: 170, noNaN: true }), fc.double({ min: -80, max: 80, noNaN: true }), side, side)
      .map(([x, y, w, h]) => box(x, y, x + w, y + h))
    fc.assert(
      fc.property(boxes, fc.double({ min: -1, max: 1, noNaN: true }), (a, shift) => {
        const [[[west, south], , [east, north]]] = a.coordinates as [[[number, number], unknown, [number, number]]]
        const b = box(west + shift, south + shift / 2, east + shift, north + shift / 2)
        const [common, rest, all] = [commonOf(a, b), restOf(a, commonOf(a, b)), unionOf([a, b])!]
        const size = (area: AreaGeometry | null) => (area ? sqKmOf(area) : 0)
        const whole = size(a)
        assert.ok(Math.abs(size(common) + size(rest) - whole) < whole * 1e-6)
        assert.ok(Math.abs(size(all) - (size(a) + size(b) - size(common))) < whole * 1e-6)
      }),
      { numRuns: 100 },
    )
  })

  await t.test('crossings are counted up to a limit, and disjoint areas are their own union', () => {
    const [flat, tall] = [box(0, 1, 10, 2), box(4, -5, 5, 5)]
    assert.equal(crossingsOf([flat, tall], 100), 4)
    assert.equal(crossingsOf([flat, tall], 2), 3)
    assert.equal(crossingsOf([flat, flat, box(0, 2, 10, 3)], 100), 0, 'common edges and corners split nothing')
    assert.equal(apart([flat, tall]), null)
    assert.deepEqual(apart([flat, box(20, 1, 21, 2)]), {
      type: 'MultiPolygon',
      coordinates: [flat.coordinates, box(20, 1, 21, 2).coordinates],
    })
  })
})
