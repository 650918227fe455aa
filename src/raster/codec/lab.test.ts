// Goal: images in CIE L*a*b* have the same colours as in GDAL.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, DOUBLE, LONG, SHORT } from '#raster/testing/build-tiff.ts'
import { openTiff } from '#raster/tiff/open.ts'

const file = (photometric: number, samples: number[], bits = 8, whitePoint: number[] = []) =>
  openTiff(
    memorySource(
      buildTiff({
        ifds: [
          {
            strips: true,
            blocks: [Uint8Array.from(samples)],
            tags: [
              { tag: 256, type: LONG, values: [samples.length / 3] },
              { tag: 257, type: LONG, values: [1] },
              { tag: 258, type: SHORT, values: [bits, bits, bits] },
              { tag: 259, type: SHORT, values: [1] },
              { tag: 262, type: SHORT, values: [photometric] },
              { tag: 277, type: SHORT, values: [3] },
              { tag: 278, type: LONG, values: [1] },
              ...(whitePoint.length > 0 ? [{ tag: 318, type: DOUBLE, values: whitePoint }] : []),
            ],
          },
        ],
      }),
    ),
  )

test('Lab is read as GDAL 3.6 reads it', async () => {
  const stored = [
    [108, 41, 250],
    [89, 21, 15],
    [88, 234, 224],
    [223, 230, 236],
    [152, 225, 215],
    [220, 214, 6],
    [152, 245, 228],
    [103, 1, 9],
  ]
  const expected = [
    [167, 72, 101],
    [127, 71, 51],
    [0, 96, 119],
    [165, 233, 224],
    [0, 163, 191],
    [148, 236, 178],
    [113, 154, 171],
    [113, 98, 72],
  ]
  const raster = await file(8, [...BLACK, ...WHITE, ...stored.flat()])
  const { data, stride, starts } = await raster.readWindow(0, { x: 0, y: 0, width: stored.length + 2, height: 1 })
  const at = (pixel: number) => [0, 1, 2].map((band) => data[band]![pixel * stride + starts[band]!])
  assert.deepEqual(at(0), [0, 0, 0])
  assert.ok(
    at(1).every((value) => value! >= 220),
    'white of D50 on a display of D65 is a little warm',
  )
  expected.forEach((colors, i) => assert.deepEqual(at(i + 2), colors))
  assert.deepEqual(
    raster.info.bands.map(({ color }) => color),
    ['red', 'green', 'blue'],
  )
})

test('the white point of the file is used', async () => {
  const stored = [
    [108, 41, 250],
    [89, 21, 15],
    [223, 230, 236],
  ]
  const raster = await file(8, stored.flat(), 8, [0.3127, 0.329])
  const { data, stride, starts } = await raster.readWindow(0, { x: 0, y: 0, width: stored.length, height: 1 })
  const at = (pixel: number) => [0, 1, 2].map((band) => data[band]![pixel * stride + starts[band]!])
  assert.deepEqual(
    stored.map((_, pixel) => at(pixel)),
    [
      [161, 74, 116],
      [124, 72, 62],
      [129, 236, 255],
    ],
    'as GDAL 3.6 reads it',
  )
  await assert.rejects(file(8, [0, 0, 0], 8, [0, 0]), /invalid white point/)
})

test('other kinds of Lab are rejected', async () => {
  for (const photometric of [9, 10]) await assert.rejects(file(photometric, [0, 0, 0]), /photometric interpretation/)
  await assert.rejects(file(8, [0, 0, 0, 0, 0, 0], 16), /8-bit bands only/)
})

const BLACK = [0, 0, 0]
const WHITE = [255, 0, 0]
