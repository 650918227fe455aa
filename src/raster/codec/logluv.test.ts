// Goal: LogLuv decodes to the samples of GDAL; any other bytes give exactly the expected rows or a typed error.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import fc from 'fast-check'

import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, LONG, SHORT } from '#raster/testing/build-tiff.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { RasterError } from '#raster/types.ts'
import { decodeLogLuv } from './logluv.ts'

const RUNS = 34676
const PACKED = 34677
const GREY = 32844
const COLOR = 32845

interface File {
  compression: number
  photometric: number
  width: number
  rows?: number
  bits?: number
  format?: number
  block: Uint8Array
}

function tiff({ compression, photometric, width, rows = 1, bits = 16, format = 2, block }: File): Uint8Array {
  const bands = photometric === COLOR ? 3 : 1
  return buildTiff({
    ifds: [
      {
        strips: true,
        blocks: [block],
        tags: [
          { tag: 256, type: LONG, values: [width] },
          { tag: 257, type: LONG, values: [rows] },
          { tag: 258, type: SHORT, values: Array.from({ length: bands }, () => bits) },
          { tag: 259, type: SHORT, values: [compression] },
          { tag: 262, type: SHORT, values: [photometric] },
          { tag: 277, type: SHORT, values: [bands] },
          { tag: 278, type: LONG, values: [rows] },
          { tag: 284, type: SHORT, values: [1] },
          { tag: 339, type: SHORT, values: Array.from({ length: bands }, () => format) },
        ],
      },
    ],
  })
}

const samplesOf = async (file: Uint8Array): Promise<number[][]> => {
  const raster = await openTiff(memorySource(file))
  const { width, height } = raster.info
  const { data, starts, stride } = await raster.readWindow(0, { x: 0, y: 0, width, height })
  return data.map((band, index) => Array.from({ length: width * height }, (_, pixel) => band[pixel * stride + starts[index]!]!))
}

/** Each byte of a row of pixels for itself, as it is: at most 127 in one piece. */
const planes = (pixels: readonly number[], bytes: number) =>
  Uint8Array.from(
    Array.from({ length: bytes }, (_, plane) => pixels.map((pixel) => (pixel >>> ((bytes - 1 - plane) * 8)) & 0xff)).flatMap((plane) => [
      plane.length,
      ...plane,
    ]),
  )
const LIGHTS = [0x0000, 0x3c00, 0x4000, 0x4040, 0x3f80, 0xc000, 0x2000, 0x7fff]
const COLORS = [0x3c0060c0, 0x400051c2, 0x40408080, 0x3f8020ff, 0, 0x200051c2, 0xc00051c2, 0x3fffa0a0]
/** All colours at one luminance, then one colour at all luminances. */
const PACKED_PIXELS = [
  ...Array.from({ length: 1 << 14 }, (_, color) => (0x200 << 14) | color),
  ...Array.from({ length: 1 << 10 }, (_, light) => (light << 14) | 8000),
]
const FILES: Readonly<Record<string, File>> = {
  grey: { compression: RUNS, photometric: GREY, width: 8, block: planes(LIGHTS, 2) },
  'grey without a sign': { compression: RUNS, photometric: GREY, width: 8, format: 1, block: planes(LIGHTS, 2) },
  runs: { compression: RUNS, photometric: GREY, width: 12, block: Uint8Array.of(128 + 10, 0x40, 2, 1, 2, 128 + 8, 7) },
  colors: { compression: RUNS, photometric: COLOR, width: 8, block: planes(COLORS, 4) },
  packed: {
    compression: PACKED,
    photometric: COLOR,
    width: PACKED_PIXELS.length / 2,
    rows: 2,
    block: Uint8Array.from(PACKED_PIXELS.flatMap((pixel) => [pixel >>> 16, (pixel >>> 8) & 0xff, pixel & 0xff])),
  },
}

test('samples equal GDAL 3.6', async () => {
  assert.deepEqual(await samplesOf(tiff(FILES['grey']!)), [[0, 15360, 16384, 16448, 16256, -16384, 8192, 32767]])
  assert.deepEqual(await samplesOf(tiff(FILES['grey without a sign']!)), [[0, 15360, 16384, 16448, 16256, 49152, 8192, 32767]])
  assert.deepEqual(await samplesOf(tiff(FILES['runs']!)), [[16385, 16386, ...Array.from({ length: 10 }, () => 16391)]])
  assert.deepEqual(await samplesOf(tiff(FILES['colors']!)), [
    [15360, 16384, 16448, 16256, 0, 8192, -16384, 16383],
    [7712, 6513, 10269, 2597, 39, 6513, 6513, 12827],
    [15384, 15544, 10269, 20420, 39, 15544, 15544, 12827],
  ])
  const [light, u, v] = await samplesOf(tiff(FILES['packed']!))
  const digest = createHash('sha256')
    .update(JSON.stringify([light, u, v]))
    .digest('hex')
    .slice(0, 16)
  assert.equal(digest, DIGEST_OF_GDAL)
})

/** Of the samples that gdal_translate writes of the packed file. */
const DIGEST_OF_GDAL = '3f72b96866549dd0'

const hasGdal = spawnSync('gdal_translate', ['--version']).status === 0

test('compared with gdal_translate', { skip: hasGdal ? false : 'gdal_translate is not installed' }, async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logluv-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, file] of Object.entries(FILES)) {
    const [from, to] = [path.join(folder, 'in.tif'), path.join(folder, 'out.bin')]
    writeFileSync(from, tiff(file))
    const { status, stderr } = spawnSync('gdal_translate', ['-q', '-of', 'ENVI', '-co', 'INTERLEAVE=BSQ', from, to], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const bytes = readFileSync(to)
    const own = await samplesOf(tiff(file))
    const values = Array.from({ length: bytes.length / 2 }, (_, i) =>
      file.format === 1 ? bytes.readUInt16LE(2 * i) : bytes.readInt16LE(2 * i),
    )
    assert.deepEqual(own.flat(), values, name)
  }
})

test('any bytes give exactly the expected rows or a corrupt-block error', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(1, 3),
      fc.boolean(),
      (stored, width, rows, bands, isPacked) => {
        try {
          assert.equal(decodeLogLuv(stored, { width, rows, bands, isPacked: isPacked && bands === 3 }).length, width * rows * bands)
        } catch (error) {
          assert.ok(error instanceof RasterError && error.code === 'corrupt', String(error))
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('other depths and encodings are rejected', async () => {
  const wrong: File[] = [
    { ...FILES['colors']!, bits: 8, format: 1 },
    { ...FILES['grey']!, compression: 1 },
    { ...FILES['grey']!, compression: PACKED },
    { ...FILES['grey']!, photometric: 1 },
  ]
  for (const file of wrong)
    await assert.rejects(openTiff(memorySource(tiff(file))), /LogLuv is supported with one or three interleaved bands/)
})
