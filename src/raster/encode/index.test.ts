// Goal: images decode to their original pixels, or as close as the format allows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'

import fc from 'fast-check'
import sharp from 'sharp'

import { RasterError } from '#raster/types.ts'
import { deflateRows } from './deflate.ts'
import { emptyTile, encodeImage, encodeLosslessWebp, type RawImage } from './index.ts'
import { terrainPicture } from './terrain.ts'

const WIDTH = 37
const HEIGHT = 23

function testImage(channels: RawImage['channels'], value: (i: number) => number): RawImage {
  return { width: WIDTH, height: HEIGHT, channels, data: Uint8Array.from({ length: WIDTH * HEIGHT * channels }, (_, i) => value(i)) }
}

async function decode(bytes: Buffer): Promise<{ data: Buffer; channels: number; format: string | undefined }> {
  const { format } = await sharp(bytes).metadata()
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height], [WIDTH, HEIGHT])
  return { data, channels: info.channels, format }
}

const noise = (i: number): number => (Math.imul(i + 1, 2654435761) >>> 13) & 255

test('PNG is lossless for every channel count, with runs and with noise, at every effort', async () => {
  for (const channels of [1, 2, 3, 4] as const) {
    for (const value of [noise, () => 7, (i: number) => (i % 2 ? 255 : i & 127)]) {
      for (const effort of [undefined, 0, 1, 9]) {
        const original = testImage(channels, value)
        const png = await encodeImage(original, effort === undefined ? { format: 'png' } : { format: 'png', effort })
        const { data } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
        const expected = await sharp(original.data, { raw: { width: WIDTH, height: HEIGHT, channels } })
          .ensureAlpha()
          .raw()
          .toBuffer()
        assert.ok(data.length === expected.length || channels < 3, 'same layout')
        if (channels >= 3) assert.deepEqual(data, expected)
        else for (let i = 0; i < WIDTH * HEIGHT; i++) assert.equal(data[i * (data.length / (WIDTH * HEIGHT))], original.data[i * channels])
      }
    }
  }
})

test('deflated rows round-trip, whatever they contain', () => {
  const noisy = fc.uint8Array({ maxLength: 5_000 })
  const runs = fc
    .array(fc.tuple(fc.nat(255), fc.integer({ min: 1, max: 400 })), { maxLength: 30 })
    .map((parts) => Uint8Array.from(parts.flatMap(([value, count]) => Array<number>(count).fill(value))))
  const long = fc.integer({ min: 100_000, max: 300_000 }).map((length) => Uint8Array.from({ length }, (_, i) => noise(i)))
  fc.assert(
    fc.property(fc.oneof(noisy, runs, { arbitrary: long, weight: 1 }), (rows) => {
      assert.deepEqual(new Uint8Array(inflateSync(deflateRows(rows))), rows)
    }),
  )
})

test('an opaque alpha channel is dropped', async () => {
  const opaque = testImage(4, (i) => (i % 4 === 3 ? 255 : noise(i)))
  for (const format of ['png', 'webp'] as const) {
    assert.equal((await sharp(await encodeImage(opaque, { format })).metadata()).hasAlpha, false)
    assert.equal((await sharp(await encodeImage(testImage(4, noise), { format })).metadata()).hasAlpha, true)
  }
})

test('an indexed image keeps all 256 colours, even with transparent pixels', async () => {
  const palette = Uint8Array.from({ length: 768 }, (_, i) => noise(i))
  const size = { width: WIDTH, height: HEIGHT, palette }
  const cases = [
    { highest: 255, hidden: false, colorType: 3 },
    { highest: 254, hidden: true, colorType: 3 },
    { highest: 255, hidden: true, colorType: 6 },
  ]
  for (const { highest, hidden, colorType } of cases) {
    const entryOf = (i: number): number => i % (highest + 1)
    const isHidden = (i: number): boolean => hidden && i >= WIDTH * HEIGHT - 40
    const indexed = () => ({
      ...size,
      indices: Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => entryOf(i)),
      mask: Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => (isHidden(i) ? 0 : 255)),
    })
    const png = await encodeImage(indexed(), { format: 'png' })
    assert.equal(png[25], colorType, 'with a palette where 256 entries are enough')
    const data = await sharp(png).ensureAlpha().raw().toBuffer()
    for (let i = 0; i < WIDTH * HEIGHT; i++) {
      const entry = entryOf(i) * 3
      assert.equal(data[i * 4 + 3], isHidden(i) ? 0 : 255)
      if (!isHidden(i)) assert.deepEqual([...data.subarray(i * 4, i * 4 + 3)], [...palette.subarray(entry, entry + 3)])
    }
    const webp = await encodeImage(indexed(), { format: 'webp' })
    assert.equal((await decode(webp)).format, 'webp')
  }
})

test('JPEG turns transparent into white and respects quality', async () => {
  const clear = await encodeImage(
    testImage(4, () => 0),
    { format: 'jpeg' },
  )
  assert.ok((await decode(clear)).data.every((value) => value >= 254))
  const gray = await encodeImage(testImage(1, noise), { format: 'jpeg' })
  assert.equal((await decode(gray)).format, 'jpeg')
  const low = await encodeImage(testImage(3, noise), { format: 'jpeg', quality: 20 })
  const high = await encodeImage(testImage(3, noise), { format: 'jpeg', quality: 95 })
  assert.ok(low.length < high.length)
})

test('Terrain-RGB is lossless; outside the data height is 0 and transparent', async () => {
  const heights = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => -500 + i * 7.3)
  const mask = Uint8Array.from(heights, (_, i) => (i % 5 === 0 ? 0 : 255))
  for (const invert of [false, true]) {
    const { data, channels } = await decode(
      await encodeLosslessWebp(terrainPicture(heights, mask, { width: WIDTH, height: HEIGHT }, { invert })),
    )
    assert.equal(channels, 4)
    for (let i = 0; i < heights.length; i++) {
      const height = -10_000 + (data[i * 4]! * 65536 + data[i * 4 + 1]! * 256 + data[i * 4 + 2]!) * 0.1
      const expected = mask[i] === 0 ? 0 : Math.max(-10_000, heights[i]! * (invert ? -1 : 1))
      assert.ok(Math.abs(height - expected) <= 0.0501, `${height} for ${expected}`)
      assert.equal(data[i * 4 + 3], mask[i])
    }
  }
})

test('the empty tile is one shared transparent image of the right size', async () => {
  assert.equal(await emptyTile('png', 256), await emptyTile('png', 256))
  const { width, channels } = await sharp(await emptyTile('webp', 512)).metadata()
  assert.deepEqual([width, channels], [512, 4])
})

test('an invalid quality or effort is rejected', async () => {
  await assert.rejects(encodeImage(testImage(3, noise), { format: 'webp', effort: 7 }), RasterError)
  await assert.rejects(encodeImage(testImage(3, noise), { format: 'jpeg', quality: 0 }), RasterError)
})
