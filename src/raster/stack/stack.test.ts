/**
 * Goal: a stack gives the same pixels as one file with the same bands, in every computation; files on other grids, of other
 * types and in other blocks are sampled at the right places; and what fails names its asset.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bandFile, reflectance, UTM_LEFT, UTM_TOP, type BandFile } from '../../../test/support/stack.ts'
import { campaign } from '../../../test/support/campaign.ts'
import { createContext } from '#raster/render/context.ts'
import { readPoint } from '#raster/render/point.ts'
import type { Style } from '#raster/render/style.ts'
import { drawTile } from '#raster/render/tile.ts'
import { memorySource } from '#raster/source/memory.ts'
import { computeStatistics } from '#raster/statistics/index.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { RasterError, type DataType, type Raster } from '#raster/types.ts'
import { createBlockCache } from '#raster/warp/blocks.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { HALF_WORLD_M, toMercator, WORLD_M } from '#raster/warp/mercator.ts'
import { planTile } from '#raster/warp/plan.ts'
import { samplePlanes } from '#raster/warp/sample.ts'
import { zonalStatistics } from '#raster/zonal/index.ts'
import { assetProblem, MAX_STACK_BANDS, type StackBand } from './band.ts'
import { commonType, describeStack, outlineStack, requireOverlap } from './info.ts'
import { StackRaster, type StackFile } from './raster.ts'
import { bandsOfStyle, usedBands } from './used.ts'

const opened = async (file: BandFile): Promise<ExactRaster> => openTiff(memorySource(await bandFile(file)))

const stackOf = (files: readonly StackFile[], bands: readonly StackBand[] = files.map((_, index) => ({ name: `asset_${index + 1}` }))) =>
  new StackRaster({
    bands,
    files,
    key: `stack:${bands.map(({ name }) => name).join()}:${Math.random()}`,
    blocks: createBlockCache(32 * 2 ** 20),
  })

const AREA = { width: 300, height: 260, pixelM: 10 }
const NAMES = { asset_1: 1, asset_2: 2, asset_3: 3 }
const EXPRESSION = '(asset_3-asset_1)/(asset_3+asset_1)'

/** Around the middle of the default extent. */
async function middleOf(raster: ExactRaster) {
  const { bounds } = coverageOf(raster.info)
  const [west, south, east, north] = bounds
  const at = (x: number, y: number): [number, number] => [west + (east - west) * x, south + (north - south) * y]
  const ring = [at(0.3, 0.3), at(0.7, 0.35), at(0.6, 0.75), at(0.3, 0.3)]
  return { zone: { type: 'Polygon', coordinates: [ring] }, point: { longitude: at(0.5, 0.5)[0], latitude: at(0.5, 0.5)[1] }, bounds }
}

function tileAt(longitude: number, latitude: number, z: number) {
  const [x, y] = toMercator(longitude, latitude)
  const side = WORLD_M / 2 ** z
  return { z, x: Math.floor((x + HALF_WORLD_M) / side), y: Math.floor((HALF_WORLD_M - y) / side) }
}

