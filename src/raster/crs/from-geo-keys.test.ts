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

test('unknown codes and methods are problems with a reason', () => {
  const unresolved: Record<number, number>[] = [
    { [KEY.modelType]: 1, [KEY.projectedType]: 12345 },
    { [KEY.modelType]: 2, [KEY.geographicType]: 4998 },
    { [KEY.modelType]: 3 },
    { [KEY.modelType]: 1, [KEY.projectedType]: 32767, [KEY.coordinateTransformation]: 77, [KEY.geographicType]: 4326 },
    { [KEY.modelType]: 1, [KEY.projectedType]: 32767, [KEY.coordinateTransformation]: 1, [KEY.geographicType]: 32767 },
    { [KEY.modelType]: 2, [KEY.geographicType]: 32767, [KEY.ellipsoid]: 7030, [KEY.angularUnits]: 9199 },
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

test('a key directory with a wrong length is read as far as possible', () => {
  const keys = parseGeoKeys([1, 1, 0, 900, 1024, 0, 1, 2, 2048, 0, 1], [])
  assert.deepEqual([...keys], [[1024, [2]]])
  assert.equal(parseGeoKeys([], []).size, 0)
})

interface KeyCase {
  keys: [number, number | number[] | string][]
  point: [number, number, number, number] | null
}

/** Ways to say a system that GDAL does not follow and we do: the whole definition is there. Others name another body than ours. */
const OURS = ['pe-web-mercator-gtcitation', 'pe-projected-model', 'pe-albers', 'pe-albers-metres-key']
const ELSEWHERE = ['moon', 'mars-eqc']
const cases = JSON.parse(readFileSync(new URL('../../crs-keys.json', GOLDEN), 'utf8')) as Record<string, KeyCase>

function crsOfCase({ keys }: KeyCase) {
  const numbers = keys.flatMap(([id, value]) => (typeof value === 'string' ? [] : [[id, [value].flat()] as const]))
  const texts = keys.flatMap(([id, value]) => (typeof value === 'string' ? [[id, value] as const] : []))
  return crsFromGeoKeys(new Map(numbers), new Map(texts))
}

for (const [name, given] of Object.entries(cases)) {
  test(`keys and citations: ${name} is read as GDAL reads it`, () => {
    const { crs, crsProblem } = crsOfCase(given)
    if (ELSEWHERE.includes(name)) {
      assert.equal(crs, null)
      return assert.match(crsProblem ?? '', /not on the Earth/)
    }
    if (OURS.includes(name)) return assert.ok(crs, crsProblem ?? name)
    if (!given.point) return assert.equal(crs, null, JSON.stringify(crs))
    assert.ok(crs, crsProblem ?? 'no CRS')
    const [lon, lat, x, y] = given.point
    const [u, v] = crsTransform(crsFromEpsg(4326), crs).forward(lon, lat)
    const metres = crs.kind === 'geographic' ? 111_320 : crs.unit
    assert.ok(Math.hypot(u - x, v - y) * metres < TOLERANCE_M, `${crs.proj4}: ${u}, ${v} instead of ${x}, ${y}`)
  })
}

test('definitions of ArcGIS are Web Mercator and Albers in feet; hostile ones are problems', () => {
  assert.equal(crsOfCase(cases['pe-projected-model']!).crs?.epsg, 3857)
  const { crs } = crsOfCase(cases['pe-albers']!)
  const [x] = crsTransform(crsFromEpsg(4269), crs!).forward(-95, 40)
  assert.ok(Math.abs(crs!.unit - 1200 / 3937) < 1e-12 && Math.abs(x - 263_706.6653) < 0.01, `${x}`)
  for (const text of [
    '',
    'PROJCS',
    'PROJCS["x"]',
    '['.repeat(5000),
    'A['.repeat(5000),
    `PROJCS[${'"a",'.repeat(9000)}]`,
    'GEOGCS["Mars",DATUM["D",SPHEROID["M",3396190,0]]]',
  ]) {
    const crs = crsFromGeoKeys(new Map([[KEY.modelType, [32767]]]), new Map([[3073, `ESRI PE String = ${text}`]]))
    assert.equal(crs.crs, null)
    assert.ok(crs.crsProblem)
  }
})
