// Goal: tiles show the right pixel at the right place, without seams, in every projection and around the world.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { crsFromEpsg } from '#raster/crs/registry.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { RasterError, type Affine } from '#raster/types.ts'
import { invertAffine } from './affine.ts'
import { createBlockCache } from './blocks.ts'
import { HALF_WORLD_M, tileTransform, WORLD_M, type TileAddress, type TileSize } from './mercator.ts'
import { chooseLevel, placementOf, planTarget, planTile } from './plan.ts'
import { projectorFromMercator, type Point } from './projector.ts'
import { samplePlanes, type Resampling, type SampledPlanes } from './sample.ts'

const CACHE_BYTES = 64 * 1024 * 1024

interface Sampling {
  size?: TileSize
  resampling?: Resampling
  bands?: readonly number[]
  blocks?: ReturnType<typeof createBlockCache>
}

function sampleTile(raster: MemoryRaster, tile: TileAddress, options: Sampling = {}): Promise<SampledPlanes> {
  const { size = 256, resampling = 'nearest', bands = [0], blocks = createBlockCache(CACHE_BYTES) } = options
  return samplePlanes({ raster, blocks, windows: planTile(raster, tile, size), bands, width: size, height: size, resampling, rule: 'all' })
}

/** A number that tells every pixel apart, within 16 bits. */
const mark = (x: number, y: number): number => (x * 251 + y * 7) % 65521

/** Rasters in very different systems. */
const PLACES: Record<string, MemoryRasterOptions> = {
  'UTM 33': { epsg: 32633, width: 700, height: 500, transform: [500_000, 30, 0, 5_400_000, 0, -30], value: mark },
  geographic: { epsg: 4326, width: 600, height: 400, transform: [10, 0.002, 0, 47, 0, -0.002], value: mark },
  'Web Mercator': { epsg: 3857, width: 600, height: 400, transform: [1_000_000, 100, 0, 6_000_000, 0, -100], value: mark },
  'Lambert Europe': { epsg: 3035, width: 600, height: 400, transform: [4_300_000, 1000, 0, 3_000_000, 0, -1000], value: mark },
  'upside down': { epsg: 4326, width: 600, height: 400, transform: [10, 0.002, 0, 46, 0, 0.002], value: mark },
  rotated: { epsg: 32633, width: 500, height: 500, transform: [500_000, 25, 12, 5_400_000, 12, -25], value: mark },
}

/** The tile around a raster's middle, at the zoom where it is about as large as the raster: it shows an edge. */
function tileAround(raster: MemoryRaster): TileAddress {
  const { minX, maxX, minY, maxY } = placementOf(raster.info).extent
  const z = Math.floor(Math.log2(WORLD_M / Math.max(maxX - minX, maxY - minY)))
  const index = (metres: number): number => Math.floor((metres / WORLD_M) * 2 ** z)
  return { z, x: index((minX + maxX) / 2 + HALF_WORLD_M), y: index(HALF_WORLD_M - (minY + maxY) / 2) }
}

/** Straight from the definition: project each pixel's centre and look which source pixel it falls into. */
function reference({ info }: MemoryRaster, tile: TileAddress, size: TileSize): { values: number[]; valid: boolean[] } {
  const transform = tileTransform(tile, size)
  const project = projectorFromMercator(crsFromEpsg(info.crs?.epsg ?? 0))
  const inverse = invertAffine(info.transform as Affine)
  const point: Point = [0, 0]
  const values: number[] = []
  const valid: boolean[] = []
  for (let i = 0; i < size * size; i++) {
    project(transform[0] + ((i % size) + 0.5) * transform[1], transform[3] + (Math.floor(i / size) + 0.5) * transform[5], point)
    const x = Math.floor(inverse[0] + point[0] * inverse[1] + point[1] * inverse[2])
    const y = Math.floor(inverse[3] + point[0] * inverse[4] + point[1] * inverse[5])
    valid.push(x >= 0 && y >= 0 && x < info.width && y < info.height)
    values.push(valid[i] ? mark(x, y) : 0)
  }
  return { values, valid }
}

test('nearest sampling takes the pixel under the centre, in every system and layout', async () => {
  for (const [name, options] of Object.entries(PLACES)) {
    for (const interleave of ['pixel', 'band'] as const) {
      const raster = new MemoryRaster({
        ...options,
        dataType: 'uint16',
        bandCount: 2,
        interleave,
        blockSize: interleave === 'pixel' ? 64 : 100,
      })
      const tile = tileAround(raster)
      const { planes, mask } = await sampleTile(raster, tile, { bands: [1] })
      const expected = reference(raster, tile, 256)
      let different = 0
      let seen = 0
      for (let i = 0; i < mask.length; i++) {
        seen += Number(expected.valid[i])
        different += Number((mask[i] !== 0) !== expected.valid[i] || planes[0]?.[i] !== expected.values[i])
      }
      assert.ok(seen > 2000 && seen <= 65536, `${name}: the tile shows ${seen} pixels`)
      assert.ok(different <= 40, `${name} ${interleave}: ${different} pixels differ`)
    }
  }
})