test('a stack of files with one band each equals one file with the same bands', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        dataType: fc.constantFrom<Exclude<DataType, 'float16'>>('uint8', 'int16', 'uint16', 'int32', 'float32', 'float64'),
        nodata: fc.constantFrom(null, 0, 7),
        isMasked: fc.boolean(),
        resampling: fc.constantFrom('nearest' as const, 'bilinear' as const, 'cubic' as const),
        zoomsOut: fc.integer({ min: -1, max: 3 }),
        seed: fc.integer({ min: 1, max: 1_000 }),
      }),
      async ({ dataType, nodata, isMasked, resampling, zoomsOut, seed }) => {
        // Small values, so that nodata occurs in some bands of a pixel and not in others.
        const value = (x: number, y: number, band: number) =>
          ((Math.floor(x / 10) * 7 + Math.floor(y / 10) * 13 + band * 5 + seed) % 23) + band
        const mask = isMasked ? { mask: (x: number, y: number) => ((x * 3 + y + seed) % 11 === 0 ? 0 : 255) } : {}
        const common = { ...AREA, dataType, nodata, ...mask }
        const one = await opened({ ...common, bandCount: 3, value })
        const files = await Promise.all([0, 1, 2].map((band) => opened({ ...common, value: (x, y) => value(x, y, band) })))
        const stack = stackOf(files)
        const { zone, point, bounds } = await middleOf(one)
        const z = coverageOf(one.info).maxZoom - zoomsOut
        const tile = tileAt((bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2, z)
        const styles: Style[] = [
          { kind: 'rgb', bands: [1, 2, 3], ranges: [[0, 25]] },
          { kind: 'single', band: 2, colormap: 'viridis' },
          { kind: 'expression', expression: EXPRESSION, names: NAMES, ranges: [[-1, 1]] },
        ]
        for (const style of styles)
          assert.deepEqual(
            await drawTile(createContext(), stack, tile, { style, resampling }),
            await drawTile(createContext(), one, tile, { style, resampling }),
            `tile ${style.kind}`,
          )
        for (const geometry of [undefined, zone])
          for (const options of [{}, { expression: EXPRESSION, names: NAMES }, { bands: [3, 1], exactCoverage: true }])
            assert.deepEqual(
              await computeStatistics(stack, { geometry, ...options }),
              await computeStatistics(one, { geometry, ...options }),
              `statistics ${JSON.stringify(options)}`,
            )
        for (const options of [{}, { expression: EXPRESSION, names: NAMES }])
          assert.deepEqual(
            (await zonalStatistics(stack, { zones: [zone], ...options, percentiles: [10, 50] })).zones,
            (await zonalStatistics(one, { zones: [zone], ...options, percentiles: [10, 50] })).zones,
          )
        assert.deepEqual(await readPoint(createContext(), stack, point), await readPoint(createContext(), one, point))
      },
    ),
    { numRuns: campaign({ short: 12, ci: 60, long: 300 }) },
  )
})

test('files with other blocks, resolutions, types and zones are sampled where they are', async (t) => {
  const coordinates = (xM: number, yM: number) => Math.floor(xM / 60) + 100 * Math.floor(yM / 60)
  const reference = await opened({ ...AREA, value: coordinates })
  const { zone, point } = await middleOf(reference)
  const others: Record<string, BandFile> = {
    'other blocks': { ...AREA, blockSize: 128, value: coordinates },
    '20 m': { width: 150, height: 130, pixelM: 20, value: coordinates },
    '60 m': { width: 50, height: 44, pixelM: 60, value: coordinates },
    'floats of 20 m': { width: 150, height: 130, pixelM: 20, dataType: 'float32', value: coordinates },
    'a grid that starts a pixel earlier': { ...AREA, width: 302, height: 262, left: UTM_LEFT - 10, top: UTM_TOP + 10, value: coordinates },
  }
  for (const [name, file] of Object.entries(others))
    await t.test(name, async () => {
      const stack = stackOf([reference, await opened(file)])
      assert.deepEqual([stack.info.width, stack.info.height], [300, 260], 'on the grid of the finest')
      const { zones } = await zonalStatistics(stack, { zones: [zone], expression: 'b1-b2', statistics: ['min', 'max', 'count'] })
      const { values, count, covered } = zones[0]![0]!
      assert.deepEqual([values.min, values.max], [0, 0], 'every pixel meets its own place')
      assert.ok(Math.abs(count - covered) < 1e-6)
      const [a, b] = (await readPoint(createContext(), stack, point))!
      assert.equal(a, b)
    })

  await t.test('another UTM zone', async () => {
    // A position in degrees: continuous over both zones, so that pixels meet within a pixel.
    const wide = await opened({ width: 600, height: 520, pixelM: 10, value: (x, y) => 1000 + x / 10 + y / 10 })
    const { bounds } = await middleOf(wide)
    const east = await opened({
      width: 900,
      height: 900,
      pixelM: 10,
      epsg: 32_755,
      left: 855_000,
      top: 6_264_000,
      value: () => 5000,
    })
    const stack = stackOf([wide, east])
    const { bands } = await computeStatistics(stack, { expression: 'b2-b1' })
    assert.ok(bands[0]!.count > 0 && bands[0]!.max! < 4000, `of ${JSON.stringify(bounds)}`)
    assert.equal(stack.info.crs?.epsg, 32_756)
  })
})

