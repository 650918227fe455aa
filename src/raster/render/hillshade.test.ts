// Goal: heights are lit from the north-west, flat ground keeps its colour, and neighbouring tiles meet without a seam.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MemoryRaster } from '#raster/testing/memory-raster.ts'
import { tileTransform } from '#raster/warp/mercator.ts'
import { createContext } from './context.ts'
import { hillshade, shaded } from './hillshade.ts'
import { drawTile } from './tile.ts'

const TILE = { z: 12, x: 2160, y: 1440 }
const [WEST_M, PIXEL_M, , NORTH_M] = tileTransform(TILE, 256)

/** Two tiles side by side, a pixel of the raster for each of theirs, with a frame around. */
const land = (height: (x: number, y: number) => number) =>
  new MemoryRaster({
    epsg: 3857,
    width: 600,
    height: 344,
    transform: [WEST_M - 44 * PIXEL_M, PIXEL_M, 0, NORTH_M + 44 * PIXEL_M, 0, -PIXEL_M],
    dataType: 'float32',
    value: (x, y) => height(x - 44, y - 44),
  })
const light = (raster: MemoryRaster, tile = TILE) => hillshade(createContext(), raster, { band: 0, tile, size: 256 })

test('flat ground keeps its colour', async () => {
  assert.ok((await light(land(() => 1_500))).every((value) => Math.abs(value - 1) < 1e-6))
})

test('a slope towards the north-west is bright, one away from it is dark', async () => {
  const towards = await light(land((x, y) => (x + y) * 10)) // Rises to the south-east, so it faces the north-west.
  const away = await light(land((x, y) => 10_000 - (x + y) * 10))
  assert.ok(towards[30_000]! > 1.05 && away[30_000]! < 0.9, `${towards[30_000]} and ${away[30_000]}`)
})

test('neighbouring tiles meet: each knows a pixel of the other', async () => {
  const hills = land((x, y) => 400 * Math.sin(x / 9) * Math.cos(y / 7))
  const [left, right] = [await light(hills), await light(hills, { ...TILE, x: TILE.x + 1 })]
  const wide = land((x, y) => 400 * Math.sin((x + 128) / 9) * Math.cos(y / 7)) // The same hills, with the seam in the middle of a tile.
  const across = await light(wide)
  for (let y = 0; y < 256; y++) {
    assert.ok(Math.abs(left[y * 256 + 255]! - across[y * 256 + 127]!) < 1e-3)
    assert.ok(Math.abs(right[y * 256]! - across[y * 256 + 128]!) < 1e-3)
  }
})

test('what has no data stays transparent, and colours are lit', async () => {
  const picture = await drawTile(
    createContext(),
    land((x, y) => (x + y) * 10),
    TILE,
    {
      style: { kind: 'single', band: 1, colormap: 'hypsometric', ranges: [[0, 6_000]], hillshade: true },
    },
  )
  assert.ok(picture && !('indices' in picture) && picture.channels === 4)
  const [mask, palette] = [new Uint8Array([0, 255]), new Uint8Array([9, 9, 9, 100, 50, 200])]
  const indexed = { width: 1, height: 2, indices: new Uint8Array([0, 1]), mask, palette }
  assert.deepEqual([...shaded(indexed, new Float32Array([1, 1.25])).data], [0, 0, 0, 0, 125, 62, 250, 255])
})
