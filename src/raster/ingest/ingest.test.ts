// Goal: the metadata of an incoming file is correct: footprint, bands, and whether it must be converted.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { openFileSource } from '#raster/source/file.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RasterError, type Affine } from '#raster/types.ts'
import { writeCog } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'
import { acquiredAt, bandNamesOf, initialProfile, groundSampleDistance, rasterFacts } from './facts.ts'
import { inspect, isCloudOptimized } from './inspect.ts'
import { dataOutline, extentOutline, type Outline } from './outline.ts'
import { refusalOf, unlikeTiff } from './refusal.ts'
import { rewriteAsCog } from './rewrite.ts'

interface Made {
  width?: number
  height?: number
  epsg?: number
  transform?: Affine
  bands?: { name?: string; color?: 'red' | 'green' | 'blue' | 'undefined' }[]
  metadata?: Record<string, string>
  overviews?: 'none' | 'average'
  value?: (x: number, y: number) => number
}

async function createRaster({
  width = 200,
  height = 100,
  epsg = 4326,
  transform = [10, 0.01, 0, 50, 0, -0.01],
  bands = [{}],
  metadata = {},
  overviews = 'average',
  value = () => 7,
}: Made = {}) {
  const sink = memorySink()
  await writeCog(
    sink,
    {
      width,
      height,
      dataType: 'uint8',
      bandCount: bands.length,
      nodata: 0,
      crs: crsFromEpsg(epsg),
      transform,
      bands,
      metadata,
      blockSize: 128,
      overviews,
    },
    async (y, rows) => {
      const data = new Uint8Array(width * rows * bands.length)
      for (let row = 0; row < rows; row++)
        for (let x = 0; x < width; x++) data.fill(value(x, y + row), (row * width + x) * bands.length, (row * width + x + 1) * bands.length)
      const starts = bands.map((_, band) => band)
      return {
        width,
        height: rows,
        bands: starts,
        data: starts.map(() => data),
        starts,
        stride: bands.length,
        mask: null,
        byteLength: data.byteLength,
      }
    },
  )
  return openTiff(memorySource(sink.bytes()))
}

const boxOf = (outline: Outline) => [
  Math.min(...outline.map(([x]) => x)),
  Math.min(...outline.map(([, y]) => y)),
  Math.max(...outline.map(([x]) => x)),
  Math.max(...outline.map(([, y]) => y)),
]

/** Even-odd. */
function contains(ring: Outline, [x, y]: readonly [number, number]): boolean {
  let inside = false
  ring.slice(1).forEach(([x1, y1], index) => {
    const [x0, y0] = ring[index]!
    if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) inside = !inside
  })
  return inside
}

