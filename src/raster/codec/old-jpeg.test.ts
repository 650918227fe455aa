// Goal: old-style JPEG has the colours of GDAL, wherever the file stores its tables; what GDAL rejects is rejected.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { sharp } from '#raster/codec/sharp.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'

const [WIDTH, HEIGHT] = [24, 16]
type Tag = [tag: number, type: 3 | 4, values: number[]]
type Keeping = 'stream' | 'stream and scan' | 'tables'
const KEEPINGS: readonly Keeping[] = ['stream', 'stream and scan', 'tables']

async function jpegOf(chromaSubsampling: string): Promise<Buffer> {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3)
  for (let i = 0; i < pixels.length; i++) {
    const [x, y, band] = [Math.floor(i / 3) % WIDTH, Math.floor(i / 3 / WIDTH), i % 3]
    pixels[i] = Math.round(40 + 150 * Math.abs(Math.sin((x + band * 3) / 5) * Math.cos(y / 4)))
  }
  const image = sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
  return await image.jpeg({ quality: 80, chromaSubsampling, optimiseCoding: false }).toBuffer()
}

/** Segments before the scan by their markers, and where the scan begins. */
function parts(jpeg: Buffer): { segments: [marker: number, bytes: Buffer][]; scan: number } {
  const segments: [number, Buffer][] = []
  for (let at = 2; ;) {
    const end = at + 2 + jpeg.readUInt16BE(at + 2)
    if (jpeg[at + 1] === 0xda) return { segments, scan: end }
    segments.push([jpeg[at + 1]!, jpeg.subarray(at + 4, end)])
    at = end
  }
}

/** One strip in little-endian TIFF, with whatever lies beside it. */
function tiff(jpeg: Buffer, sampling: number, keeping: Keeping, more: { photometric?: number; rows?: number } = {}): Buffer {
  const { segments, scan } = parts(jpeg)
  const pieces: Buffer[] = []
  let size = 8
  const put = (bytes: Buffer): number => {
    const at = size
    pieces.push(bytes, Buffer.alloc(bytes.length % 2))
    size += bytes.length + (bytes.length % 2)
    return at
  }
  const tags: Tag[] = [
    [256, 4, [WIDTH]],
    [257, 4, [HEIGHT]],
    [258, 3, [8, 8, 8]],
    [259, 3, [6]],
    [262, 3, [more.photometric ?? 6]],
    [277, 3, [3]],
    [278, 4, [more.rows ?? HEIGHT]],
    [284, 3, [1]],
    [512, 3, [1]],
    [530, 3, [sampling, sampling]],
  ]
  if (keeping === 'tables') {
    const offsets: Record<string, number[]> = { q: [], dc: [], ac: [] }
    for (const [marker, bytes] of segments)
      for (let at = 0; at < bytes.length && (marker === 0xdb || marker === 0xc4);) {
        const length = marker === 0xdb ? 64 : 16 + bytes.subarray(at + 1, at + 17).reduce((sum, each) => sum + each, 0)
        const kind = marker === 0xdb ? 'q' : bytes[at]! >> 4 === 0 ? 'dc' : 'ac'
        offsets[kind]![bytes[at]! & 15] = put(bytes.subarray(at + 1, at + 1 + length))
        at += 1 + length
      }
    for (const [tag, kind] of [
      [519, 'q'],
      [520, 'dc'],
      [521, 'ac'],
    ] as const)
      tags.push([tag, 4, [offsets[kind]![0]!, offsets[kind]![1]!, offsets[kind]![1]!]])
    const data = jpeg.subarray(scan, -2)
    tags.push([273, 4, [put(data)]], [279, 4, [data.length]])
  } else {
    const at = put(jpeg)
    const skipped = keeping === 'stream' ? 0 : scan
    const strips = Array.from({ length: HEIGHT / (more.rows ?? HEIGHT) })
    tags.push([513, 4, [at]], [514, 4, [jpeg.length]])
    tags.push([273, 4, strips.map(() => at + skipped)], [279, 4, strips.map(() => jpeg.length - skipped)])
  }
  return assembled(tags, pieces, size)
}

