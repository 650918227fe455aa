import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCql2 } from './cql2.ts'
import { Problem } from './problem.ts'

const circle = (corners: number, x: number) => {
  const ring = Array.from({ length: corners }, (_, i) => [x + Math.cos((2 * Math.PI * i) / corners), Math.sin((2 * Math.PI * i) / corners)])
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
}
const touching = (geometry: object) => ({ op: 's_intersects', args: [{ property: 'geometry' }, geometry] })

// Goal: validating the geometries of one filter takes milliseconds, however many there are, and each must be valid.
test('geometries of a filter', () => {
  const three = [circle(998, 0), circle(998, 10), circle(998, 20)]
  parseCql2({ op: 'or', args: three.map(touching) })
  const isRefused = (filter: object, why: RegExp) =>
    assert.throws(
      () => parseCql2(filter),
      (error) => error instanceof Problem && error.status === 422 && why.test(error.message),
    )
  isRefused({ op: 'or', args: [...three, circle(10, 30)].map(touching) }, /at most 3000 vertices/)
  isRefused(touching({ type: 'GeometryCollection', geometries: [...three, circle(10, 30)] }), /at most 3000 vertices/)
  const { coordinates } = circle(12, 0)
  isRefused(touching({ type: 'Polygon', coordinates: [coordinates[0]!, coordinates[0]!] }), /polygon 1, .* shares an edge/)
})
