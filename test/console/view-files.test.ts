// Goal: files of the view are what they claim: a GeoTIFF that is where the map was, a PDF that readers can open, a scale that is round.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { encodeGeoTiff } from '../../packages/console/src/map/geotiff.ts'
import { scaleBar } from '../../packages/console/src/map/scale-bar.ts'
import { wrapped } from '../../packages/console/src/screens/viewer/view-picture.ts'
import { createPdf, isPdfText } from '../../packages/console/src/ui/pdf.ts'

const WITHOUT_GDAL = spawnSync('gdalinfo', ['--version']).error ? 'no gdalinfo here' : false

test('a GeoTIFF has the pixels and the place of the view, as GDAL reads it', { skip: WITHOUT_GDAL }, async (t) => {
  const [width, height] = [3, 2]
  const pixels = Uint8ClampedArray.from({ length: width * height * 4 }, (_, index) => index * 7)
  const file = await encodeGeoTiff({ width, height, pixels, bounds: [256_000, 6_141_000, 256_300, 6_141_200] })
  const folder = await mkdtemp(path.join(os.tmpdir(), 'geotiff-'))
  t.after(() => rm(folder, { recursive: true }))
  const name = path.join(folder, 'view.tif')
  await writeFile(name, Buffer.from(await file.arrayBuffer()))
  const info = JSON.parse(execFileSync('gdalinfo', ['-json', '-checksum', name], { encoding: 'utf8' })) as {
    size: number[]
    geoTransform: number[]
    stac: { 'proj:epsg': number }
    bands: { type: string; colorInterpretation: string }[]
  }
  assert.deepEqual(info.size, [width, height])
  assert.deepEqual(info.geoTransform, [256_000, 100, 0, 6_141_200, 0, -100])
  assert.equal(info.stac['proj:epsg'], 3857)
  assert.deepEqual(
    info.bands.map(({ type, colorInterpretation }) => `${type} ${colorInterpretation}`),
    ['Byte Red', 'Byte Green', 'Byte Blue'],
  )
  const read = execFileSync('gdallocationinfo', ['-valonly', name, '2', '1'], { encoding: 'utf8' })
  assert.deepEqual(read.trim().split('\n').map(Number), [...pixels.subarray(20, 23)])
})

test('a PDF has its objects where its table says, its text, and the length of each stream', async () => {
  const page = createPdf(842, 595)
  page.text(30, 40, 16, 'Crûe (été) \\ – Loire', true)
  page.rectangle(1, 2, 3, 4, [255, 0, 51])
  page.image({ jpeg: Uint8Array.of(0xff, 0xd8, 0xff, 0xd9), width: 1, height: 1 }, 10, 20, 30, 40)
  const bytes = Buffer.from(await page.save('Łódź, 東京', new Date('2026-11-18T07:00:00Z')).arrayBuffer())
  const text = bytes.toString('latin1')
  const table = Number(/startxref\n(\d+)\n%%EOF/.exec(text)![1])
  assert.ok(text.slice(table).startsWith('xref\n0 9\n'))
  const offsets = [...text.slice(table).matchAll(/(\d{10}) 00000 n/g)].map(([, offset]) => Number(offset))
  assert.equal(offsets.length, 8)
  for (const [index, offset] of offsets.entries()) assert.ok(text.slice(offset).startsWith(`${index + 1} 0 obj\n`), `object ${index + 1}`)
  for (const [whole, length] of text.matchAll(/\/Length (\d+) >>\nstream\n/g)) {
    const from = text.indexOf(whole) + whole.length
    assert.ok(text.slice(from + Number(length)).startsWith('\nendstream'))
  }
  assert.ok(text.includes(`<${Buffer.from('Crûe (été) \\ ', 'latin1').toString('hex')}96`), 'text in the encoding of the font')
  assert.ok(text.includes(`/Title <feff${Buffer.from('Łódź, 東京', 'utf16le').swap16().toString('hex')}>`))
  assert.ok(text.includes('/CreationDate (D:20261118070000Z)'))
  assert.ok(text.includes('q 30 0 0 40 10 535 cm /I1 Do Q'), 'measured from the top')
})

test('text that the fonts of readers lack is known', () => {
  assert.ok(isPdfText('Loire, 3 Nov 2026 – 10 km² ½'))
  assert.ok(!isPdfText('東京') && !isPdfText('Łódź'))
})

test('a scale bar is round and fits', () => {
  for (const [metresPerPixel, metres] of [
    [1, 100],
    [1.5, 200],
    [0.3, 20],
    [3.6, 500],
    [7_000, 500_000],
  ] as const) {
    const bar = scaleBar(metresPerPixel, 140)
    assert.equal(bar.metres, metres)
    assert.ok(bar.pixels <= 140.001 && bar.pixels > 50)
  }
})

test('words are wrapped where a line ends', () => {
  assert.deepEqual(
    wrapped('one two  three four', 9, (text) => text.length),
    ['one two', 'three', 'four'],
  )
  assert.deepEqual(
    wrapped('', 9, (text) => text.length),
    [],
  )
})