test('an outline is closed and contains every data pixel, whatever their shape', async () => {
  const blobs = fc.array(
    fc.record({
      x: fc.integer({ min: 0, max: 199 }),
      y: fc.integer({ min: 0, max: 99 }),
      w: fc.integer({ min: 5, max: 80 }),
      h: fc.integer({ min: 5, max: 60 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  await fc.assert(
    fc.asyncProperty(blobs, async (list) => {
      const isData = (x: number, y: number) => list.some((blob) => x >= blob.x && x < blob.x + blob.w && y >= blob.y && y < blob.y + blob.h)
      const raster = await createRaster({ value: (x, y) => (isData(x, y) ? 9 : 0) })
      const ring = await dataOutline(raster)
      assert.deepEqual(ring[0], ring.at(-1))
      assert.ok(ring.length <= 200)
      let missed = 0
      for (let y = 0; y < 100; y++)
        for (let x = 0; x < 200; x++) if (isData(x, y) && !contains(ring, [10 + (x + 0.5) * 0.01, 50 - (y + 0.5) * 0.01])) missed++
      assert.ok(missed <= 32, `${missed} pixels at corners that were rounded off`)
      const [west, south, east, north] = boxOf(extentOutline(raster.info))
      for (const [x, y] of ring) assert.ok(x >= west! - 1e-9 && x <= east! + 1e-9 && y >= south! - 1e-9 && y <= north! + 1e-9)
    }),
    { numRuns: 40 },
  )
})

test('outlines are curved by projections and continue across the antimeridian; an empty image is an error', async () => {
  const utm = extentOutline((await createRaster({ epsg: 32660, transform: [700_000, 2_000, 0, 5_800_000, 0, -2_000] })).info)
  assert.ok(utm.length > 5, 'edges are followed')
  const [west, , east] = boxOf(utm)
  assert.ok(west! > 179 && east! > 184 && east! - west! < 10, `${west} ${east}`)
  await assert.rejects(
    dataOutline(await createRaster({ value: () => 0 })),
    (error) => error instanceof RasterError && /all pixels are no-data/.test(error.message),
  )
})

test('metadata: names, style, resolution, time', async () => {
  const { info } = await createRaster({
    bands: [{ name: 'nir' }, { color: 'red' }, {}, { name: 'nir' }],
    metadata: { ACQUISITIONDATETIME: '2024-02-03 04:05:06', TIFFTAG_DATETIME: '2025:01:01 00:00:00' },
  })
  assert.deepEqual(bandNamesOf(info), ['nir', 'red', 'b3', 'nir_4'])
  assert.equal(acquiredAt(info)?.toISOString(), '2024-02-03T04:05:06.000Z')
  assert.equal(acquiredAt((await createRaster({ metadata: { DATETIME: 'yesterday' } })).info), null)
  const cases: [string, string, string | null][] = [
    ['firstLineTime', '2019-04-13T10:11:12.123456Z;', '2019-04-13T10:11:12.123Z'],
    ['acquisitionDateTime', '2020/01/02 03:04:05 UTC', '2020-01-02T03:04:05.000Z'],
    ['DATE_ACQUIRED', '"2021-06-07"', '2021-06-07T00:00:00.000Z'],
    ['SENSING_START', '2021-06-07T08:09:10+0200', '2021-06-07T06:09:10.000Z'],
    ['ACQUISITION_DATE', '2021-02-31', null],
    ['generationTime', '2021-01-01T00:00:00Z', null],
  ]
  for (const [name, value, expected] of cases) {
    const time = acquiredAt({ ...info, metadata: {}, times: { items: [[name, value]], tag: null } })
    assert.equal(time?.toISOString() ?? null, expected, name)
  }
  assert.equal(
    acquiredAt({ ...info, metadata: {}, times: { items: [], tag: '2022:03:04 05:06:07' } })?.toISOString(),
    '2022-03-04T05:06:07.000Z',
  )
  assert.equal(acquiredAt({ ...info, metadata: {}, times: { items: [], tag: '0000:00:00 00:00:00' } }), null)
  assert.ok(Math.abs(groundSampleDistance(info)! - 1113 * Math.sqrt(Math.cos((49.5 * Math.PI) / 180))) < 2)
  const utm = { epsg: 32633, transform: [500_000, 10, 0, 5_500_000, 0, -10] } as const
  assert.equal(groundSampleDistance((await createRaster(utm)).info), 10, 'what everybody calls 10 m')
  const mercator = groundSampleDistance((await createRaster({ epsg: 3857, transform: [1_000_000, 10, 0, 6_400_000, 0, -10] })).info)!
  assert.ok(mercator > 6 && mercator < 7, 'but a metre of Web Mercator is no metre')
  assert.deepEqual(initialProfile(info, bandNamesOf(info), true).config, { bands: [1], color_table: true, colormap: 'tab20' })
  const raster = await createRaster({ value: (x) => (x < 50 ? 0 : 3) })
  const facts = rasterFacts(raster.info, (await inspect(raster)).statistics, false)
  assert.deepEqual((facts['bands'] as { statistics: object }[])[0]!.statistics, {
    min: 3,
    max: 3,
    mean: 3,
    std: 0,
    p2: 3,
    p98: 3,
    valid_percent: 75,
  })
  assert.equal(JSON.stringify(facts).includes('null,null'), false)
})

test('conversion: blocks, overviews, unchanged classes, progress up to 1, no file after a failure', async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ingest-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const plain = await createRaster({ width: 1400, height: 700, overviews: 'none', value: (x) => (x % 2 ? 10 : 200) })
  assert.equal(isCloudOptimized(plain.info), false)
  assert.equal(isCloudOptimized((await createRaster({ width: 500, height: 500, overviews: 'none' })).info), true)
  const file = path.join(folder, 'out.tif')
  const progress: number[] = []
  await rewriteAsCog(plain, {
    path: file,
    temporaryDirectory: folder,
    isCategorical: true,
    onProgress: (fraction) => progress.push(fraction),
  })
  const source = await openFileSource(file)
  t.after(() => source.close?.())
  const cog = await openTiff(source)
  assert.equal(isCloudOptimized(cog.info), true)
  const { statistics } = await inspect(cog)
  assert.ok([statistics[0]!.min, statistics[0]!.max].every((value) => value === 10 || value === 200))
  assert.deepEqual([progress.at(-1), progress.toSorted((a, b) => a - b)], [1, progress])
  const stopped = AbortSignal.abort()
  await assert.rejects(
    rewriteAsCog(plain, { path: path.join(folder, 'never.tif'), temporaryDirectory: folder, isCategorical: false, signal: stopped }),
    (error) => error instanceof RasterError && error.code === 'aborted',
  )
  assert.deepEqual(readdirSync(folder), ['out.tif'])
})

test('errors name what is wrong with the file, and nothing else', () => {
  assert.equal(unlikeTiff(Buffer.from('II*\0')), null)
  assert.equal(unlikeTiff(Buffer.from('MM\0+')), null)
  assert.match(unlikeTiff(Buffer.from('CDF\x01'))!, /NetCDF/)
  assert.match(unlikeTiff(new Uint8Array(0))!, /^The file is not a GeoTIFF\. GeoTIFF and COG files are accepted/)
  assert.match(refusalOf(new RasterError('corrupt', 'Block 3 ends early.'))!, /^The file is damaged: Block 3 ends early$/)
  for (const code of ['source_unavailable', 'aborted', 'overloaded', 'source_changed'] as const)
    assert.equal(refusalOf(new RasterError(code, 'x')), null)
  assert.equal(refusalOf(new Error('a bug')), null)
})