test('four tiles equal the one above them with twice the pixels: no seams, for every method', async () => {
  const options = PLACES['UTM 33'] ?? assert.fail()
  const raster = new MemoryRaster({
    ...options,
    dataType: 'float32',
    nodata: 5,
    value: (x, y) => (x % 50 === 0 ? 5 : Math.sin(x / 9) * 100 + y),
  })
  const tile = tileAround(raster)
  for (const resampling of ['nearest', 'bilinear', 'cubic', 'average'] as const) {
    const whole = await sampleTile(raster, tile, { size: 512, resampling })
    assert.ok(whole.mask.some((value) => value !== 0) && whole.mask.includes(0), 'data and an edge are in view')
    for (const [dx, dy] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ] as const) {
      const part = await sampleTile(raster, { z: tile.z + 1, x: tile.x * 2 + dx, y: tile.y * 2 + dy }, { resampling })
      let different = 0
      for (let i = 0; i < part.mask.length; i++) {
        const at = (Math.floor(i / 256) + dy * 256) * 512 + (i % 256) + dx * 256
        const distance = Math.abs((part.planes[0]?.[i] ?? 0) - (whole.planes[0]?.[at] ?? 0))
        different += Number(part.mask[i] !== whole.mask[at] || distance > 0.5)
      }
      assert.ok(different < 30, `${resampling}: ${different} pixels differ`)
    }
  }
})

test('a raster across the antimeridian is shown on both sides, and on the world tile', async () => {
  const across = [
    new MemoryRaster({ epsg: 4326, width: 200, height: 100, transform: [170, 0.1, 0, 5, 0, -0.1], value: () => 9 }),
    new MemoryRaster({ epsg: 4326, width: 200, height: 100, transform: [-190, 0.1, 0, 5, 0, -0.1], value: () => 9 }),
    new MemoryRaster({ epsg: 32601, width: 200, height: 200, transform: [-100_000, 10_000, 0, 1_000_000, 0, -10_000], value: () => 9 }),
  ]
  for (const raster of across) {
    for (const x of [0, 15]) {
      const { mask } = await sampleTile(raster, { z: 4, x, y: 7 })
      assert.ok(
        mask.some((value) => value !== 0),
        `column ${x}`,
      )
    }
    assert.ok((await sampleTile(raster, { z: 4, x: 8, y: 7 })).mask.every((value) => value === 0))
    const { mask } = await sampleTile(raster, { z: 0, x: 0, y: 0 })
    assert.ok(mask[128 * 256] !== 0 && mask[128 * 256 + 255] !== 0 && mask[128 * 256 + 128] === 0)
  }
})

test('longitudes from 0 to 360 cover the world once, without a gap', async () => {
  const raster = new MemoryRaster({
    epsg: 4326,
    width: 720,
    height: 360,
    transform: [0, 0.5, 0, 90, 0, -0.5],
    dataType: 'uint16',
    value: (x) => x,
  })
  const { planes, mask } = await sampleTile(raster, { z: 0, x: 0, y: 0 })
  assert.ok(mask.every((value) => value !== 0))
  const row = planes[0]?.subarray(128 * 256, 129 * 256) ?? []
  assert.deepEqual([row[0], row[127], row[128], row[255]], [361, 718, 1, 358])
})

test('a raster around a pole is complete along the edge of the map', async () => {
  const raster = new MemoryRaster({
    epsg: 3031,
    width: 400,
    height: 400,
    transform: [-2_000_000, 10_000, 0, 2_000_000, 0, -10_000],
    value: () => 1,
  })
  for (let x = 0; x < 4; x++) {
    const { mask } = await sampleTile(raster, { z: 2, x, y: 3 })
    assert.ok(
      mask.subarray(255 * 256).every((value) => value !== 0),
      `tile ${x}`,
    )
  }
  assert.ok((await sampleTile(raster, { z: 2, x: 0, y: 0 })).mask.every((value) => value === 0))
})

