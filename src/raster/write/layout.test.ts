/** Goal: a file that outgrows 32-bit offsets becomes a BigTIFF by itself, with the same directories. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readContainer } from '#raster/tiff/ifd.ts'
import { memorySource } from '#raster/source/memory.ts'
import { buildHead } from '#raster/write/layout.ts'
import { planCog } from '#raster/write/spec.ts'

const plan = planCog({ width: 600, height: 600, dataType: 'uint8', bandCount: 1 })

function headWithTilesOf(bytes: number): Uint8Array {
  const sizes = plan.levels.map(({ tilesX, tilesY }) => ({ tiles: Array.from({ length: tilesX * tilesY }, () => bytes), masks: [] }))
  return buildHead(plan, sizes)
}

test('small files are classic TIFFs, large ones BigTIFFs', async () => {
  for (const [bytes, isBig] of [
    [1000, false],
    [250_000_000, false],
    [400_000_000, true],
  ] as const) {
    const container = await readContainer(memorySource(headWithTilesOf(bytes)))
    assert.equal(container.bigTiff, isBig, `${bytes} bytes a tile`)
    assert.equal(container.ifds.length, plan.levels.length)
  }
})
