// Goal: an area counts its pixels, however wide it is and wherever the projection ends: never 0 for the whole world.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aoiMask } from '#raster/render/aoi.ts'
import { readClipped } from '#raster/render/clip.ts'
import { computeStatistics } from '#raster/statistics/index.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { applyAffine } from './affine.ts'
import { HALF_WORLD_M } from './mercator.ts'
import { projectorFromLonLat, projectorToLonLat, type Point } from './projector.ts'

type Box = [west: number, south: number, east: number, north: number]
const ring = ([w, s, e, n]: Box) => [
  [w, s],
  [e, s],
  [e, n],
  [w, n],
  [w, s],
]
const area = (box: Box) => ({ type: 'Polygon', coordinates: [ring(box)] })

const world = (options: Partial<MemoryRasterOptions> = {}) =>
  new MemoryRaster({ width: 360, height: 180, epsg: 4326, transform: [-180, 1, 0, 90, 0, -1], value: () => 5, ...options })

/** Pixels whose centre lies in a box, found one by one. */
function expected({ info }: MemoryRaster, [w, s, e, n]: Box): number {
  const toLonLat = projectorToLonLat(info.crs!)
  const back = projectorFromLonLat(info.crs!)
  let count = 0
  for (let y = 0; y < info.height; y++)
    for (let x = 0; x < info.width; x++) {
      const place = applyAffine(info.transform!, x + 0.5, y + 0.5)
      const [point, again]: [Point, Point] = [
        [0, 0],
        [0, 0],
      ]
      toLonLat(...place, point)
      back(...point, again)
      const isPlace = info.crs!.kind === 'geographic' || Math.hypot(again[0] - place[0], again[1] - place[1]) < 1
      const isInside = [-360, 0, 360].some((turn) => point[0] + turn > w && point[0] + turn < e)
      if (isPlace && isInside && point[1] > s && point[1] < n) count++
    }
  return count
}

const PLACES: Record<string, MemoryRaster> = {
  world: world(),
  'world from 0 to 360': world({ transform: [0, 1, 0, 90, 0, -1] }),
  'around the date line': world({ width: 40, height: 40, transform: [160, 1, 0, 20, 0, -1] }),
  'web mercator': world({
    width: 256,
    height: 256,
    epsg: 3857,
    transform: [-HALF_WORLD_M, HALF_WORLD_M / 128, 0, HALF_WORLD_M, 0, -HALF_WORLD_M / 128],
  }),
  'a UTM zone': world({ width: 100, height: 100, epsg: 32633, transform: [400_000, 2_000, 0, 5_400_000, 0, -2_000] }),
  'the south pole': world({ width: 200, height: 200, epsg: 3031, transform: [-4_000_000, 40_000, 0, 4_000_000, 0, -40_000] }),
  'equal area grid': world({ width: 347, height: 146, epsg: 6933, transform: [-17_367_530, 100_000, 0, 7_314_540, 0, -100_000] }),
  'all of an oval world': world({ width: 172, height: 84, epsg: 8857, transform: [-17_200_000, 200_000, 0, 8_400_000, 0, -200_000] }),
}
const AREAS: Record<string, Box> = {
  everything: [-180, -90, 180, 90],
  wide: [-170, -60, 120, 60],
  east: [0, -90, 180, 90],
  'more than once around': [-200, -90, 200, 90],
  'beyond the date line': [150, -30, 210, 30],
  small: [12, 40, 20, 52],
}

for (const [place, raster] of Object.entries(PLACES)) {
  test(`areas over ${place} count their pixels`, async () => {
    for (const [name, box] of Object.entries(AREAS)) {
      const covered = expected(raster, box)
      if (covered === 0) {
        const count = await computeStatistics(raster, { geometry: area(box) }).then(
          ({ pixelCount }) => pixelCount,
          (error: Error) => (/does not intersect/.test(error.message) ? 0 : Promise.reject(error)),
        )
        assert.equal(count, 0, name)
        continue
      }
      const { pixelCount } = await computeStatistics(raster, { geometry: area(box) })
      assert.ok(Math.abs(pixelCount - covered) <= Math.max(2, covered * 0.002), `${name}: ${pixelCount} instead of ${covered}`)
    }
  })
}

test('an area larger than the raster clips nothing', async () => {
  const raster = PLACES['a UTM zone']!
  const clipped = await readClipped(raster, area([-180, -90, 180, 90]), { maxPixels: 1e6 })
  assert.deepEqual([clipped.width, clipped.height, clipped.mask.every((value) => value === 255)], [100, 100, true])
})

test('tiles under an area that wraps around more than once are complete, also across the antimeridian', () => {
  for (const tile of [
    { z: 0, x: 0, y: 0 },
    { z: 2, x: 0, y: 1 },
    { z: 2, x: 3, y: 2 },
  ])
    assert.ok(
      aoiMask(area([-200, -90, 200, 90]), tile, 256).every((value) => value === 255),
      JSON.stringify(tile),
    )
  const mask = aoiMask(area([170, -10, 190, 10]), { z: 1, x: 0, y: 0 }, 256)
  assert.ok(mask[255 * 256] === 255 && mask[255 * 256 + 100] === 0)
})