test('each band is measured on its own pixels, and values are physical where the catalogue states a scale', async () => {
  const red = await opened({ ...AREA, nodata: 0, value: reflectance(800) })
  const swir = await opened({ width: 150, height: 130, pixelM: 20, nodata: 0, value: reflectance(1500) })
  const plain = stackOf([red, swir])
  const counts = (await computeStatistics(plain)).bands.map(({ count }) => count)
  assert.deepEqual(counts, [300 * 260, 150 * 130])
  const bands = [
    { name: 'red', scale: 0.0001, offset: -0.1 },
    { name: 'swir16', scale: 0.0001, offset: -0.1 },
  ]
  const scaled = stackOf([red, swir], bands)
  assert.equal(scaled.info.isScaled, true)
  const [raw, physical] = await Promise.all([plain, scaled].map((stack) => computeStatistics(stack, { bands: [1] })))
  assert.ok(Math.abs(physical!.bands[0]!.mean! - (raw!.bands[0]!.mean! * 0.0001 - 0.1)) < 1e-12)
  const { point } = await middleOf(red)
  const samples = (await readPoint(createContext(), plain, point)) as number[]
  assert.deepEqual(
    await readPoint(createContext(), scaled, point),
    samples.map((sample) => sample * 0.0001 + -0.1),
  )
  const index = '(b2-b1)/(b2+b1)'
  const [{ bands: computed }, { bands: expected }] = [
    await computeStatistics(scaled, { expression: index }),
    await computeStatistics(plain, { expression: '((b2*0.0001-0.1)-(b1*0.0001-0.1))/((b2*0.0001-0.1)+(b1*0.0001-0.1))' }),
  ]
  assert.ok(Math.abs(computed[0]!.mean! - expected[0]!.mean!) < 1e-9)
  const floats = scaled.physical()
  assert.deepEqual([floats.info.dataType, floats.info.isScaled, floats.info.bands[0]!.scale], ['float32', false, 1])
  const block = await floats.readBlock(0, 0, 0, { bands: [0] })
  const original = await red.readBlock(0, 0, 0)
  assert.equal(block.data[0]![5], Math.fround(original.data[0]![5]! * 0.0001 - 0.1))
})

test('only used files are needed, and errors name the asset', async (t) => {
  const red = await opened({ ...AREA, value: reflectance(800) })
  const bands = [{ name: 'red' }, { name: 'nir' }, { name: 'swir16' }]
  const problem = assetProblem('nir', { code: 'corrupt', message: 'The TIFF has no directory' })

  await t.test('other bands of a stack with a broken file', async () => {
    const stack = stackOf([red, { problem }, null], bands)
    assert.equal((await computeStatistics(stack, { bands: [1] })).bands.length, 1)
    assert.equal(stack.info.bands[1]!.problem, problem)
    await assert.rejects(computeStatistics(stack, { bands: [2] }), (error: RasterError) => {
      assert.equal(error.message, "The asset 'nir' cannot be read: The TIFF has no directory. Replace the file, or use other bands")
      return true
    })
    const { point } = await middleOf(red)
    assert.equal((await readPoint(createContext(), stackOf([red, { problem }], bands.slice(0, 2)), point))![1], null)
  })

  await t.test('a file that breaks while it is read', async () => {
    const bytes = await bandFile({ ...AREA, value: reflectance(800) })
    const source = memorySource(bytes)
    let isBroken = false
    const breaking = await openTiff({
      ...source,
      fetch: async (...range) => {
        if (isBroken) throw new RasterError('source_unavailable', 'The host responded with 403')
        return source.fetch(...range)
      },
    })
    isBroken = true
    const stack = stackOf([red, breaking], bands.slice(0, 2))
    await assert.rejects(computeStatistics(stack, { expression: 'b1+b2' }), /The asset 'nir' cannot be read: The host responded with 403/)
  })

  await t.test('files that do not overlap', async () => {
    const far = await opened({ ...AREA, left: UTM_LEFT + 100_000, value: reflectance(900) })
    assert.throws(() => requireOverlap(bands.slice(0, 2), [red.info, far.info]), /The assets 'red' and 'nir' do not overlap/)
  })

  await t.test('too many bands', () => {
    const many = Array.from({ length: MAX_STACK_BANDS + 1 }, (_, index) => ({ name: `b_${index}` }))
    assert.throws(() => outlineStack(many), /A stack has 1 to 32 bands, not 33/)
    assert.throws(() => describeStack([], []), /not 0/)
  })
})

