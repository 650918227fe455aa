// Goal: datums with a published direct transformation use it instead of going through WGS 84.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { projectorBetween } from '#raster/warp/projector.ts'
import { crsFromEpsg } from './registry.ts'
import { crsTransform } from './transform.ts'

/** What PROJ 9.5 without grids makes of a point: from, to, x, y, x there, y there. */
const BY_PROJ = [
  [28355, 7855, 321820.0, 5812926.0, 321820.490779199, 5812927.471823344],
  [7855, 28355, 321820.0, 5812926.0, 321819.5092208, 5812924.528176658],
  [4283, 7844, 151.2, -33.87, 151.200005431, -33.869987316],
  [28350, 7850, 392000.0, 6465000.0, 392000.996202886, 6465001.495316764],
  [4203, 7844, 130.0, -25.0, 130.001326754, -24.99856427],
  [7844, 4203, 130.0, -25.0, 129.998673222, -25.001435712],
] as const

test('GDA94, AGD84 and GDA2020 agree with PROJ, both ways', () => {
  for (const [source, target, x, y, wantedX, wantedY] of BY_PROJ) {
    const [from, to] = [crsFromEpsg(source), crsFromEpsg(target)]
    const metres = to.kind === 'geographic' ? 111_320 : 1
    const { forward, inverse } = crsTransform(from, to)
    const [u, v] = forward(x, y)
    assert.ok(Math.hypot(u - wantedX, v - wantedY) * metres < 0.002, `${source} to ${target}: ${u}, ${v}`)
    const [backX, backY] = inverse(u, v)
    assert.ok(Math.hypot(backX - x, backY - y) * metres < 0.002, `${target} to ${source}`)
    const projected: [number, number] = [0, 0]
    projectorBetween(from, to)(x, y, projected)
    assert.deepEqual(projected, [u, v], 'rasters are warped the same way')
  }
})

test('both still equal WGS 84, and a system equals itself', () => {
  const wgs84 = crsFromEpsg(4326)
  for (const code of [4283, 7844]) assert.deepEqual(crsTransform(crsFromEpsg(code), wgs84).forward(151.2, -33.87), [151.2, -33.87])
  assert.deepEqual(
    crsTransform(crsFromEpsg(7855), crsFromEpsg(7844)).inverse(147, -37),
    crsTransform(crsFromEpsg(7855), wgs84).inverse(147, -37),
  )
})
