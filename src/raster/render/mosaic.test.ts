import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RasterError } from '#raster/types.ts'
import { MemoryRaster, type MemoryRasterOptions } from '#raster/testing/memory-raster.ts'
import { tileTransform } from '#raster/warp/mercator.ts'
import { createContext } from './context.ts'
import { drawMosaic, type MosaicLayer } from './mosaic.ts'

const TILE = { z: 10, x: 540, y: 360 }
const [WEST_M, PIXEL_M, , NORTH_M] = tileTransform(TILE, 256)

/** A raster of one value on a rectangle of the tile's pixels. */
function patch(
  value: number,
  { x = 0, y = 0, width = 256, height = 256, ...more }: Partial<MemoryRasterOptions> & { x?: number; y?: number } = {},
): MemoryRaster {
  return new MemoryRaster({
    epsg: 3857,
    dataType: 'uint8',
    width,
    height,
    transform: [WEST_M + x * PIXEL_M, PIXEL_M, 0, NORTH_M - y * PIXEL_M, 0, -PIXEL_M],
    value: () => value,
    ...more,
  })
}

const layer = (raster: MemoryRaster, more: Partial<MosaicLayer> = {}): MosaicLayer => ({
  open: async () => raster,
  style: { kind: 'single', band: 1 },
  ...more,
})
const draw = (layers: readonly MosaicLayer[]) => drawMosaic(createContext(), layers, TILE)
const failing = (code: 'corrupt' | 'source_unavailable'): MosaicLayer =>
  layer(patch(0), { open: () => Promise.reject(new RasterError(code, code)) })

// Goal: many rasters are one picture: each pixel is the first layer's that has it, nothing is read that cannot be seen.
test('each pixel is that of the first layer that has it, whatever their places', async () => {
  const Patch = fc.record({
    x: fc.integer({ min: -20, max: 250 }),
    y: fc.integer({ min: -20, max: 250 }),
    width: fc.integer({ min: 1, max: 300 }),
    height: fc.integer({ min: 1, max: 300 }),
    hole: fc.integer({ min: 0, max: 40 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(Patch, { minLength: 1, maxLength: 5 }), async (patches) => {
      const picture = await draw(
        patches.map(({ hole, ...place }, index) => layer(patch(index + 1, { ...place, mask: (x, y) => (x < hole && y < hole ? 0 : 255) }))),
      )
      for (let i = 0; i < 60; i++) {
        const [px, py] = [(i * 37) % 256, (i * 91) % 256]
        const first = patches.findIndex(
          ({ x, y, width, height, hole }) => px >= x && px < x + width && py >= y && py < y + height && !(px - x < hole && py - y < hole),
        )
        const at = (py * 256 + px) * 4
        assert.deepEqual(
          picture ? [...picture.data.subarray(at, at + 4)] : [0, 0, 0, 0],
          first < 0 ? [0, 0, 0, 0] : [first + 1, first + 1, first + 1, 255],
          `${px},${py}`,
        )
      }
    }),
    { numRuns: 40 },
  )
})

test('a full tile opens nothing further, and a layer is not read where all is covered', async () => {
  let opened = 0
  const below = patch(9)
  await draw([
    layer(patch(1)),
    layer(below, {
      open: async () => {
        opened++
        return below
      },
    }),
  ])
  assert.equal(opened, 0)
  const hidden = patch(9, { width: 100, height: 256 })
  await draw([layer(patch(1, { width: 128 })), layer(hidden), layer(patch(2, { x: 128, width: 128 }))])
  assert.equal(hidden.reads, 0, 'its part of the tile was full already')
})

test('what shines through is mixed once', async () => {
  const picture = await draw([layer(patch(200, { mask: () => 128 })), layer(patch(100))])
  assert.deepEqual([...picture!.data.subarray(0, 4)], [150, 150, 150, 255])
})

test('a layer that can never be read is left out; one that cannot be read now fails the tile', async () => {
  assert.equal((await draw([failing('corrupt'), layer(patch(7))]))!.data[0], 7)
  await assert.rejects(draw([failing('source_unavailable'), layer(patch(7))]), /source_unavailable/)
  assert.equal(await draw([failing('corrupt')]), null)
  assert.equal(await draw([]), null)
})
