// Goal: a timelapse has the right dates in the right order, and its files are what they claim: other programs read the same frames.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { layoutOf } from '../../packages/console/src/screens/viewer/timelapse/frame-picture.ts'
import {
  evenly,
  frameMsOf,
  framesOf,
  indexOfDay,
  SPEEDS,
  speedOf,
  withAsset,
} from '../../packages/console/src/screens/viewer/timelapse/frames.ts'
import { GifEncoder } from '../../packages/console/src/screens/viewer/timelapse/gif.ts'
import { encodeMp4 } from '../../packages/console/src/screens/viewer/timelapse/mp4.ts'
import { indexColours } from '../../packages/console/src/screens/viewer/timelapse/palette.ts'
import { encodeWebm } from '../../packages/console/src/screens/viewer/timelapse/webm.ts'
import { encodeAnimatedWebp } from '../../packages/console/src/screens/viewer/timelapse/webp.ts'

type Colour = readonly [number, number, number]

const itemAt = (id: string, datetime: string | null, bbox: [number, number, number, number] | null = [0, 0, 1, 1]) => ({
  id,
  datetime,
  bbox,
  properties: {},
})

function picture(width: number, height: number, colourAt: (x: number, y: number) => Colour): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) pixels.set([...colourAt(x, y), 255], (y * width + x) * 4)
  return pixels
}

/** Red, green and blue of each pixel of each frame, as another program reads them. */
async function framesIn(file: Uint8Array) {
  const { pages = 1, delay = [], loop, width, pageHeight, height } = await sharp(file, { animated: true }).metadata()
  const frames = []
  for (let page = 0; page < pages; page++) frames.push(await sharp(file, { page }).removeAlpha().raw().toBuffer())
  return { frames, delay, loop, width, height: pageHeight ?? height }
}

const withoutAlpha = (pixels: Uint8ClampedArray) => Buffer.from(pixels.filter((_, index) => index % 4 !== 3))

test('frames are the days of a place in order, and scenes of one day are one frame', () => {
  const items = [
    itemAt('c', '2026-03-01T10:00:00Z'),
    itemAt('b', '2026-01-05T23:59:59Z'),
    itemAt('a', '2026-01-05T10:00:00Z'),
    itemAt('undated', null),
    itemAt('elsewhere', '2026-02-01T10:00:00Z', [5, 5, 6, 6]),
    itemAt('beside', '2026-02-02T10:00:00Z', [1, 0, 2, 1]),
    itemAt('anywhere', '2026-02-03T10:00:00Z', null),
    itemAt('by offset', '2026-03-02T01:00:00+02:00'),
  ]
  assert.deepEqual(
    framesOf(items, [0, 0, 1, 1]).map(({ day, items: shown }) => [day, ...shown.map(({ id }) => id)]),
    [
      ['2026-01-05', 'a', 'b'],
      ['2026-02-03', 'anywhere'],
      ['2026-03-01', 'c', 'by offset'],
    ],
  )
  const overDateLine = [
    itemAt('east', '2026-01-01T00:00:00Z', [179, 0, 180, 1]),
    itemAt('west', '2026-01-02T00:00:00Z', [-180, 0, -179, 1]),
  ]
  assert.equal(framesOf(overDateLine, [179.5, 0, -179.5, 1]).length, 2)
  assert.equal(framesOf(overDateLine, [170, 0, 178, 1]).length, 0)
})

test('an asset key is used only for items that have such an asset', () => {
  const feature = (id: string, ...keys: string[]) =>
    ({ id: `scene of ${id}`, properties: { 'svc:item_id': id }, assets: Object.fromEntries(keys.map((key) => [key, {}])) }) as never
  const features = [feature('a', 'data', 'june.tif'), feature('b', 'data', 'october.tif'), feature('c')]
  assert.deepEqual([...withAsset(features, 'data')], ['a', 'b'])
  assert.deepEqual([...withAsset(features, 'june.tif')], ['a'])
  assert.deepEqual([...withAsset(features, 'constructor')], [])
})

