/**
 * Goal: a CRS that a file defines by parameters instead of a code gives the coordinates that PROJ gives
 * for the same file; what we cannot resolve is told, never guessed.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { crsFromGeoKeys } from './from-geo-keys.ts'
import { KEY, parseGeoKeys, type GeoKeys } from './geokeys.ts'
import { crsFromEpsg } from './registry.ts'
import { crsTransform } from './transform.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'

const GOLDEN = new URL('../../../test/golden/raster/crs/', import.meta.url)
const control = JSON.parse(readFileSync(new URL('index.json', GOLDEN), 'utf8')) as Record<string, [number, number, number, number]>
const TOLERANCE_M = 0.001

for (const [name, [lon, lat, x, y]] of Object.entries(control)) {
  test(`user-defined ${name} agrees with PROJ`, async () => {
    const raster = await openTiff(await openFileSource(new URL(`${name}.tif`, GOLDEN).pathname))
    const { crs, crsProblem } = raster.info
    await raster.close()
    assert.ok(crs, crsProblem ?? 'no CRS')
    const [u, v] = crsTransform(crsFromEpsg(4326), crs).forward(lon, lat)
    const metres = crs.kind === 'geographic' ? 111_320 : crs.unit
    assert.ok(Math.hypot(u - x, v - y) * metres < TOLERANCE_M, `${crs.proj4}: ${u}, ${v} instead of ${x}, ${y}`)
  })
}

function keysOf(values: Record<number, number>): GeoKeys {
  return new Map(Object.entries(values).map(([id, value]) => [Number(id), [value]]))
}

test('codes and methods that we do not know are problems with a reason', () => {
  const unresolved: Record<number, number>[] = [
    { [KEY.modelType]: 1, [KEY.projectedType]: 12345 },
    { [KEY.modelType]: 2, [KEY.geographicType]: 4999 },
    { [KEY.modelType]: 3 },
    { [KEY.modelType]: 1, [KEY.projectedType]: 32767, [KEY.coordinateTransformation]: 77, [KEY.geographicType]: 4326 },
    { [KEY.modelType]: 1, [KEY.projectedType]: 32767, [KEY.coordinateTransformation]: 1, [KEY.geographicType]: 32767 },
    { [KEY.modelType]: 1, [KEY.projectedType]: 32633, [KEY.linearUnits]: 9003 },
    { [KEY.modelType]: 2, [KEY.geographicType]: 32767, [KEY.ellipsoid]: 7030, [KEY.angularUnits]: 9105 },
    // Clarke 1866 without a datum: hundreds of metres of doubt.
    { [KEY.modelType]: 2, [KEY.geographicType]: 32767, [KEY.ellipsoid]: 7008 },
  ]
  for (const values of unresolved) {
    const { crs, crsProblem } = crsFromGeoKeys(keysOf(values))
    assert.equal(crs, null, JSON.stringify(values))
    assert.ok(crsProblem, JSON.stringify(values))
  }
})

test('a file without keys has no CRS and no problem', () => {
  assert.deepEqual(crsFromGeoKeys(new Map()), { crs: null, crsProblem: null })
})

test('a key directory that lies about its length is read as far as it goes', () => {
  const keys = parseGeoKeys([1, 1, 0, 900, 1024, 0, 1, 2, 2048, 0, 1], [])
  assert.deepEqual([...keys], [[1024, [2]]])
  assert.equal(parseGeoKeys([], []).size, 0)
})
