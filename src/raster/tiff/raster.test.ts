/** Goal: any window and any choice of bands is the right part of the whole, and wrong requests are typed errors. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { TiffRaster } from '#raster/tiff/raster.ts'
import { RasterError } from '#raster/types.ts'

const GOLDEN = new URL('../../../test/golden/raster/', import.meta.url)
const open = (name: string): Promise<TiffRaster> => openTiff(memorySource(readFileSync(new URL(`${name}.tif`, GOLDEN))))
const NAMES = [
  'none-tile-band-uint16',
  'deflate-tile-pixel-int16',
  'lzw-strip-band-float32',
  'zstd-strip-pixel-uint64',
  'mask-internal',
  'alpha-8',
  'alpha-band',
  'jpeg-rgb-strip',
  'nbits-5-strip',
]
const isCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof RasterError && error.code === code

test('windows and bands are parts of the whole', async () => {
  for (const name of NAMES) {
    const raster = await open(name)
    const { width, height, bandCount } = raster.info
    const whole = await raster.readExactWindow(0, { x: 0, y: 0, width, height })
    const window = fc
      .tuple(fc.nat(width - 1), fc.nat(height - 1), fc.nat(), fc.nat())
      .map(([x, y, w, h]) => ({ x, y, width: 1 + (w % (width - x)), height: 1 + (h % (height - y)) }))
    const bands = fc.array(fc.nat(bandCount - 1), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(window, bands, fc.boolean(), async (part, chosen, interleaved) => {
        const got = await raster.readExactWindow(0, part, { bands: chosen, interleaved })
        for (let y = 0; y < part.height; y++) {
          for (let x = 0; x < part.width; x++) {
            const from = (part.y + y) * width + part.x + x
            chosen.forEach((band, k) => {
              const sample = got.data[k]?.[(y * part.width + x) * got.stride + (got.starts[k] ?? 0)]
              if (!Object.is(sample, whole.data[band]?.[from])) assert.fail(`${name} band ${band} at ${x}, ${y}: ${sample}`)
            })
            assert.equal(got.mask?.[y * part.width + x] ?? 255, whole.mask?.[from] ?? 255, name)
          }
        }
      }),
      { numRuns: 25 },
    )
  }
})

test('rows from a first one on are those of the whole block', async () => {
  for (const name of ['deflate-tile-pixel-int16', 'deflate-tile-band-int16', 'zstd-strip-pixel-uint64', 'mask-internal', 'alpha-band']) {
    const raster = await open(name)
    const { blockWidth, blockHeight, height } = raster.info.levels[0]!
    const rows = Math.min(blockHeight, height)
    const whole = await raster.readExactBlock(0, 0, 0)
    for (const firstRow of [0, 1, rows >> 1, rows - 1, rows + 5]) {
      const part = await raster.readExactBlock(0, 0, 0, { firstRow })
      for (let band = 0; band < whole.data.length; band++)
        for (let i = firstRow * blockWidth; i < rows * blockWidth; i++) {
          const at = i * whole.stride + whole.starts[band]!
          if (!Object.is(part.data[band]![at], whole.data[band]![at])) assert.fail(`${name} from row ${firstRow}, band ${band}, pixel ${i}`)
          if (part.mask?.[i] !== whole.mask?.[i]) assert.fail(`${name} from row ${firstRow}: mask of pixel ${i}`)
        }
    }
  }
})

test('blocks of a chunky file share one array, blocks of a planar file have one per band', async () => {
  const chunky = await (await open('deflate-tile-pixel-int16')).readBlock(0, 0, 0, { bands: [1] })
  assert.deepEqual([chunky.stride, chunky.starts, chunky.data.length], [2, [1], 1])
  const planar = await (await open('deflate-tile-band-int16')).readBlock(0, 0, 0)
  assert.deepEqual([planar.stride, planar.starts, planar.data.length], [1, [0, 0], 2])
  assert.notEqual(planar.data[0], planar.data[1])
})

test('64-bit integers are read as doubles unless exact ones are requested', async () => {
  const raster = await open('zstd-strip-pixel-uint64')
  assert.ok((await raster.readBlock(0, 0, 0)).data[0] instanceof Float64Array)
  assert.equal((await raster.readExactBlock(0, 0, 0)).data[0]?.[0], 2n ** 64n - 1n)
})

test('invalid requests are typed errors', async () => {
  const raster = await open('overviews')
  await assert.rejects(raster.readBlock(9, 0, 0), isCode('invalid_argument'))
  await assert.rejects(raster.readBlock(0, 99, 0), isCode('invalid_argument'))
  await assert.rejects(raster.readBlock(0, 0.5, 0), isCode('invalid_argument'))
  await assert.rejects(raster.readBlock(0, 0, 0, { bands: [2] }), isCode('invalid_argument'))
  await assert.rejects(raster.readWindow(0, { x: 20, y: 0, width: 20, height: 1 }), isCode('invalid_argument'))
  await assert.rejects(raster.readBlock(0, 0, 0, { signal: AbortSignal.abort() }), isCode('aborted'))
})

test('ground control points give a fit and its residual', async () => {
  const { info } = await open('geo-gcps')
  assert.equal(info.gcps.length, 12)
  assert.ok(info.transform)
  // Three of the twelve points were moved by 0.04 pixels.
  assert.ok(info.gcpResidualPx !== null && info.gcpResidualPx > 0.005 && info.gcpResidualPx < 0.04, String(info.gcpResidualPx))
})