test('a day finds its frame or the closest one, and anything else the first', () => {
  const frames = framesOf(
    ['2026-01-05', '2026-02-05', '2026-03-05'].map((day) => itemAt(day, `${day}T10:00:00Z`)),
    null,
  )
  for (const [day, index] of [
    ['2026-02-05', 1],
    ['2026-02-07T10:00:00Z', 1],
    ['1999-01-01', 0],
    ['2030-01-01', 2],
    ['nonsense', 0],
    [undefined, 0],
    [null, 0],
  ] as const)
    assert.equal(indexOfDay(frames, day), index, String(day))
  assert.equal(indexOfDay([], '2026-01-01'), 0)
})

test('frames of a file are evenly spaced, without repeating one, from the first to the last', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 2, max: 60 }), (length, count) => {
      const all = Array.from({ length }, (_, index) => index)
      const chosen = evenly(all, count)
      assert.equal(chosen.length, Math.min(length, count))
      assert.equal(chosen[0], all[0])
      assert.equal(chosen.at(-1), all.at(-1))
      for (const [at, index] of chosen.entries()) if (at > 0) assert.ok(index > chosen[at - 1]!)
    }),
  )
})

test('no speed changes the picture more than three times a second, whatever the address says', () => {
  for (const speed of SPEEDS) assert.ok(1000 / frameMsOf(speed) <= 3)
  for (const text of ['60', '-1', '', undefined]) assert.equal(speedOf(text), '1')
})

test('a picture of few colours keeps each of them; one of many has 256 that are close', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)), { minLength: 1, maxLength: 256 }), (colours) => {
      const pixels = picture(colours.length, 1, (x) => colours[x]!)
      const { palette, indices } = indexColours(pixels)
      for (const [x, index] of indices.entries()) assert.deepEqual([...palette.subarray(index * 3, index * 3 + 3)], colours[x])
    }),
  )
  const many = picture(256, 128, (x, y) => [x, y * 2, (x + y) & 255])
  const { palette, indices } = indexColours(many)
  assert.equal(palette.length, 3 * 256)
  let [sum, worst] = [0, 0]
  for (const [at, index] of indices.entries())
    for (let channel = 0; channel < 3; channel++) {
      const apart = Math.abs(palette[index * 3 + channel]! - many[at * 4 + channel]!)
      sum += apart
      worst = Math.max(worst, apart)
    }
  assert.ok(sum / (indices.length * 3) < 8, `${sum / (indices.length * 3)} steps apart on average`)
  assert.ok(worst < 64, `${worst} steps apart`)
})

test('a GIF has every frame as it was, its delay, and no end', async () => {
  const [width, height] = [97, 61]
  // Uneven enough that the table of the compression fills up and is emptied, and so plain that it is hardly used.
  let seed = 7
  const random = () => (seed = (seed * 48_271) % 2_147_483_647)
  const frames = [
    picture(width, height, () => [(random() % 16) * 16, (random() % 16) * 16, 0]),
    picture(width, height, () => [200, 10, 60]),
    picture(width, height, (x, y) => [(x >> 4) * 30, (y >> 4) * 40, 128]),
  ]
  const encoder = new GifEncoder({ width, height }, 1 / 3)
  for (const frame of frames) encoder.add(frame)
  const read = await framesIn(encoder.finish())
  assert.deepEqual([read.width, read.height], [width, height])
  assert.deepEqual(read.delay, [340, 340, 340], 'never shorter than it was asked to be')
  assert.equal(read.loop, 0)
  for (const [index, frame] of frames.entries()) assert.ok(read.frames[index]!.equals(withoutAlpha(frame)), `frame ${index}`)
})

test('GIFs of any small picture are read as they were', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.infiniteStream(fc.nat(5)),
      async (width, height, values) => {
        const frame = picture(width, height, () => [values.next().value! * 40, values.next().value! * 50, values.next().value! * 10])
        const encoder = new GifEncoder({ width, height }, 1)
        encoder.add(frame)
        const { frames } = await framesIn(encoder.finish())
        assert.ok(frames[0]!.equals(withoutAlpha(frame)))
      },
    ),
    { numRuns: 40 },
  )
})

