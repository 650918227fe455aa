// Goal: files with only a camera model or control points are positioned, and their images are not mirrored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { positionNote } from '#raster/ingest/facts.ts'
import { createContext } from '#raster/render/context.ts'
import { renderThumbnail } from '#raster/render/thumbnail.ts'
import { memorySource } from '#raster/source/memory.ts'
import { buildTiff, DOUBLE, plainTags } from '#raster/testing/build-tiff.ts'
import { MemoryRaster } from '#raster/testing/memory-raster.ts'
import { RasterError, type Affine } from '#raster/types.ts'
import { applyAffine } from '#raster/warp/affine.ts'
import { openTiff } from './open.ts'
import { rpcPixel, type RpcModel } from './rpc.ts'

const SIDE = 64
const terms = (...values: [number, number][]) => Array.from({ length: 20 }, (_, i) => values.find(([at]) => at === i)?.[1] ?? 0)

/** A scene of 64 pixels around 10° E 50° N, taken from the south upwards, a little bent. */
const model: RpcModel = {
  lineOffset: 31.5,
  sampleOffset: 31.5,
  latitudeOffset: 50,
  longitudeOffset: 10,
  heightOffset: 300,
  lineScale: 32,
  sampleScale: 32,
  latitudeScale: 0.032,
  longitudeScale: 0.032,
  heightScale: 500,
  lineNumerator: terms([2, 1], [4, 0.001]),
  lineDenominator: terms([0, 1]),
  sampleNumerator: terms([1, 1], [3, 0.2]),
  sampleDenominator: terms([0, 1], [1, 0.0005]),
}

const tagValues = [
  0,
  0,
  ...(['line', 'sample', 'latitude', 'longitude', 'height'] as const).map((name) => model[`${name}Offset`]),
  ...(['line', 'sample', 'latitude', 'longitude', 'height'] as const).map((name) => model[`${name}Scale`]),
  ...model.lineNumerator,
  ...model.lineDenominator,
  ...model.sampleNumerator,
  ...model.sampleDenominator,
]

function fileWith(values: readonly number[]) {
  const tags = [...plainTags(SIDE, SIDE, { 322: [SIDE], 323: [SIDE] }), { tag: 50844, type: DOUBLE, values }]
  return openTiff(memorySource(buildTiff({ ifds: [{ tags, blocks: [new Uint8Array(SIDE * SIDE).fill(9)] }] })))
}

test('a file with only a camera model is positioned by a fit, with its residual', async () => {
  const { info } = await fileWith(tagValues)
  assert.deepEqual([info.placedBy, info.crs?.epsg], ['rpc', 4326])
  assert.ok(info.gcpResidualPx! < 0.1, `${info.gcpResidualPx}`)
  for (const [lon, lat] of [
    [10, 50],
    [9.98, 49.985],
    [10.02, 50.02],
  ] as const) {
    const [x, y] = applyAffine(info.transform!, ...rpcPixel(model, lon, lat))
    assert.ok(Math.hypot(x - lon, y - lat) < 1e-4, `${x} ${y}`)
  }
  assert.match(positionNote(info) ?? '', /mean height/)
})

test('an invalid model is ignored', async () => {
  for (const values of [tagValues.slice(0, 50), tagValues.map(() => 0), tagValues.map((value, i) => (i === 4 ? 123 : value))]) {
    const { info } = await fileWith(values)
    assert.deepEqual([info.transform, info.placedBy], [null, null])
  }
})

/** Where the one bright quarter of an image lies in its thumbnail. */
async function brightQuarter(transform: Affine): Promise<string> {
  const raster = new MemoryRaster({ width: 64, height: 32, epsg: 32633, transform, value: (x, y) => (x < 32 && y < 16 ? 255 : 0) })
  const jpeg = await renderThumbnail(createContext(), raster, { format: 'png', width: 64, height: 64 })
  const { data, info } = await sharp(jpeg).removeAlpha().toColourspace('b-w').raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => data[(Math.floor(info.height * y) * info.width + Math.floor(info.width * x)) * info.channels]!
  const vertical = at(0.25, 0.25) + at(0.75, 0.25) > 200 ? 'north' : 'south'
  const horizontal = at(0.25, 0.25) + at(0.25, 0.75) > 200 ? 'west' : 'east'
  return `${vertical}-${horizontal} ${info.width}×${info.height}`
}

test('thumbnails are north-up, however the image is stored', async () => {
  assert.equal(await brightQuarter([0, 10, 0, 5e6, 0, -10]), 'north-west 64×32')
  assert.equal(await brightQuarter([0, 10, 0, 5e6, 0, 10]), 'south-west 64×32')
  assert.equal(await brightQuarter([0, -10, 0, 5e6, 0, -10]), 'north-east 64×32')
  assert.equal(await brightQuarter([0, -10, 0, 5e6, 0, 10]), 'south-east 64×32')
  assert.equal(await brightQuarter([0, 0, 10, 5e6, -10, 0]), 'north-west 32×64')
  assert.equal(await brightQuarter([0, 2, 10, 5e6, 10, 3]), 'south-west 32×64')
})

test('overviews in sub-directories are levels, and a dangling one is an error', async () => {
  const small = plainTags(SIDE / 2, SIDE / 2, { 254: [1], 322: [32], 323: [32] })
  const main = plainTags(SIDE, SIDE, { 322: [SIDE], 323: [SIDE], 330: [0] })
  const blocks = [new Uint8Array(SIDE * SIDE).fill(9)]
  const plain = buildTiff({
    ifds: [
      { tags: main, blocks, next: 9 },
      { tags: small, blocks: [new Uint8Array(32 * 32).fill(5)], next: 9 },
    ],
  })
  const view = new DataView(plain.buffer)
  const first = view.getUint32(4, true)
  const entries = view.getUint16(first, true)
  const second = first + 2 + entries * 12 + 4
  for (let i = 0; i < entries; i++) {
    const at = first + 2 + i * 12
    if (view.getUint16(at, true) === 330) view.setUint32(at + 8, secondDirectory(view, second), true)
  }
  const raster = await openTiff(memorySource(plain))
  assert.deepEqual(
    raster.info.levels.map(({ width }) => width),
    [64, 32],
  )
  assert.equal((await raster.readWindow(1, { x: 0, y: 0, width: 1, height: 1 })).data[0]![0], 5)
  for (let i = 0; i < entries; i++) {
    const at = first + 2 + i * 12
    if (view.getUint16(at, true) === 330) view.setUint32(at + 8, 4_000_000, true)
  }
  await assert.rejects(openTiff(memorySource(plain)), (error) => error instanceof RasterError && error.code === 'corrupt')
})

/** The directory behind the first one's values: the next place that begins with a plausible count of entries. */
function secondDirectory(view: DataView, from: number): number {
  for (let at = from; at + 2 < view.byteLength; at += 2)
    if (view.getUint16(at, true) >= 10 && view.getUint16(at + 2, true) === 254) return at
  return 0
}
