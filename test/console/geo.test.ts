// Goal: sizes, boxes and coverage are right, and an area survives its way through an address.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  areaOf,
  boxOf,
  boxPolygon,
  circle,
  cornersOf,
  coverage,
  decodeArea,
  encodeArea,
  MAX_KEPT_VERTICES,
  simplify,
  type Box,
  type Position,
} from '../../packages/console/src/map/geo.ts'

/** Of WGS 84. */
const EARTH_M2 = 510_065_621.724e6
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const near = (actual: number, expected: number, share: number) =>
  assert.ok(Math.abs(actual - expected) <= Math.abs(expected) * share, `${actual} is not ${expected}`)
const polygon = (...coordinates: Position[][]): GeoJSON.Polygon => ({ type: 'Polygon', coordinates })

/** West, south, width and height of boxes that stay on the map. */
const boxes = fc
  .tuple(number(-180, 170), number(-85, 75), number(0.001, 10), number(0.001, 10))
  .map(([west, south, width, height]): Box => [west, south, west + width, south + height])
/** Rings without crossings: corners around a centre, each at its own distance. */
const rings = fc
  .tuple(number(-150, 150), number(-60, 60), fc.array(number(0.1, 5), { minLength: 3, maxLength: 60 }))
  .map(([x, y, distances]) => {
    const corners = distances.map((distance, index): Position => {
      const angle = (index / distances.length) * 2 * Math.PI
      return [x + distance * Math.cos(angle), y + distance * Math.sin(angle)]
    })
    return [...corners, corners[0]!]
  })

/** Area of WGS 84 between the equator and a parallel, for a radian of longitude. */
function zoneM2(latitude: number): number {
  const [polarM, e] = [6_356_752.314245, 0.0818191908426215]
  const sine = Math.sin(latitude)
  return (polarM ** 2 / 2) * (sine / (1 - (e * sine) ** 2) + Math.atanh(e * sine) / e)
}

test('the area of a box is that of the ellipsoid between its parallels', () => {
  fc.assert(
    fc.property(boxes, (box) => {
      const [west, south, east, north] = box.map((degrees) => (degrees * Math.PI) / 180) as Box
      near(areaOf(boxPolygon(box)), (east - west) * (zoneM2(north) - zoneM2(south)), 1e-6)
    }),
  )
  near(areaOf(boxPolygon([-180, -90, 180, 90])), EARTH_M2, 1e-9)
})

test('an area does not depend on the direction, the first corner or the longitude of its ring', () => {
  fc.assert(
    fc.property(rings, fc.nat(), number(-20, 20), (ring, from, shift) => {
      const corners = ring.slice(0, -1)
      const start = from % corners.length
      const turned = [...corners.slice(start), ...corners.slice(0, start)]
      const size = areaOf(polygon(ring))
      near(areaOf(polygon(ring.toReversed())), size, 1e-9)
      near(areaOf(polygon([...turned, turned[0]!])), size, 1e-6)
      near(areaOf(polygon(ring.map(([x, y]) => [x + shift, y]))), size, 1e-6)
    }),
  )
})

test('holes are taken off, parts are added, and what encloses nothing has no area', () => {
  const [outer, hole, other] = [boxPolygon([0, 0, 10, 10]), boxPolygon([2, 2, 4, 4]), boxPolygon([20, 0, 21, 1])]
  const withHole = polygon(outer.coordinates[0] as Position[], hole.coordinates[0] as Position[])
  near(areaOf(withHole), areaOf(outer) - areaOf(hole), 1e-12)
  near(areaOf({ type: 'MultiPolygon', coordinates: [withHole.coordinates, other.coordinates] }), areaOf(withHole) + areaOf(other), 1e-12)
  near(areaOf({ type: 'GeometryCollection', geometries: [outer, other] }), areaOf(outer) + areaOf(other), 1e-12)
  assert.equal(areaOf(null), 0)
  assert.equal(areaOf({ type: 'Point', coordinates: [1, 2] }), 0)
})

test('a circle has the area of its radius', () => {
  fc.assert(
    fc.property(number(-170, 170), number(-60, 60), number(50, 50_000), (x, y, radius) =>
      near(areaOf(circle([x, y], radius)), Math.PI * radius ** 2, 0.01),
    ),
  )
})

