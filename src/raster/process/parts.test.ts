// Goal: a raster written in parts, by any number of machines, is byte for byte the file that one machine writes.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { ExactRaster } from '#raster/tiff/raster.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { writeCog } from '#raster/write/cog.ts'
import { openFileSink } from '#raster/write/sink.ts'
import type { CogSpec } from '#raster/write/spec.ts'
import { planMethod, runMethod } from './index.ts'
import { LateRaster, unpackHeaders } from './late.ts'
import { levelFile } from './parts.ts'
import type { MethodTask } from './method.ts'

const open = async (file: string): Promise<ExactRaster> => openTiff(await openFileSource(file))
const [WEST, NORTH, DEGREES] = [151, -33, 0.001] as const

interface Given extends Partial<CogSpec> {
  readonly width: number
  readonly height: number
  readonly east?: number
}

/** Values that neither repeat nor average to one another, with holes. */
async function write(file: string, { east = 0, ...given }: Given): Promise<void> {
  const spec: CogSpec = {
    dataType: 'uint16',
    bandCount: 2,
    nodata: 0,
    crs: crsFromEpsg(4326),
    transform: [WEST + east, DEGREES, 0, NORTH, 0, -DEGREES],
    blockSize: 64,
    ...given,
  }
  const { width, bandCount } = spec
  const sink = await openFileSink(file)
  const bands = Array.from({ length: bandCount }, (_, band) => band)
  const classes = spec.overviews === 'mode' || spec.dataType === 'uint8' ? 7 : 60_000
  await writeCog(sink, spec, async (y, rows) => {
    const data = new EXACT_ARRAY[spec.dataType](width * rows * bandCount) as Float32Array<ArrayBuffer>
    for (let i = 0; i < data.length; i++) {
      const seen = (Math.imul(i + y * width * bandCount + 1, 2_654_435_761) >>> 0) % (classes + 900)
      data[i] = seen < classes ? seen : (spec.nodata ?? 1)
    }
    const mask = spec.hasMask ? Uint8Array.from({ length: width * rows }, (_, i) => ((i + y) % 5 === 0 ? 0 : 255)) : null
    return { width, height: rows, bands, data: bands.map(() => data), starts: bands, stride: bandCount, mask, byteLength: data.byteLength }
  })
  await sink.close()
}