test('smooth methods preserve a ramp, and ignore missing pixels', async () => {
  const ramp = new MemoryRaster({
    epsg: 3857,
    width: 300,
    height: 300,
    transform: [0, 100, 0, 30_000, 0, -100],
    dataType: 'float32',
    value: (x, y) => x + y * 1000,
  })
  const target = { crs: crsFromEpsg(3857), transform: [5_000, 40, 0, 25_000, 0, -40] as Affine, width: 100, height: 100 }
  for (const resampling of ['bilinear', 'cubic'] as const) {
    const { planes, mask } = await samplePlanes({
      raster: ramp,
      blocks: createBlockCache(CACHE_BYTES),
      windows: planTarget(ramp, target),
      bands: [0],
      width: 100,
      height: 100,
      resampling,
      rule: 'all',
    })
    for (const i of [0, 55, 4_321, 9_999]) {
      const [x, y] = [50 + ((i % 100) + 0.5) * 0.4 - 0.5, 50 + (Math.floor(i / 100) + 0.5) * 0.4 - 0.5]
      assert.ok(Math.abs((planes[0]?.[i] ?? 0) - (x + y * 1000)) < 0.02, `${resampling} ${i}`)
      assert.equal(mask[i], 255)
    }
  }
  const holes = new MemoryRaster({
    epsg: 3857,
    width: 300,
    height: 300,
    transform: [0, 100, 0, 30_000, 0, -100],
    dataType: 'float32',
    value: (x) => (x % 3 === 0 ? Number.NaN : 7),
  })
  for (const resampling of ['bilinear', 'cubic', 'average'] as const) {
    const { planes, mask } = await sampleTile(holes, { z: 10, x: 512, y: 511 }, { resampling })
    for (let i = 0; i < mask.length; i++) if (mask[i] !== 0) assert.ok(Math.abs((planes[0]?.[i] ?? 0) - 7) < 1e-6, resampling)
  }
})

test('average is the mean of what a pixel covers', async () => {
  const raster = new MemoryRaster({
    epsg: 3857,
    width: 400,
    height: 400,
    transform: [0, 10, 0, 4_000, 0, -10],
    dataType: 'uint16',
    value: (x, y) => x + y,
  })
  const target = { crs: crsFromEpsg(3857), transform: [0, 40, 0, 4_000, 0, -40] as Affine, width: 100, height: 100 }
  const { planes } = await samplePlanes({
    raster,
    blocks: createBlockCache(CACHE_BYTES),
    windows: planTarget(raster, target),
    bands: [0],
    width: 100,
    height: 100,
    resampling: 'average',
    rule: 'all',
  })
  assert.ok(Math.abs((planes[0]?.[0] ?? 0) - 3) < 1e-4)
  assert.ok(Math.abs((planes[0]?.[5 * 100 + 7] ?? 0) - (28 + 1.5 + 20 + 1.5)) < 1e-3)
})

test('the coarsest level with enough detail is read', () => {
  const { info } = new MemoryRaster({
    epsg: 3857,
    width: 4096,
    height: 4096,
    transform: [0, 1, 0, 0, 0, -1],
    overviews: [2, 4, 8],
    value: () => 0,
  })
  assert.deepEqual(
    [0.3, 1, 1.5, 1.85, 1.95, 2, 3.9, 3.95, 7, 100].map((ratio) => chooseLevel(info, ratio)),
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 3],
  )
})

test('blocks are read once, for neighbouring and for concurrent tiles', async () => {
  const raster = new MemoryRaster({ ...(PLACES['Web Mercator'] ?? assert.fail()), dataType: 'uint16' })
  const tile = tileAround(raster)
  const blocks = createBlockCache(CACHE_BYTES)
  await Promise.all([sampleTile(raster, tile, { blocks }), sampleTile(raster, tile, { blocks })])
  const { reads } = raster
  assert.ok(reads > 0 && reads <= 70)
  await sampleTile(raster, tile, { blocks })
  assert.equal(raster.reads, reads)
})

test('bands that were not requested are cached for the next request', async () => {
  for (const interleave of ['pixel', 'band'] as const) {
    const raster = new MemoryRaster({
      ...(PLACES['Web Mercator'] ?? assert.fail()),
      bandCount: 3,
      interleave,
      value: (_x, _y, band) => band + 1,
    })
    const blocks = createBlockCache(CACHE_BYTES)
    for (const bands of [[2, 0], [1]]) {
      const { planes, mask } = await sampleTile(raster, tileAround(raster), { bands, blocks })
      const seen = mask.findIndex((value) => value !== 0)
      assert.deepEqual(
        planes.map((plane) => plane[seen]),
        bands.map((band) => band + 1),
      )
    }
  }
})

test('a file without overviews cannot make one tile read everything', async () => {
  const huge = new MemoryRaster({
    epsg: 3857,
    width: 100_000,
    height: 100_000,
    transform: [-10_000_000, 200, 0, 10_000_000, 0, -200],
    blockSize: 512,
    value: () => 1,
  })
  await assert.rejects(sampleTile(huge, { z: 0, x: 0, y: 0 }), (error) => error instanceof RasterError && error.code === 'limit_exceeded')
  assert.equal(huge.reads, 0)
})

test('tile addresses outside the scheme are rejected', () => {
  const raster = new MemoryRaster({ ...(PLACES['geographic'] ?? assert.fail()) })
  for (const tile of [
    { z: -1, x: 0, y: 0 },
    { z: 25, x: 0, y: 0 },
    { z: 1, x: 2, y: 0 },
    { z: 1, x: 0, y: -1 },
    { z: 1.5, x: 0, y: 0 },
  ]) {
    assert.throws(() => planTile(raster, tile, 256), RasterError)
  }
})