test('a box and its polygon have the same bounds and corners', () => {
  fc.assert(
    fc.property(boxes, (box) => {
      const [west, south, east, north] = box
      assert.deepEqual(boxOf(boxPolygon(box)), box)
      assert.deepEqual(cornersOf(boxPolygon([0, 0, east - west, east - west])), [
        [0, east - west],
        [east - west, east - west],
        [east - west, 0],
        [0, 0],
      ])
      assert.ok(north > south)
    }),
  )
  assert.equal(boxOf(null), null)
  assert.equal(boxOf({ type: 'GeometryCollection', geometries: [] }), null)
  assert.deepEqual(boxOf({ type: 'Point', coordinates: [1, 2, 3] }), [1, 2, 1, 2])
  assert.equal(cornersOf({ type: 'Point', coordinates: [1, 2] }), null)
})

test('the bounds of a very long coastline are found', () => {
  const coast = Array.from({ length: 300_000 }, (_, index): Position => [index / 10_000, (index % 7) / 10])
  assert.deepEqual(boxOf({ type: 'LineString', coordinates: coast }), [0, 0, 29.9999, 0.6])
})

test('an area in an address is the same to a metre, and is written the same way again', () => {
  fc.assert(
    fc.property(rings, (ring) => {
      const text = encodeArea(polygon(ring))
      const back = decodeArea(text)!
      assert.equal(back.coordinates[0]!.length, ring.length)
      back.coordinates[0]!.forEach(([x, y], index) => {
        assert.ok(Math.abs(x! - ring[index]![0]) < 6e-6 && Math.abs(y! - ring[index]![1]) < 6e-6)
      })
      assert.equal(encodeArea(back), text)
    }),
  )
})

test('any text in an address is an area on the map, or none', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: fc.integer({ min: 63, max: 126 }).map((code) => String.fromCharCode(code)) })),
      (text) => {
        const ring = decodeArea(text)?.coordinates[0] ?? []
        for (const [x, y] of ring) assert.ok(Math.abs(x!) <= 180 && Math.abs(y!) <= 90)
      },
    ),
    { numRuns: 2_000 },
  )
  assert.equal(decodeArea(undefined), null)
  assert.equal(decodeArea(''), null)
  assert.equal(
    decodeArea(
      encodeArea(
        polygon([
          [0, 0],
          [1, 1],
          [0, 0],
        ]),
      ),
    ),
    null,
    'two corners enclose nothing',
  )
})

test('an area has at most so many corners in an address', () => {
  const ring = (corners: number) =>
    Array.from({ length: corners + 1 }, (_, index): Position => [(index % corners) / 1_000, (index % 2) / 10])
  assert.equal(decodeArea(encodeArea(polygon(ring(MAX_KEPT_VERTICES))))?.coordinates[0]!.length, MAX_KEPT_VERTICES + 1)
  assert.equal(decodeArea(encodeArea(polygon(ring(MAX_KEPT_VERTICES + 1)))), null)
})

test('coverage is 0 apart, 1 inside, and the share of the area between', () => {
  fc.assert(
    fc.property(boxes, number(0, 1), (box, share) => {
      const [west, south, east, north] = box
      const area = boxPolygon(box)
      assert.equal(coverage(area, boxPolygon([west - 1, south - 1, east + 1, north + 1])), 1)
      assert.equal(coverage(area, boxPolygon([east + 1, south, east + 2, north])), 0)
      const part = boxPolygon([west - 1, south - 1, west + share * (east - west), north + 1])
      assert.ok(Math.abs(coverage(area, part) - share) <= 1 / 24)
    }),
  )
  assert.equal(coverage(boxPolygon([0, 0, 1, 1]), null), 0)
  assert.equal(coverage({ type: 'Point', coordinates: [0, 0] }, boxPolygon([-1, -1, 1, 1])), 0)
})

test('simplifying keeps some of the corners in their order, closed, and no more than asked', () => {
  fc.assert(
    fc.property(rings, fc.integer({ min: 3, max: 60 }), (ring, limit) => {
      const kept = simplify(polygon(ring), limit).coordinates[0] as Position[]
      assert.equal(kept.length - 1, Math.min(limit, ring.length - 1))
      assert.deepEqual(kept[0], kept.at(-1))
      const places = kept.slice(0, -1).map((corner) => ring.indexOf(corner))
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      )
      assert.ok(!places.includes(-1))
    }),
  )
})
