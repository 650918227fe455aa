/**
 * Goal: what the COG writer writes, our reader (which the golden files hold against GDAL) reads back
 * exactly, for all data types, shapes, masks and options; the layout is GDAL's.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { RasterError, type Block, type DataType, type ExactSampleArray } from '#raster/types.ts'
import { writeCog, type PullRows, type WriteOptions } from '#raster/write/cog.ts'
import { memorySink } from '#raster/write/sink.ts'
import type { CogSpec } from '#raster/write/spec.ts'
import { campaign } from '../../../test/support/campaign.ts'

type WrittenType = Exclude<DataType, 'float16'>

const TYPES: readonly WrittenType[] = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64', 'float32', 'float64']

interface Pixels {
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

/** Bytes of any kind make samples of any kind, also NaN and the extremes. */
function randomPixels(spec: CogSpec, seed: number): Pixels {
  const ArrayType = EXACT_ARRAY[spec.dataType]
  const count = spec.width * spec.height * spec.bandCount
  const bytes = new Uint8Array(count * ArrayType.BYTES_PER_ELEMENT)
  let state = seed | 1
  for (let i = 0; i < bytes.length; i++) {
    state = Math.imul(state ^ (state >>> 13), 0x5bd1e995) + i
    bytes[i] = (i >> 6) % 3 === 0 ? 0 : state >>> 11
  }
  const mask = spec.hasMask
    ? Uint8Array.from({ length: spec.width * spec.height }, (_, i) => (((i * 31) ^ seed) % 5 === 0 ? 0 : 255))
    : null
  return { samples: new ArrayType(bytes.buffer, 0, count), mask }
}

function puller(spec: CogSpec, { samples, mask }: Pixels): PullRows {
  const bands = Array.from({ length: spec.bandCount }, (_, band) => band)
  return async (y, rows) => {
    const { width, bandCount } = spec
    const data = samples.slice(y * width * bandCount, (y + rows) * width * bandCount)
    const part = mask?.slice(y * width, (y + rows) * width) ?? null
    return {
      width,
      height: rows,
      bands,
      data: bands.map(() => data),
      starts: bands,
      stride: bandCount,
      mask: part,
      byteLength: data.byteLength,
    }
  }
}

async function write(spec: CogSpec, pixels: Pixels, options?: WriteOptions): Promise<Uint8Array> {
  const sink = memorySink()
  await writeCog(sink, spec, puller(spec, pixels), options)
  return sink.bytes()
}

function assertSamePixels(window: Block<ExactSampleArray>, spec: CogSpec, pixels: Pixels): void {
  const { bandCount } = spec
  window.data.forEach((samples, band) => {
    for (let i = 0; i < samples.length; i++) {
      const expected = pixels.samples[i * bandCount + band]
      if (!Object.is(samples[i], expected)) assert.fail(`band ${band}, pixel ${i}: ${samples[i]} instead of ${expected}`)
    }
  })
  if (pixels.mask) assert.deepEqual(window.mask ?? new Uint8Array(pixels.mask.length).fill(255), pixels.mask)
}

const specs = fc.record({
  width: fc.integer({ min: 1, max: 150 }),
  height: fc.integer({ min: 1, max: 150 }),
  bandCount: fc.integer({ min: 1, max: 5 }),
  dataType: fc.constantFrom(...TYPES),
  blockSize: fc.constantFrom(16, 32, 64),
  compression: fc.constantFrom('deflate' as const, 'zstd' as const),
  predictor: fc.constantFrom(1 as const, 2 as const, 3 as const),
  overviews: fc.constantFrom('average' as const, 'nearest' as const, 'mode' as const, 'none' as const),
  hasMask: fc.boolean(),
  bigTiff: fc.boolean(),
  nodata: fc.option(fc.constantFrom(0, 7, 255)),
})

