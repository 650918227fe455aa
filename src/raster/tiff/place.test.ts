// Goal: files in arc seconds, with control points or from geostationary satellites are positioned correctly.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { crsFromWkt } from '#raster/crs/wkt.ts'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { crsTransform } from '#raster/crs/transform.ts'
import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, DOUBLE, LONG, SHORT } from '#raster/testing/build-tiff.ts'
import { openTiff } from './open.ts'

const [MODEL, GEOGRAPHIC, ANGULAR, DATUM] = [1024, 2048, 2054, 2050]
const USER_DEFINED = 32_767

/** An image of 40 × 30 bytes with the given keys and position. */
function placed(
  keys: Record<number, number>,
  place: { scale?: number[]; tiepoint: number[] },
): Promise<Awaited<ReturnType<typeof openTiff>>> {
  const entries = Object.entries(keys).flatMap(([key, value]) => [Number(key), 0, 1, value])
  const bytes = buildTiff({
    ifds: [
      {
        strips: true,
        blocks: [new Uint8Array(40 * 30)],
        tags: [
          { tag: 256, type: LONG, values: [40] },
          { tag: 257, type: LONG, values: [30] },
          { tag: 258, type: SHORT, values: [8] },
          { tag: 259, type: SHORT, values: [1] },
          { tag: 262, type: SHORT, values: [1] },
          { tag: 277, type: SHORT, values: [1] },
          { tag: 278, type: LONG, values: [30] },
          ...(place.scale ? [{ tag: 33_550, type: DOUBLE, values: place.scale }] : []),
          { tag: 33_922, type: DOUBLE, values: place.tiepoint },
          { tag: 34_735, type: SHORT, values: [1, 1, 0, Object.keys(keys).length, ...entries] },
        ],
      },
    ],
  })
  return openTiff(memorySource(bytes))
}

test('arc seconds become degrees if the coordinates allow no other unit', async () => {
  const place = { scale: [3, 3, 0], tiepoint: [0, 0, 0, 36_000, 180_000, 0] }
  const expected = [10, 3 / 3600, 0, 50, 0, -3 / 3600]
  for (const system of [{ [GEOGRAPHIC!]: 4326 }, { [GEOGRAPHIC!]: USER_DEFINED, [DATUM!]: 6326 }]) {
    const { info } = await placed({ [MODEL!]: 2, ...system, [ANGULAR!]: 9104 }, place)
    assert.equal(info.crsProblem, null)
    assert.equal(info.crs?.kind, 'geographic')
    info.transform?.forEach((value, i) => assert.ok(Math.abs(value - expected[i]!) < 1e-9, `${info.transform}`))
  }
  const degrees = await placed(
    { [MODEL!]: 2, [GEOGRAPHIC!]: 4326, [ANGULAR!]: 9104 },
    { scale: [0.1, 0.1, 0], tiepoint: [0, 0, 0, 10, 50, 0] },
  )
  assert.deepEqual(degrees.info.transform, [10, 0.1, 0, 50, 0, -0.1], 'a unit that contradicts the coordinates is not theirs')
})

test('control points in arc seconds are converted', async () => {
  const corner = (column: number, row: number) => [column, row, 0, 36_000 + column * 3, 180_000 - row * 3, 0]
  const tiepoint = [corner(0, 0), corner(40, 0), corner(0, 30), corner(40, 30)].flat()
  const { info } = await placed({ [MODEL!]: 2, [GEOGRAPHIC!]: 4326, [ANGULAR!]: 9104 }, { tiepoint })
  assert.equal(info.placedBy, 'gcps')
  assert.ok(Math.abs(info.transform![0] - 10) < 1e-9 && Math.abs(info.transform![1] - 3 / 3600) < 1e-12)
  assert.deepEqual([info.gcps[0]?.x, info.gcps[0]?.y], [10, 50])
})

/** As GDAL writes it for Meteosat and GOES. */
const geostationary = (longitude: number, height: number, sweep: string) =>
  'PROJCS["unknown",GEOGCS["unknown",DATUM["Unknown based on GRS80 ellipsoid",SPHEROID["GRS 1980",6378137,298.257222101]],' +
  'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Geostationary_Satellite"],' +
  `PARAMETER["central_meridian",${longitude}],PARAMETER["satellite_height",${height}],PARAMETER["false_easting",0],` +
  `PARAMETER["false_northing",0],UNIT["metre",1],EXTENSION["PROJ4","+proj=geos +sweep=${sweep} +lon_0=${longitude} +h=${height}"]]`

test('geostationary views agree with PROJ, and points in space are NaN', () => {
  const cases = [
    { wkt: geostationary(-75, 35_786_023, 'x'), at: [-85.6292336041303, 29.0867833688672] },
    { wkt: geostationary(9.5, 35_785_831, 'y'), at: [-1.09276449045952, 29.0992222501607] },
  ]
  for (const { wkt, at } of cases) {
    const { forward, inverse } = crsTransform(crsFromWkt(wkt), crsFromEpsg(4326))
    const [lon, lat] = forward(-1_000_000, 3_000_000)
    assert.ok(Math.hypot(lon - at[0]!, lat - at[1]!) < 1e-8, `${lon}, ${lat}`)
    const [x, y] = inverse(lon, lat)
    assert.ok(Math.hypot(x + 1_000_000, y - 3_000_000) < 0.01, `${x}, ${y}`)
    assert.deepEqual(forward(5_400_000, 5_400_000), [NaN, NaN])
  }
})
