// Goal: the size of an area on screen is the one that the service measures and bills; several areas with holes survive an address; and
// single corners can be moved, added and removed without breaking a ring.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sqKmOf } from '#core/area.ts'
import { requireArea } from '#core/geometry.ts'
import * as rings from '../../packages/console/src/map/edit-rings.ts'
import {
  areaFromPolygons,
  areaOf,
  boxPolygon,
  decodeArea,
  decodeAreas,
  encodeArea,
  isWithinLimits,
  polygonsOf,
  simplify,
  vertexCount,
  type AreaShape,
  type Position,
} from '../../packages/console/src/map/geo.ts'

const degrees = (min: number, max: number) => fc.integer({ min: min * 1e5, max: max * 1e5 }).map((value) => value / 1e5)

/** Squares beside each other, some with a hole. */
const areas = fc
  .record({
    at: fc.tuple(degrees(-170, 160), degrees(-80, 80)),
    size: degrees(0.001, 0.5),
    holes: fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
  })
  .map(({ at: [x, y], size, holes }): AreaShape => {
    const round = (value: number) => Math.round(value * 1e5) / 1e5
    const square = (left: number, inset: number) =>
      boxPolygon([round(left + inset), round(y + inset), round(left + size - inset), round(y + size - inset)]).coordinates[0] as Position[]
    return areaFromPolygons(
      holes.map((hasHole, index) => {
        const left = x + index * size * 1.5
        return hasHole && size > 0.01 ? [square(left, 0), square(left, size / 4)] : [square(left, 0)]
      }),
    )!
  })

test('an area is as large as the service says', () => {
  fc.assert(
    fc.property(areas, (area) => {
      const service = sqKmOf(requireArea(area, 'area')) * 1e6
      assert.ok(Math.abs(areaOf(area) - service) <= service * 1e-9 + 1e-3, `${areaOf(area)} is not ${service}`)
    }),
  )
})

test('an address keeps several areas with their holes; the first ring is what older screens read', () => {
  fc.assert(
    fc.property(areas, (area) => {
      const text = encodeArea(area)
      assert.deepEqual(decodeAreas(text), area)
      assert.deepEqual(decodeArea(text)!.coordinates[0], polygonsOf(area)[0]![0])
      assert.match(text, /^[-.?-~]+$/)
    }),
  )
  assert.equal(decodeAreas(Array.from({ length: 11 }, () => encodeArea(boxPolygon([0, 0, 1, 1]))).join('.')), null)
  assert.equal(decodeAreas('x'), null)
  assert.equal(decodeAreas(`${encodeArea(boxPolygon([0, 0, 1, 1]))}.`), null)
})

test('corners are moved, added and removed, and rings stay closed and valid', () => {
  const step = fc.record({
    what: fc.constantFrom('move', 'add', 'remove'),
    which: fc.nat(),
    to: fc.tuple(degrees(-400, 400), degrees(-95, 95)),
  })
  fc.assert(
    fc.property(areas, fc.array(step, { maxLength: 30 }), (start, steps) => {
      let area = start
      for (const { what, which, to } of steps) {
        const corners = rings.cornersIn(area)
        const corner = corners[which % corners.length]!
        const before = vertexCount(area)
        if (what === 'move') area = rings.moveCorner(area, corner, to)
        else if (what === 'add') area = rings.addCornerAfter(area, corner, rings.middleAfter(area, corner))
        else area = rings.removeCorner(area, corner)
        assert.ok(vertexCount(area) - before === (what === 'add' ? 1 : 0) || (what === 'remove' && before - vertexCount(area) <= 1))
        for (const ring of polygonsOf(area).flat()) {
          assert.ok(ring.length >= 4)
          assert.deepEqual(ring[0], ring.at(-1))
          for (const [x, y] of ring) assert.ok(Math.abs(x) <= 180 && Math.abs(y) <= 90)
        }
      }
    }),
  )
})

test('limits count all polygons and the points that close rings, as the service does', () => {
  const circle = (corners: number, at: number): Position[][] => {
    const ring = Array.from({ length: corners }, (_, index): Position => {
      const angle = (index / corners) * 2 * Math.PI
      return [at + Math.cos(angle) / 100, Math.sin(angle) / 100]
    })
    return [[...ring, ring[0]!]]
  }
  assert.equal(isWithinLimits({ type: 'Polygon', coordinates: circle(998, 0) }), true)
  assert.equal(isWithinLimits({ type: 'Polygon', coordinates: circle(999, 0) }), false)
  const two: AreaShape = { type: 'MultiPolygon', coordinates: [circle(700, 0), circle(300, 1)] }
  assert.equal(isWithinLimits(two), false)
  const smaller = simplify(two, 400)
  assert.equal(isWithinLimits(smaller), true)
  assert.deepEqual(
    polygonsOf(smaller).map(([outer]) => outer!.length - 1),
    [280, 120],
  )
  assert.equal(isWithinLimits(boxPolygon([0, 0, 3, 3])), false)
  assert.equal(rings.removePolygon(boxPolygon([0, 0, 1, 1]), 0), null)
})