test('any raster round-trips', async () => {
  await fc.assert(
    fc.asyncProperty(specs, fc.integer(), async (drawn, seed) => {
      const isFloat = drawn.dataType.startsWith('float')
      const nodata = drawn.dataType === 'int8' && drawn.nodata === 255 ? 7 : drawn.nodata // What the type cannot hold is no nodata.
      const spec: CogSpec = { ...drawn, nodata, predictor: drawn.predictor === 3 && !isFloat ? 2 : drawn.predictor }
      const pixels = randomPixels(spec, seed)
      const raster = await openTiff(memorySource(await write(spec, pixels)))
      const { info } = raster
      assert.equal(info.dataType, spec.dataType)
      assert.equal(info.bandCount, spec.bandCount)
      assert.equal(info.bigTiff, spec.bigTiff)
      assert.equal(info.declaredNodata, spec.nodata ?? null)
      assert.equal(info.maskKind, spec.hasMask ? 'internal' : spec.nodata == null ? 'none' : 'nodata')
      assertSamePixels(await raster.readExactWindow(0, { x: 0, y: 0, width: spec.width, height: spec.height }), spec, pixels)
      const last = info.levels.at(-1)
      if (spec.overviews !== 'none') assert.ok(last && last.width <= drawn.blockSize && last.height <= drawn.blockSize)
      for (const [index, level] of info.levels.entries())
        await raster.readWindow(index, { x: 0, y: 0, width: level.width, height: level.height })
    }),
    { numRuns: campaign({ short: 40, long: 150 }) },
  )
})

test('georeference, names, scales, palette and metadata round-trip', async () => {
  const colorTable = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : (i * 7) % 256))
  const spec: CogSpec = {
    width: 40,
    height: 30,
    dataType: 'uint8',
    bandCount: 1,
    blockSize: 16,
    colorTable,
    nodata: 9,
    crs: crsFromEpsg(32633),
    transform: [500_000, 10, 0, 5_200_000, 0, -10],
    bands: [{ name: 'classes & <more>', scale: 0.5, offset: -1, unit: 'm', color: 'palette' }],
    metadata: { PLATFORM: 'a "b" <c>' },
  }
  const { info } = await openTiff(memorySource(await write(spec, randomPixels(spec, 3))))
  assert.equal(info.crs?.epsg, 32633)
  assert.deepEqual(info.transform, spec.transform)
  assert.deepEqual(info.levels[1]?.transform, [500_000, 20, 0, 5_200_000, 0, -20])
  assert.deepEqual(info.bands[0], { name: 'classes & <more>', color: 'palette', nodata: 9, scale: 0.5, offset: -1, unit: 'm' })
  assert.equal(info.metadata['PLATFORM'], 'a "b" <c>')
  assert.equal(info.colorTable?.[9 * 4 + 3], 0)
  assert.equal(info.colorTable?.[5 * 4], colorTable[20])
})

test('rotated transforms, south-up images and colour bands round-trip', async () => {
  const bands = (['red', 'green', 'blue', 'alpha'] as const).map((color) => ({ color }))
  const spec: CogSpec = {
    width: 20,
    height: 20,
    dataType: 'uint8',
    bandCount: 4,
    bands,
    crs: crsFromEpsg(4326),
    transform: [10, 0.5, 0.1, -20, 0.2, 0.5],
  }
  const { info } = await openTiff(memorySource(await write(spec, randomPixels(spec, 5))))
  assert.deepEqual(info.transform, spec.transform)
  assert.deepEqual(
    info.bands.map((band) => band.color),
    ['red', 'green', 'blue', 'alpha'],
  )
  assert.equal(info.maskKind, 'alpha')
})

test('the file has the layout of a COG: note, directories, then blocks from coarse to fine, framed', async () => {
  const spec: CogSpec = { width: 100, height: 70, dataType: 'uint16', bandCount: 2, blockSize: 32, hasMask: true }
  const bytes = Buffer.from(await write(spec, randomPixels(spec, 11)))
  assert.equal(bytes.toString('latin1', 8, 8 + 43), 'GDAL_STRUCTURAL_METADATA_SIZE=000174 bytes\n')
  assert.ok(bytes.includes('MASK_INTERLEAVED_WITH_IMAGERY=YES\n'))
  assert.equal(bytes.readUInt32LE(4), 8 + 43 + 174 + 1)
  const raster = await openTiff(memorySource(bytes))
  assert.deepEqual(
    raster.info.levels.map((level) => [level.width, level.height]),
    [
      [100, 70],
      [50, 35],
      [25, 18],
    ],
  )
})