function assembled(tags: Tag[], pieces: readonly Buffer[], directoryAt: number): Buffer {
  const entries = Buffer.alloc(2 + 12 * tags.length + 4)
  const values: Buffer[] = []
  let valuesAt = directoryAt + entries.length
  entries.writeUInt16LE(tags.length, 0)
  for (const [index, [tag, type, list]] of tags.toSorted((a, b) => a[0] - b[0]).entries()) {
    const at = 2 + 12 * index
    const bytes = Buffer.alloc(list.length * (type === 3 ? 2 : 4))
    list.forEach((value, i) => (type === 3 ? bytes.writeUInt16LE(value, 2 * i) : bytes.writeUInt32LE(value, 4 * i)))
    entries.writeUInt16LE(tag, at)
    entries.writeUInt16LE(type, at + 2)
    entries.writeUInt32LE(list.length, at + 4)
    if (bytes.length <= 4) bytes.copy(entries, at + 8)
    else {
      entries.writeUInt32LE(valuesAt, at + 8)
      values.push(bytes)
      valuesAt += bytes.length
    }
  }
  const head = Buffer.from('II*\0\0\0\0\0', 'latin1')
  head.writeUInt32LE(directoryAt, 4)
  return Buffer.concat([head, ...pieces, entries, ...values])
}

async function colorsOf(file: Uint8Array): Promise<number[]> {
  const raster = await openTiff(memorySource(file))
  const { data, starts, stride } = await raster.readWindow(0, { x: 0, y: 0, width: WIDTH, height: HEIGHT })
  return Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => data[i % 3]![Math.floor(i / 3) * stride + starts[i % 3]!]!)
}

test('the colours are those of the stream, however the file stores it', async () => {
  for (const [chroma, sampling] of [
    ['4:4:4', 1],
    ['4:2:0', 2],
  ] as const) {
    const jpeg = await jpegOf(chroma)
    const expected = [...(await sharp(jpeg).raw().toBuffer())]
    for (const keeping of KEEPINGS) assert.deepEqual(await colorsOf(tiff(jpeg, sampling, keeping)), expected, `${chroma} ${keeping}`)
  }
})

const hasGdal = spawnSync('gdal_translate', ['--version']).status === 0

test('compared with gdal_translate', { skip: hasGdal ? false : 'gdal_translate is not installed' }, async (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'old-jpeg-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const jpeg = await jpegOf('4:4:4')
  for (const keeping of KEEPINGS) {
    const [from, to] = [path.join(folder, 'in.tif'), path.join(folder, 'out.bin')]
    const file = tiff(jpeg, 1, keeping)
    writeFileSync(from, file)
    const { status, stderr } = spawnSync('gdal_translate', ['-q', '-of', 'ENVI', '-co', 'INTERLEAVE=BIP', from, to], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const theirs = readFileSync(to)
    const furthest = Math.max(...(await colorsOf(file)).map((value, i) => Math.abs(value - theirs[i]!)))
    assert.ok(furthest <= 1, `${keeping}: ${furthest}`)
  }
})

test('other colour spaces, several strips and dangling tables are rejected', async () => {
  const jpeg = await jpegOf('4:4:4')
  const open = (file: Buffer) => openTiff(memorySource(file))
  await assert.rejects(open(tiff(jpeg, 1, 'stream', { photometric: 2 })), /three interleaved YCbCr bands only/)
  await assert.rejects(open(tiff(jpeg, 1, 'stream', { rows: 8 })), /supported with one strip only/)
  const cut = tiff(jpeg, 1, 'stream and scan')
  cut[8] = 0
  await assert.rejects(open(cut), /has no JPEG header/)
})
