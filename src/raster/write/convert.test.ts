/** Goal: every golden raster, whatever its codec and layout, becomes a COG with the same pixels, mask and descriptions. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import type { TiffRaster } from '#raster/tiff/raster.ts'
import type { Block, ExactSampleArray, RasterInfo } from '#raster/types.ts'
import { convertToCog } from '#raster/write/convert.ts'
import { memorySink } from '#raster/write/sink.ts'

const GOLDEN = new URL('../../../test/golden/raster/', import.meta.url)

function kept(info: RasterInfo, entries: number): unknown {
  const { width, height, bandCount, bands, transform, crs, crsProblem, maskKind, alphaBand, colorTable } = info
  // A narrow palette is padded to 256 entries.
  const colors = colorTable && [...colorTable.subarray(0, 4 * entries)]
  return {
    width,
    height,
    bandCount,
    bands: bands.map((band) => ({ ...band, color: null })),
    transform,
    crs,
    crsProblem,
    maskKind,
    alphaBand,
    colors: colors?.slice(0, 64),
  }
}

const readAll = (raster: TiffRaster): Promise<Block<ExactSampleArray>> =>
  raster.readExactWindow(0, { x: 0, y: 0, width: raster.info.width, height: raster.info.height })

test('every golden raster survives conversion', async () => {
  for (const name of readdirSync(GOLDEN).filter((file) => file.endsWith('.tif'))) {
    const before = await openTiff(memorySource(readFileSync(new URL(name, GOLDEN))))
    const sink = memorySink()
    await convertToCog(before, sink, { blockSize: 16 })
    const after = await openTiff(memorySource(sink.bytes()))
    const entries = 2 ** Math.min(8, before.info.bitsPerSample)
    assert.deepEqual(kept(after.info, entries), kept(before.info, entries), name)
    const [ours, theirs] = [await readAll(after), await readAll(before)]
    assert.deepEqual(ours.data, theirs.data, name)
    assert.deepEqual(ours.mask, theirs.mask, name)
    assert.ok(after.info.levels.length > 1, name)
  }
})
