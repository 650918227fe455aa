// Goal: a nodata value that no sample can have is ignored, and masks in the file take precedence over nodata.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memorySource } from '#raster/source/memory.ts'
import { computeStatistics } from '#raster/statistics/index.ts'
import { buildTiff, plainTags } from '#raster/testing/build-tiff.ts'
import { openTiff } from './open.ts'

const ASCII = 2
const SIDE = 16
const ascii = (text: string) => ({ tag: 42113, type: ASCII, values: [...Buffer.from(`${text}\0`)] })

/** Grey and alpha: the left half is transparent and black, the right half holds 100. */
function withAlpha(nodata: string) {
  const pixels = Uint8Array.from({ length: SIDE * SIDE * 2 }, (_, i) => {
    const isRight = (i >> 1) % SIDE >= SIDE / 2
    return isRight ? (i % 2 === 0 ? 100 : 255) : 0
  })
  const tags = [...plainTags(SIDE, SIDE, { 258: [8, 8], 277: [2], 338: [2] }), ascii(nodata)].sort((a, b) => a.tag - b.tag)
  return openTiff(memorySource(buildTiff({ ifds: [{ tags, blocks: [pixels] }] })))
}

test('a drone export with alpha and nodata −10000 in bytes: alpha is the mask', async () => {
  for (const nodata of ['-10000', '256', '0.5', 'nan', '1e40']) {
    const raster = await withAlpha(nodata)
    assert.equal(raster.info.maskKind, 'alpha', nodata)
    assert.equal(raster.info.bands[0]!.nodata, null, nodata)
    const { bands } = await computeStatistics(raster)
    assert.deepEqual([bands[0]!.min, bands[0]!.mean, bands[0]!.validFraction], [100, 100, 0.5], nodata)
  }
})

test('with an alpha band, a nodata value that samples can have still hides them', async () => {
  const raster = await withAlpha('100')
  assert.deepEqual([raster.info.maskKind, raster.info.bands[0]!.nodata], ['alpha', 100])
  assert.equal((await computeStatistics(raster)).bands[0]!.count, 0)
})

test('a mask overrides nodata, and sparse blocks have the nearest value of the type', async () => {
  const grey = new Uint8Array(SIDE * SIDE).fill(7)
  const main = [...plainTags(SIDE, SIDE), ascii('7')].sort((a, b) => a.tag - b.tag)
  const bits = new Uint8Array((SIDE * SIDE) / 8).fill(0xf0)
  const mask = plainTags(SIDE, SIDE, { 254: [4], 258: [1], 262: [4] })
  const raster = await openTiff(
    memorySource(
      buildTiff({
        ifds: [
          { tags: main, blocks: [grey] },
          { tags: mask, blocks: [bits] },
        ],
      }),
    ),
  )
  assert.deepEqual([raster.info.maskKind, raster.info.bands[0]!.nodata, raster.info.declaredNodata], ['internal', null, 7])
  assert.equal((await computeStatistics(raster)).bands[0]!.count, (SIDE * SIDE) / 2)
  const sparse = [...plainTags(SIDE, SIDE, { 324: [0], 325: [0] }), ascii('-10000')].sort((a, b) => a.tag - b.tag)
  const empty = await openTiff(memorySource(buildTiff({ ifds: [{ tags: sparse }] })))
  const { data } = await empty.readWindow(0, { x: 0, y: 0, width: SIDE, height: SIDE })
  assert.ok(data[0]!.every((sample) => sample === 0))
})