async function both(t: { after(end: () => Promise<void>): void }, method: string, options: object, outputs: string[], given: Given[]) {
  const folder = await mkdtemp(path.join(tmpdir(), 'parts-'))
  t.after(() => rm(folder, { recursive: true }))
  const sources = given.map((_, index) => path.join(folder, `source-${index}.tif`))
  for (const [index, each] of given.entries()) await write(sources[index]!, each)
  const run = async <T>(
    files: readonly string[],
    work: (rasters: ExactRaster[]) => Promise<T>,
    late?: ReturnType<typeof unpackHeaders>,
  ): Promise<T> => {
    const rasters = await Promise.all(
      files.map((file, index) => (late?.[index] ? new LateRaster(late[index], () => open(file)) : open(file))),
    )
    return await work(rasters).finally(() => Promise.all(rasters.map((raster) => raster.close())))
  }
  const task = (rasters: readonly ExactRaster[], name: string, names: readonly string[], its: object): MethodTask => ({
    rasters,
    options: { ...its },
    files: Object.fromEntries(names.map((output) => [output, path.join(folder, `${name}-${output}`)])),
    temporaryDirectory: folder,
    compression: 'deflate',
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  const whole = await run(sources, (rasters) => runMethod(method, task(rasters, 'whole', outputs, options)))
  const { rasters: planned, headers } = await run(sources, (rasters) => planMethod(method, task(rasters, 'plan', outputs, options)))
  const unit = Math.max(...planned.map(({ unitRows }) => unitRows))
  const { height } = planned[0]!
  const ranges = Array.from({ length: Math.ceil(height / unit) }, (_, n) => ({ from: n * unit, to: Math.min(height, (n + 1) * unit) }))
  const results: Record<string, unknown>[] = []
  const late = headers === null ? undefined : unpackHeaders(headers)
  // From the last to the first: no part may depend on what was computed before it.
  for (const [n, part] of [...ranges.entries()].toReversed())
    results.unshift(await run(sources, (rasters) => runMethod(method, { ...task(rasters, `part-${n}`, outputs, options), part }), late))
  for (const [index, output] of outputs.entries()) {
    const { spec, levels } = planned[index]!
    const names = Array.from({ length: levels }, (_, level) => levelFile(level + 1))
    const partFile = (n: number) => path.join(folder, `part-${n}-${output}`)
    for (const [n, rows] of ranges.entries()) {
      const above = n === 0 ? null : ranges[n - 1]!
      const inputs = above ? [partFile(n - 1), partFile(n)] : [partFile(n)]
      await run(inputs, (rasters) => runMethod('overviews', task(rasters, `over-${output}-${n}`, names, { spec, rows, above })))
    }
    const all = [
      ...ranges.map((_, n) => partFile(n)),
      ...names.flatMap((name) => ranges.map((_, n) => path.join(folder, `over-${output}-${n}-${name}`))),
    ]
    const joined = { spec, parts: ranges.length, levels }
    await run(all, (rasters) => runMethod('assemble', task(rasters, `joined-${output}`, ['data.tif'], joined)))
    const joinedBytes = await readFile(path.join(folder, `joined-${output}-data.tif`))
    const expected = await readFile(path.join(folder, `whole-${output}`))
    assert.ok(joinedBytes.equals(expected), `${method} ${output} of ${ranges.length} parts has other bytes`)
  }
  return { whole, results, parts: ranges.length }
}

const SIZES = [
  { width: 300, height: 1_024 },
  { width: 301, height: 1_023 },
  { width: 257, height: 777 },
  { width: 512, height: 1_153 },
]

test('a conversion in parts: sizes, types, masks and overviews', async (t) => {
  for (const size of SIZES)
    for (const more of [
      {},
      { nodata: null },
      { dataType: 'float32' as const, nodata: Number.NaN },
      { dataType: 'uint8' as const, bandCount: 1, overviews: 'mode' as const },
      { dataType: 'uint8' as const, bandCount: 3, nodata: null, hasMask: true },
      { dataType: 'int32' as const, bandCount: 1, nodata: -9 },
      { dataType: 'float64' as const, bandCount: 1, nodata: null },
    ]) {
      const { overviews, ...spec } = more as Partial<CogSpec>
      for (const compression of size === SIZES[1] ? ['deflate', 'zstd'] : ['deflate']) {
        const options = { blockSize: 64, compression, ...(overviews ? { overviews } : {}) }
        const { parts } = await both(t, 'convert', options, ['data.tif'], [{ ...size, ...spec }])
        assert.equal(parts, Math.ceil(size.height / 256))
      }
    }
})

test('nearest overviews in parts', async (t) => {
  for (const size of SIZES) await both(t, 'convert', { blockSize: 64, overviews: 'nearest' }, ['data.tif'], [size])
})

const SCENES: Given[] = [
  { width: 700, height: 1_300 },
  { width: 700, height: 1_299, east: 0.2503 },
  { width: 650, height: 1_100, east: 0.5 },
]

test('a mosaic in parts: the pixels, the scene of each pixel and the counts', async (t) => {
  for (const choice of ['first', 'median', 'brightest']) {
    const { parts, whole, results } = await both(t, 'mosaic', { choice }, ['data.tif', 'source_index.tif'], SCENES)
    assert.equal(parts, 2)
    const sum = (index: number) => results.reduce((total, result) => total + (result['pixelsOfScenes'] as number[])[index]!, 0)
    assert.deepEqual([sum(0), sum(1), sum(2)], whole['pixelsOfScenes'])
  }
})

test('other methods in parts', async (t) => {
  const geometry = {
    type: 'Polygon',
    coordinates: [
      [
        [WEST + 0.01, NORTH - 0.01],
        [WEST + 0.6, NORTH - 0.02],
        [WEST + 0.4, NORTH - 1.28],
        [WEST + 0.01, NORTH - 0.01],
      ],
    ],
  }
  for (const [method, options] of [
    ['composite', { statistic: 'median' }],
    ['composite', { statistic: 'mean', resampling: 'bilinear', epsg: 3857 }],
    ['expression', { expression: '(b1-b2)/(b1+b2)' }],
    ['expression', { expression: 'b1*2', geometry }],
    ['warp', { epsg: 32_756, resampling: 'bilinear' }],
    ['warp', { geometry }],
    ['warp', { resolution: 0.0007, resampling: 'cubic' }],
    ['rewrite', { isCategorical: false }],
    ['rewrite', { isCategorical: true, position: { crs: 'EPSG:3857', bounds: [0, 0, 700, 1_300] } }],
  ] as const) {
    const { parts } = await both(t, method, options, ['data.tif'], method === 'composite' ? SCENES : SCENES.slice(0, 1))
    assert.ok(parts > 1, method)
  }
})

test('cloud masks in parts: the filter sees the rows above and below, and counts add up', async (t) => {
  for (const [method, options] of [
    ['clouds', { bands: { blue: 1, green: 1, red: 2, nir: 2 }, scale: 0.00001 }],
    ['cloudClasses', { band: 1, values: Array.from({ length: 9_000 }, (_, n) => n * 5) }],
  ] as const)
    for (const size of [
      { width: 300, height: 2_100 },
      { width: 301, height: 2_049 },
    ]) {
      const { parts, whole, results } = await both(t, method, options, ['data.tif'], [size])
      assert.equal(parts, 3)
      for (const name of ['clearPixels', 'cloudPixels']) {
        const sum = results.reduce((total, result) => total + (result[name] as number), 0)
        assert.equal(sum, whole[name], name)
        assert.ok(sum > 1_000, `${method} has ${sum} of ${name}`)
      }
    }
})
