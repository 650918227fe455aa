/**
 * Goal: every code of the EPSG registry is where PROJ without grids puts it, to a metre or to the distance that its row admits;
 * what cannot be computed is refused with a reason, and what may be far off says so.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { crsFromEpsg, parseCrs, registryCodes } from '#raster/crs/registry.ts'
import { crsTransform } from '#raster/crs/transform.ts'
import { RasterError } from '#raster/types.ts'

/** PROJ's x and y of a geographic point, and what PROJ makes of them on the way back (tools/projected.ts). */
type ControlPoint = [lon: number, lat: number, x: number, y: number, lonBack: number, latBack: number]

const CONTROL = new URL('../../../test/golden/crs-control.json.br', import.meta.url)
const control = JSON.parse(brotliDecompressSync(readFileSync(CONTROL)).toString()) as Record<string, ControlPoint[]>
const METRES_A_DEGREE = 111_320
const TOLERANCE_M = 1
const wgs84 = crsFromEpsg(4326)

/** Metres between what we and PROJ say; longitudes shrink towards the poles and wrap around. */
function errorsM(code: number, [lon, lat, x, y, lonBack, latBack]: ControlPoint): { forward: number; inverse: number } {
  const crs = crsFromEpsg(code)
  const transform = crsTransform(wgs84, crs)
  const [u, v] = transform.forward(lon, lat)
  const toMetres = crs.kind === 'geographic' ? METRES_A_DEGREE : crs.unit
  const [lon2, lat2] = transform.inverse(x, y)
  const dLon = ((lon2 - lonBack + 540) % 360) - 180
  const dx = crs.kind === 'geographic' ? ((u - x + 540) % 360) - 180 : u - x
  return {
    forward: Math.hypot(dx, v - y) * toMetres,
    inverse: Math.hypot(dLon * Math.cos((lat * Math.PI) / 180), lat2 - latBack) * METRES_A_DEGREE,
  }
}

test('every code agrees with PROJ within a metre both ways, or within its stated accuracy', () => {
  const wrong: string[] = []
  let exact = 0
  for (const [code, points] of Object.entries(control)) {
    const { accuracyM, note } = crsFromEpsg(Number(code))
    const admitted = note !== null && accuracyM !== null ? accuracyM : 5
    for (const point of points) {
      const { forward, inverse } = errorsM(Number(code), point)
      if (forward < 0.002 && inverse < 0.002) exact++
      const isGood = (forward < TOLERANCE_M && inverse < TOLERANCE_M) || (forward <= admitted && inverse <= admitted * 1.1)
      if (!isGood) wrong.push(`EPSG:${code} at ${point[0]}, ${point[1]}: ${forward} m, ${inverse} m`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(exact > 11_000, `${exact} points agree to two millimetres`)
})

test('the registry is complete: nearly every code is supported and has control points', () => {
  const { known, refused } = registryCodes()
  assert.ok(known.length >= 6500 && refused.length < 150, `${known.length} known, ${refused.length} refused`)
  assert.deepEqual(
    known.filter((code) => !control[code]),
    [],
  )
  for (const code of refused)
    assert.throws(
      () => crsFromEpsg(code),
      (error) => error instanceof RasterError && error.code === 'unknown_crs' && /cannot be used: \w/.test(error.message),
    )
})

test('an inaccurate code has a note, an accurate one does not', () => {
  assert.deepEqual([crsFromEpsg(32633).accuracyM, crsFromEpsg(32633).note], [0, null])
  assert.equal(crsFromEpsg(25832).note, null)
  assert.match(crsFromEpsg(4267).note ?? '', /accurate to about \d+ m/)
  const { known } = registryCodes()
  const silent = known.filter((code) => {
    const { accuracyM, note } = crsFromEpsg(code)
    return accuracyM !== null && accuracyM > 5 && note === null
  })
  assert.deepEqual(silent, [])
})

test('systems with axes to the west and south agree with PROJ', () => {
  const [x, y] = crsTransform(wgs84, crsFromEpsg(2046)).forward(15.5, -25)
  assert.ok(Math.abs(x + 50_475.46) < 0.01 && Math.abs(y - 2_766_147.25) < 0.01, `${x} ${y}`)
})

test('a code that is not in the table is an error', () => {
  for (const code of [1, 99999, 32600, 32661 + 10_000]) {
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

test('codes can be written with or without the authority', () => {
  assert.equal(parseCrs('EPSG:32633').name, 'WGS 84 / UTM zone 33N')
  assert.equal(parseCrs('3857').epsg, 3857)
  assert.equal(crsFromEpsg(900913).epsg, 3857)
})

test('points outside the domain of a projection are NaN, not exceptions', () => {
  const transform = crsTransform(wgs84, crsFromEpsg(3857))
  assert.ok(Number.isNaN(transform.forward(NaN, 0)[0]))
  assert.ok(transform.forward(0, 90).every((value) => Number.isNaN(value) || Number.isFinite(value)))
})