test('an animated WebP has the stills that were put in, their delay, and no end', async () => {
  const [width, height] = [33, 20]
  const pictures = [0, 1, 2].map((n) => picture(width, height, (x) => [n * 100, x * 7, 40]))
  const stills = await Promise.all(
    pictures.map((pixels, index) => {
      const image = sharp(pixels, { raw: { width, height, channels: 4 } })
      // With a profile around it and without, as browsers differ; lossless and lossy.
      return (index === 1 ? image.withIccProfile('p3') : image).webp({ lossless: index !== 2, quality: 85 }).toBuffer()
    }),
  )
  const read = await framesIn(encodeAnimatedWebp(stills, { width, height }, 0.5))
  assert.deepEqual([read.width, read.height], [width, height])
  assert.deepEqual(read.delay, [500, 500, 500])
  assert.equal(read.loop, 0)
  assert.ok(read.frames[0]!.equals(withoutAlpha(pictures[0]!)))
  assert.ok(read.frames[2]!.equals(await sharp(stills[2]).removeAlpha().raw().toBuffer()), 'a lossy frame is decoded as it was alone')
  assert.throws(() => encodeAnimatedWebp([Uint8Array.of(0x89, 0x50)], { width, height }, 1), /cannot encode WebP/)
})

/** The boxes of an MP4 file by their path, each with where its content is. */
function boxesOf(file: Buffer, from = 0, to = file.length, path = ''): Map<string, { from: number; to: number }> {
  const containers = ['moov', 'trak', 'mdia', 'minf', 'dinf', 'stbl']
  const boxes = new Map<string, { from: number; to: number }>()
  for (let at = from; at < to; at += file.readUInt32BE(at)) {
    const name = file.toString('latin1', at + 4, at + 8)
    const content = { from: at + 8, to: at + file.readUInt32BE(at) }
    assert.ok(content.to <= to && content.to >= content.from, `${path}${name} ends in its parent`)
    boxes.set(path + name, content)
    if (containers.includes(name))
      for (const [inner, place] of boxesOf(file, content.from, content.to, `${path}${name}.`)) boxes.set(inner, place)
  }
  return boxes
}

const TRACK = {
  codec: 'avc1.640028',
  width: 640,
  height: 362,
  frameMs: 500,
  frames: [Uint8Array.of(1, 2, 3), Uint8Array.of(4), Uint8Array.of(5, 6)],
  description: Uint8Array.of(1, 0x64, 0, 0x28),
}

test('an MP4 file states where its frames are, how long they are and when they are shown', () => {
  const file = Buffer.from(encodeMp4(TRACK))
  const boxes = boxesOf(file)
  const at = (path: string, offset: number) => file.readUInt32BE(boxes.get(path)!.from + offset)
  assert.deepEqual(
    [...boxes.keys()].filter((name) => !name.includes('.')),
    ['ftyp', 'moov', 'mdat'],
    'it plays before it is loaded',
  )
  const table = 'moov.trak.mdia.minf.stbl.'
  assert.deepEqual([at('moov.mvhd', 12), at('moov.mvhd', 16)], [1000, 1500])
  assert.deepEqual([at('moov.trak.tkhd', 76), at('moov.trak.tkhd', 80)], [640 * 65_536, 362 * 65_536])
  assert.deepEqual([at(`${table}stts`, 8), at(`${table}stts`, 12)], [3, 500])
  assert.deepEqual(
    [8, 12, 16, 20].map((offset) => at(`${table}stsz`, offset)),
    [3, 3, 1, 2],
  )
  assert.equal(boxes.get('moov.mvhd')!.to - boxes.get('moov.mvhd')!.from, 100)
  assert.equal(boxes.get('moov.trak.tkhd')!.to - boxes.get('moov.trak.tkhd')!.from, 84)
  const first = at(`${table}stco`, 8)
  assert.equal(first, boxes.get('mdat')!.from)
  assert.deepEqual([...file.subarray(first)], [1, 2, 3, 4, 5, 6])
  const entry = boxes.get(`${table}stsd`)!.from + 8
  assert.equal(file.toString('latin1', entry + 4, entry + 8), 'avc1')
  assert.equal(file.toString('latin1', entry + 8 + 78 + 4, entry + 8 + 78 + 8), 'avcC', 'after the 78 bytes of a visual sample entry')
  assert.throws(() => encodeMp4({ ...TRACK, description: null }), /did not describe/)
})