test('levels that exceed memory use temporary files, with the same result', async () => {
  const spec: CogSpec = { width: 150, height: 130, dataType: 'int32', bandCount: 3, blockSize: 16 }
  const pixels = randomPixels(spec, 17)
  assert.deepEqual(await write(spec, pixels, { spillBytes: 1000 }), await write(spec, pixels))
})

test('progress rises to 1, and a cancelled write ends with its own error', async () => {
  const spec: CogSpec = { width: 64, height: 200, dataType: 'uint8', bandCount: 1, blockSize: 16 }
  const seen: number[] = []
  await write(spec, randomPixels(spec, 1), { onProgress: (fraction) => seen.push(fraction) })
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  )
  assert.equal(seen.at(-1), 1)
  const controller = new AbortController()
  const half = write(spec, randomPixels(spec, 1), {
    signal: controller.signal,
    onProgress: (fraction) => fraction > 0.4 && controller.abort(),
  })
  await assert.rejects(half, (error) => error instanceof RasterError && error.code === 'aborted')
})

test('rows that do not match the specification are rejected, and a Node buffer is accepted as bytes', async () => {
  const spec: CogSpec = { width: 40, height: 40, dataType: 'uint8', bandCount: 1, blockSize: 16 }
  const rowsOf =
    (data: ExactSampleArray): PullRows =>
    async (_, rows) => ({ width: 40, height: rows, bands: [0], data: [data], starts: [0], stride: 1, mask: null, byteLength: 0 })
  for (const wrong of [new Int8Array(640), new Float32Array(640), new Uint8Array(10)]) {
    await assert.rejects(
      writeCog(memorySink(), spec, rowsOf(wrong)),
      (error) => error instanceof RasterError && error.code === 'invalid_argument',
    )
  }
  const [buffer, bytes] = [memorySink(), memorySink()]
  await writeCog(buffer, spec, rowsOf(Buffer.alloc(640, 'rows')))
  await writeCog(bytes, spec, rowsOf(new Uint8Array(Buffer.alloc(640, 'rows'))))
  assert.deepEqual(buffer.bytes(), bytes.bytes())
})

test('invalid specifications are rejected', async () => {
  const good: CogSpec = { width: 10, height: 10, dataType: 'uint8', bandCount: 1 }
  const bad: Partial<CogSpec>[] = [
    { width: 0 },
    { width: 2_000_000 },
    { bandCount: 65 },
    { blockSize: 100 },
    { blockSize: 4096 },
    { predictor: 3 },
    { compressionLevel: 99 },
    { bands: [] },
    { colorTable: new Uint8Array(4), dataType: 'uint16' },
  ]
  for (const change of bad) {
    await assert.rejects(
      write({ ...good, ...change }, randomPixels(good, 1)),
      (error) => error instanceof RasterError,
      JSON.stringify(change),
    )
  }
})

test('noise is compressed without a search, gently sloping ground with one, and the same pixels always make the same file', async () => {
  const spec = {
    width: 200,
    height: 70,
    dataType: 'uint16',
    bandCount: 4,
    blockSize: 16,
    compression: 'deflate',
    crs: crsFromEpsg(32756),
    transform: [300_000, 10, 0, 6_250_000, 0, -10],
  } as const
  const count = spec.width * spec.height * spec.bandCount
  let state = 7
  const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 16
  const ground = Uint16Array.from({ length: count }, (_, i) => 1_000 + ((i % 800) >> 4))
  for (const [samples, isShorter] of [
    [Uint16Array.from({ length: count }, random), false],
    [ground, true],
  ] as const) {
    const pixels = { samples, mask: null }
    const file = await write(spec, pixels)
    assert.deepEqual(file, await write(spec, pixels))
    const searched = await write({ ...spec, compressionLevel: 3 }, pixels)
    assert.ok(isShorter ? file.length === searched.length : file.length < searched.length * 1.05)
    const raster = await openTiff(memorySource(file))
    assertSamePixels(await raster.readExactWindow(0, { x: 0, y: 0, width: spec.width, height: spec.height }), spec, pixels)
  }
})
