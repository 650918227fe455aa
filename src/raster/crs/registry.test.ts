/**
 * Goal: every code of the CRS table projects and unprojects as PROJ does, to two millimetres on
 * the ground, on points that PROJ computed (tools/projected.ts); unknown codes are errors.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { crsFromEpsg, knownEpsgCodes, parseCrs } from '#raster/crs/registry.ts'
import { crsTransform } from '#raster/crs/transform.ts'
import { RasterError } from '#raster/types.ts'

/** PROJ's x and y of a geographic point, and what PROJ makes of them on the way back. */
type ControlPoint = [lon: number, lat: number, x: number, y: number, lonBack: number, latBack: number]

const control = JSON.parse(readFileSync(new URL('../../../test/golden/crs-control.json', import.meta.url), 'utf8')) as Record<
  string,
  ControlPoint[]
>
const METRES_A_DEGREE = 111_320
const TOLERANCE_M = 0.002
const wgs84 = crsFromEpsg(4326)

/** Metres between what we and PROJ say; longitudes shrink towards the poles and wrap around. */
function errorsM(code: number, [lon, lat, x, y, lonBack, latBack]: ControlPoint): { forward: number; inverse: number } {
  const crs = crsFromEpsg(code)
  const transform = crsTransform(wgs84, crs)
  const [u, v] = transform.forward(lon, lat)
  const toMetres = crs.kind === 'geographic' ? METRES_A_DEGREE : crs.unit
  const [lon2, lat2] = transform.inverse(x, y)
  const dLon = ((lon2 - lonBack + 540) % 360) - 180
  return {
    forward: Math.hypot(u - x, v - y) * toMetres,
    inverse: Math.hypot(dLon * Math.cos((lat * Math.PI) / 180), lat2 - latBack) * METRES_A_DEGREE,
  }
}

test('every code of the table agrees with PROJ to two millimetres, both ways', () => {
  const wrong: string[] = []
  for (const [code, points] of Object.entries(control)) {
    for (const point of points) {
      const { forward, inverse } = errorsM(Number(code), point)
      if (!(forward < TOLERANCE_M) || !(inverse < TOLERANCE_M))
        wrong.push(`EPSG:${code} at ${point[0]}, ${point[1]}: ${forward} m, ${inverse} m`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('every code of the table has control points', () => {
  const without = knownEpsgCodes().filter((code) => !control[code])
  assert.deepEqual(without, [])
})

test('a code that is not in the table is an error', () => {
  for (const code of [1, 4979, 99999, 32600, 32661 + 10_000, 2053]) {
    assert.throws(
      () => crsFromEpsg(code),
      (error) => error instanceof RasterError && error.code === 'unknown_crs',
      String(code),
    )
  }
  assert.throws(
    () => parseCrs('+proj=utm +zone=1'),
    (error) => error instanceof RasterError && error.code === 'unknown_crs',
  )
})

test('codes may be written with or without their authority', () => {
  assert.equal(parseCrs('EPSG:32633').name, 'WGS 84 / UTM zone 33N')
  assert.equal(parseCrs('3857').epsg, 3857)
  assert.equal(crsFromEpsg(900913).epsg, 3857)
})

test('points outside the domain of a projection are NaN, not exceptions', () => {
  const transform = crsTransform(wgs84, crsFromEpsg(3857))
  assert.ok(Number.isNaN(transform.forward(NaN, 0)[0]))
  assert.ok(transform.forward(0, 90).every((value) => Number.isNaN(value) || Number.isFinite(value)))
})