interface Element {
  id: string
  /** Of the element itself, and of its content. */
  at: number
  from: number
  to: number
}

/** The elements of a Matroska file side by side between two places. */
function elementsOf(file: Buffer, from: number, to: number): Element[] {
  const elements: Element[] = []
  for (let at = from; at < to;) {
    const idLength = Math.clz32(file[at]!) - 23
    const sizeAt = at + idLength
    const sizeLength = Math.clz32(file[sizeAt]!) - 23
    const size = file.readUIntBE(sizeAt + 2, 6)
    assert.equal(sizeLength, 8)
    elements.push({ id: file.toString('hex', at, sizeAt), at, from: sizeAt + 8, to: sizeAt + 8 + size })
    at = sizeAt + 8 + size
    assert.ok(at <= to)
  }
  return elements
}

test('the cues of a WebM file name the cluster of each frame', () => {
  const file = Buffer.from(encodeWebm({ ...TRACK, codec: 'vp8', description: null }))
  const [head, segment] = elementsOf(file, 0, file.length)
  assert.deepEqual([head!.id, segment!.id], ['1a45dfa3', '18538067'])
  const parts = elementsOf(file, segment!.from, segment!.to)
  assert.deepEqual(
    parts.map(({ id }) => id),
    ['1549a966', '1654ae6b', '1c53bb6b', '1f43b675', '1f43b675', '1f43b675'],
  )
  const inside = (element: Element, id: string) => elementsOf(file, element.from, element.to).filter((each) => each.id === id)
  const number = ({ from, to }: Element) => file.readUIntBE(from, to - from)
  assert.equal(file.readDoubleBE(inside(parts[0]!, '4489')[0]!.from), 1500)
  const track = inside(parts[1]!, 'ae')[0]!
  assert.equal(file.toString('latin1', inside(track, '86')[0]!.from, inside(track, '86')[0]!.to), 'V_VP8')
  const video = inside(track, 'e0')[0]!
  assert.deepEqual([number(inside(video, 'b0')[0]!), number(inside(video, 'ba')[0]!)], [640, 362])
  for (const [index, cue] of inside(parts[2]!, 'bb').entries()) {
    const cluster = parts[3 + index]!
    assert.equal(number(inside(cue, 'b3')[0]!), index * 500)
    assert.equal(number(inside(inside(cue, 'b7')[0]!, 'f1')[0]!), cluster.at - segment!.from)
    assert.equal(number(inside(cluster, 'e7')[0]!), index * 500)
    const block = inside(cluster, 'a3')[0]!
    assert.deepEqual([...file.subarray(block.from, block.to)], [0x81, 0, 0, 0x80, ...TRACK.frames[index]!])
  }
})

test('an exported picture fits its bound, has even sides, and is never enlarged', () => {
  const measure = (text: string, fontSize: number) => text.length * fontSize * 0.5
  const attribution = 'Contains modified Copernicus Sentinel data 2026. Base map: Natural Earth. Places: GeoNames, CC BY 4.0'
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 5_000 }),
      fc.integer({ min: 100, max: 5_000 }),
      fc.constantFrom(640, 960, 1280),
      fc.boolean(),
      (width, height, longest, hasLegend) => {
        const layout = layoutOf({ width, height }, longest, { attribution, hasLegend, measure })
        assert.ok(layout.width <= Math.max(2, Math.min(longest, width + 1)) && layout.mapHeight <= Math.min(longest, height + 1))
        assert.deepEqual([layout.width % 2, layout.height % 2], [0, 0])
        assert.equal(layout.attribution.join(' '), attribution, 'nobody who must be named is left out')
        assert.ok(layout.height - layout.mapHeight >= layout.attribution.length * layout.fontSize)
      },
    ),
  )
})
