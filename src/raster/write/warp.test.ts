import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RasterError } from '#raster/types.ts'
import { memorySink } from '#raster/write/sink.ts'
import { warpToCog, type WarpOptions } from '#raster/write/warp.ts'
import { scene, type Scene } from '../../../test/support/scene.ts'

async function warped(source: Scene, options: WarpOptions) {
  const raster = await openTiff(memorySource(await scene(source)))
  const sink = memorySink()
  await warpToCog(raster, sink, options)
  return await openTiff(memorySource(sink.bytes()))
}

const box = (west: number, south: number, east: number, north: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})

// Goal: a clip on the raster's own grid keeps its samples bit for bit, inside the polygon, and nothing outside it.
test('a clip keeps the samples', async () => {
  const value = (band: number, x: number, y: number) => 1000 * band + 7 * x + y
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 90 }),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 150 }),
      fc.integer({ min: 1, max: 120 }),
      async (left, top, width, height) => {
        const size = { width: 160, height: 130 }
        const geometry = box(151 + left * 0.001, -33 - (top + height) * 0.001, 151 + (left + width) * 0.001, -33 - top * 0.001)
        const clip = await warped({ ...size, nodata: 65_535, value }, { geometry })
        const right = Math.min(size.width, left + width)
        const bottom = Math.min(size.height, top + height)
        // Rounding of coordinates may add a pixel of no data around the box, never take one away.
        const x0 = Math.round((clip.info.transform![0] - 151) / 0.001)
        const y0 = Math.round((-33 - clip.info.transform![3]) / 0.001)
        assert.ok(x0 <= left && y0 <= top && x0 + clip.info.width >= right && y0 + clip.info.height >= bottom)
        const { data } = await clip.readWindow(0, { x: 0, y: 0, width: clip.info.width, height: clip.info.height })
        for (let y = 0; y < clip.info.height; y++) {
          for (let x = 0; x < clip.info.width; x++) {
            const isInside = x0 + x >= left && x0 + x < right && y0 + y >= top && y0 + y < bottom
            for (let band = 0; band < 4; band++)
              assert.equal(data[band]![y * clip.info.width + x], isInside ? value(band, x0 + x, y0 + y) : 65_535)
          }
        }
      },
    ),
    { numRuns: 12 },
  )
})

test('rasters without nodata get a mask, floats get NaN', async () => {
  const triangle = {
    type: 'Polygon',
    coordinates: [
      [
        [151, -33],
        [151.2, -33],
        [151, -33.15],
        [151, -33],
      ],
    ],
  }
  const integers = await warped({}, { geometry: triangle })
  assert.equal(integers.info.maskKind, 'internal')
  const { mask } = await integers.readWindow(0, { x: 0, y: 0, width: integers.info.width, height: integers.info.height })
  const share = mask!.filter((value) => value > 0).length / mask!.length
  assert.ok(Math.abs(share - 0.5) < 0.01, `half of the box, not ${share}`)
  const floats = await warped({ dataType: 'float32', bandNames: ['height'] }, { geometry: triangle })
  assert.ok(Number.isNaN(floats.info.bands[0]!.nodata))
})

test('reprojection keeps position, size and values', async () => {
  const utm = await warped({ value: (_band, x) => 5_000 + x }, { crs: crsFromEpsg(32756), resampling: 'bilinear' })
  assert.equal(utm.info.crs!.epsg, 32756)
  const [, pixelM] = utm.info.transform!
  assert.ok(pixelM > 90 && pixelM < 115, `about a thousandth of a degree: ${pixelM} m`)
  const { data } = await utm.readWindow(0, { x: Math.floor(utm.info.width / 2), y: Math.floor(utm.info.height / 2), width: 1, height: 1 })
  assert.ok(Math.abs(data[0]![0]! - 5_150) <= 3, `the middle: ${data[0]![0]}`)
  const coarse = await warped({}, { crs: crsFromEpsg(3857), resolution: 1_000 })
  assert.deepEqual([coarse.info.transform![1], coarse.info.width, coarse.info.height], [1_000, 34, 27])
})

test('a polygon outside the raster and an abort are typed errors', async () => {
  await assert.rejects(
    warped({}, { geometry: box(10, 10, 11, 11) }),
    (error) => error instanceof RasterError && error.code === 'invalid_argument' && /does not intersect/.test(error.message),
  )
  await assert.rejects(warped({}, { signal: AbortSignal.abort() }), (error) => error instanceof RasterError && error.code === 'aborted')
})

test('progress rises from 0 to 1', async () => {
  const seen: number[] = []
  await warped(
    { width: 600, height: 700 },
    {
      onProgress: (fraction) => {
        seen.push(fraction)
      },
    },
  )
  assert.ok(seen.length > 2 && seen.at(-1) === 1 && seen.every((fraction, index) => index === 0 || fraction >= seen[index - 1]!))
})

test('a row of blocks computed in strips equals one computed at once', async () => {
  const source: Scene = { width: 5_000, height: 300, value: (band, x, y) => 1_000 * band + ((x * 13 + y * 7) % 500) }
  const options: WarpOptions = { crs: crsFromEpsg(3857), resampling: 'bilinear' }
  const samples = async (blockSize: number) => {
    const result = await warped(source, { ...options, blockSize })
    return (await result.readWindow(0, { x: 0, y: 0, width: result.info.width, height: result.info.height })).data
  }
  const [strips, whole] = [await samples(256), await samples(64)]
  for (const [band, plane] of strips.entries()) {
    const other = whole[band]!
    let [different, worst] = [0, 0]
    for (let i = 0; i < plane.length; i++) {
      const distance = Math.abs(plane[i]! - other[i]!)
      if (distance > 0) different += 1
      worst = Math.max(worst, distance)
    }
    // Strips are placed by themselves, so that a value half way between two integers may be rounded either way.
    assert.ok(worst <= 1 && different < plane.length / 1_000, `band ${band + 1}: ${different} pixels differ, by at most ${worst}`)
  }
})