// Goal: a coarse band beside finer ones is resampled from its own pixels: the same values as alone, without steps at its pixels' edges.
test('smooth pixels of bands with different grids', async (t) => {
  const fine = await opened({ ...AREA, value: reflectance(900) })
  const coarse = await opened({ ...AREA, width: AREA.width / 2, height: AREA.height / 2, pixelM: 20, value: reflectance(2_000, 2) })
  const holed = await opened({ ...AREA, nodata: 0, value: (x, y) => (Math.floor(x / 50) % 3 === 0 ? 0 : reflectance(900)(x, y)) })
  const shifted = await opened({ ...AREA, left: UTM_LEFT - 137, width: AREA.width + 30, value: reflectance(700, 1) })
  const zone55 = await opened({
    width: 700,
    height: 700,
    pixelM: 40,
    epsg: 32_755,
    left: 843_000,
    top: 6_268_000,
    value: reflectance(500, 3),
  })
  const files = [fine, coarse, holed, shifted, zone55]
  const bands = ['fine', 'coarse', 'holed', 'shifted', 'zone55'].map((name) => ({ name }))
  const stackOf = (used: readonly number[]) =>
    new StackRaster({
      bands,
      files: files.map((file, index) => (used.includes(index) ? file : null)),
      key: used.join(),
      blocks: createBlockCache(64 * 2 ** 20),
    })
  const { bounds, maxZoom } = coverageOf(fine.info)
  const tile = tileAt((bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2, maxZoom + 2)
  const size = { width: 256, height: 256 }
  const sampled = (
    raster: Raster,
    wanted: readonly number[],
    rule: 'all' | 'any' = 'all',
    resampling: 'bilinear' | 'cubic' | 'average' = 'bilinear',
  ) =>
    samplePlanes({
      raster,
      blocks: createBlockCache(2 ** 26),
      windows: planTile(raster, tile, 256),
      bands: wanted,
      ...size,
      resampling,
      rule,
    })

  for (const method of ['bilinear', 'cubic', 'average'] as const)
    await t.test(`${method}: each band as alone`, async () => {
      const together = await sampled(stackOf([0, 1, 3]), [0, 1, 3], 'all', method)
      for (const [plane, file] of [fine, coarse, shifted].entries()) {
        const alone = await sampled(file, [0], 'all', method)
        let worst = 0
        alone.planes[0]!.forEach(
          (value, i) => (worst = together.mask[i] === 0 ? worst : Math.max(worst, Math.abs(value - together.planes[plane]![i]!))),
        )
        assert.ok(worst < 0.05, `band ${plane} differs by ${worst}`)
      }
    })

  await t.test('no steps: neighbours inside a coarse pixel differ', async () => {
    const { planes } = await sampled(stackOf([0, 1]), [1])
    const row = planes[0]!.subarray(128 * 256, 129 * 256)
    const equal = row.filter((value, i) => i > 0 && value === row[i - 1]).length
    assert.ok(equal < 10, `${equal} of 255 neighbours are equal`)
  })

  await t.test('a pixel is data where all files cover it; a nodata value of one band hides it only from expressions', async () => {
    const stack = stackOf([1, 2])
    const [all, any] = [await sampled(stack, [1, 2], 'all'), await sampled(stack, [1, 2], 'any')]
    const holes = all.mask.filter((value) => value === 0).length
    assert.ok(holes > 1_000 && holes < 60_000, `${holes} pixels`)
    assert.ok(!any.mask.includes(0))
    const near = await sampled(stackOf([0, 4]), [0, 4], 'any')
    const alone = await sampled(zone55, [0], 'any')
    assert.deepEqual(near.mask, alone.mask)
  })
})

test('the bands that a request uses', () => {
  const names = { red: 4, nir: 8 }
  assert.deepEqual(usedBands(12, { expression: '(nir-red)/(nir+red)', names }), [4, 8])
  assert.deepEqual(usedBands(12, { bands: [4, 3, 2, 4] }), [2, 3, 4])
  assert.equal(usedBands(12, {}), null)
  assert.deepEqual(bandsOfStyle(12, { kind: 'rgb', bands: [4, 3, 2] }), [2, 3, 4])
  assert.deepEqual(bandsOfStyle(12, { kind: 'expression', expression: 'b8/b4' }), [4, 8])
})

test('the type of a stack holds the samples of all its files', () => {
  assert.equal(commonType(['uint16', 'uint16']), 'uint16')
  assert.equal(commonType(['uint8', 'uint16']), 'uint16')
  assert.equal(commonType(['uint16', 'int16']), 'int32')
  assert.equal(commonType(['uint8', 'float32']), 'float32')
  assert.equal(commonType(['uint32', 'float32']), 'float64')
  assert.equal(commonType(['uint64', 'uint64']), 'uint64')
})
