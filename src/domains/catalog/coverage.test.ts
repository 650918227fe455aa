import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sqKmOf } from '#core/area.ts'
import { world } from '../../../test/support/world.ts'

const box = (west: number, south: number, east: number, north: number) => ({
  type: 'Polygon' as const,
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ] as [number, number][],
  ],
})
/** A footprint as satellites have them: turned against the meridians. */
const TURNED = {
  type: 'Polygon',
  coordinates: [
    [
      [0.5, -0.2],
      [1.2, 0.5],
      [0.5, 1.2],
      [-0.2, 0.5],
      [0.5, -0.2],
    ],
  ],
}

// Goal: coverage grows with each footprint, overlaps count once, and the sizes are those of orders.
test('catalog.coverage', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const area = box(0, 0, 1, 1)
  const cover = (footprints: object[]) => w.ok(owner.token, 'catalog.coverage', { area, footprints })

  await t.test('overlaps count once', async () => {
    const none = await cover([])
    assert.deepEqual([none.covered_percent, none.covered], [0, null])
    assert.ok(Math.abs(none.area_km2 - sqKmOf(area)) < 1e-6)
    const half = await cover([box(0, 0, 0.5, 1)])
    assert.ok(Math.abs(half.covered_percent - 50) < 0.01, `${half.covered_percent}`)
    const more = await cover([box(0, 0, 0.5, 1), box(0.25, 0, 0.75, 1)])
    assert.ok(Math.abs(more.covered_percent - 75) < 0.01, `${more.covered_percent}`)
    const all = await cover([box(0, 0, 0.5, 1), box(0.25, 0, 0.75, 1), box(0.5, -1, 3, 2)])
    assert.deepEqual([Math.round(all.covered_percent * 1e6) / 1e6, all.rest], [100, null])
    assert.deepEqual((await cover([box(5, 5, 6, 6)])).covered_percent, 0)
  })

  await t.test('a turned footprint, and what it leaves', async () => {
    const { covered, rest, covered_km2, area_km2 } = await cover([TURNED])
    assert.ok(Math.abs(sqKmOf(covered) - covered_km2) < 1e-6)
    assert.ok(Math.abs(sqKmOf(rest) + covered_km2 - area_km2) < 1e-3)
    // Four corners of the square with sides of 0.3 each.
    assert.ok(Math.abs((100 * covered_km2) / area_km2 - 82) < 0.1, `${(100 * covered_km2) / area_km2}`)
  })

  await t.test('invalid input names its field', async () => {
    const call = (input: object) => w.call(owner.token, 'catalog.coverage', input)
    const { status, body } = await call({ area, footprints: [area, { type: 'Point', coordinates: [0, 0] }] })
    assert.deepEqual([status, body.errors[0].field], [422, 'footprints.1'])
    assert.equal((await call({ area: { type: 'Point' }, footprints: [] })).status, 422)
    assert.equal((await call({ area, footprints: Array.from({ length: 101 }, () => area) })).status, 422)
  })
})
