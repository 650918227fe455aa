// Goal: a cloud mask is what its tests and the majority of nine pixels say, whatever the width, the blocks and the holes.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import { writeCog } from '#raster/write/cog.ts'
import { openFileSink } from '#raster/write/sink.ts'
import { runMethod } from './index.ts'

const SCALE = 0.0001
const NODATA = 0

type Kind = 'uint16' | 'int32' | 'float32'

/** Brightness in patches of some pixels, so that single pixels, borders and whole areas are cloudy; holes in one band. */
function sampleAt(x: number, y: number, band: number): number {
  const noise = (Math.imul((x * 31 + y * 17 + band * 5) | 1, 2_654_435_761) >>> 16) / 65_536
  if (noise > 0.97) return NODATA
  const isBright = ((x >> 2) + (y >> 3)) % 3 === 0 || noise > 0.9
  return Math.round((isBright ? 3_000 : 1_200) + noise * 2_500 + (band === 4 ? -1_500 * noise : 0))
}

/** From the definition, pixel by pixel. */
function expected(width: number, height: number, bandCount: number): number[] {
  const at = (x: number, y: number): number => {
    if (x < 0 || y < 0 || x >= width || y >= height) return 255
    const samples = Array.from({ length: bandCount }, (_, band) => sampleAt(x, y, band))
    if (samples.includes(NODATA)) return 255
    const [blue, green, red, nir, swir] = samples.map((sample) => sample * SCALE) as [number, number, number, number, number?]
    const mean = (blue + green + red) / 3
    const whiteness = (Math.abs(blue - mean) + Math.abs(green - mean) + Math.abs(red - mean)) / mean
    const isBright = blue > 0.24 && whiteness < 0.7 && blue - 0.5 * red - 0.08 > 0
    const isSnow = swir !== undefined && (green - swir) / (green + swir) > 0.6
    return isBright && !((nir - red) / (nir + red) > 0.7) && !isSnow ? 1 : 0
  }
  return Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [i % width, Math.floor(i / width)]
    if (at(x, y) === 255) return 255
    let count = 0
    for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) if (at(x + dx, y + dy) === 1) count++
    return count >= 4 ? 1 : 0
  })
}

async function masked(
  t: { after(end: () => Promise<void>): void },
  given: { width: number; height: number; bandCount: number; kind: Kind },
) {
  const { width, height, bandCount, kind } = given
  const folder = await mkdtemp(path.join(tmpdir(), 'clouds-'))
  t.after(() => rm(folder, { recursive: true }))
  const sink = await openFileSink(path.join(folder, 'scene.tif'))
  const bands = Array.from({ length: bandCount }, (_, band) => band)
  const transform = [500_000, 10, 0, 5_400_000, 0, -10] as const
  const spec = { width, height, dataType: kind, bandCount, nodata: NODATA, crs: crsFromEpsg(32_633), transform, blockSize: 48 }
  await writeCog(sink, spec, async (y, rows) => {
    const data = new EXACT_ARRAY[kind](width * rows * bandCount) as Float32Array<ArrayBuffer>
    for (let i = 0; i < width * rows; i++)
      for (const band of bands) data[i * bandCount + band] = sampleAt(i % width, y + Math.floor(i / width), band)
    return {
      width,
      height: rows,
      bands,
      data: bands.map(() => data),
      starts: bands,
      stride: bandCount,
      mask: null,
      byteLength: data.byteLength,
    }
  })
  await sink.close()
  const raster = await openTiff(await openFileSource(path.join(folder, 'scene.tif')))
  const told = await runMethod('clouds', {
    rasters: [raster],
    options: { bands: { blue: 1, green: 2, red: 3, nir: 4, ...(bandCount > 4 ? { swir: 5 } : {}) }, scale: SCALE },
    files: { 'data.tif': path.join(folder, 'mask.tif') },
    temporaryDirectory: folder,
    compression: 'deflate',
    signal: new AbortController().signal,
    onProgress: () => {},
  })
  const mask = await openTiff(await openFileSource(path.join(folder, 'mask.tif')))
  const { data } = await mask.readWindow(0, { x: 0, y: 0, width, height })
  await Promise.all([raster.close(), mask.close()])
  return { told, pixels: [...data[0]!] }
}

for (const [width, height, bandCount, kind] of [
  [64, 300, 4, 'uint16'],
  [101, 97, 4, 'uint16'],
  [3, 50, 4, 'float32'],
  [130, 49, 5, 'uint16'],
  [98, 20, 5, 'int32'],
] as const)
  test(`${width} × ${height} pixels of ${bandCount} bands in ${kind}`, async (t) => {
    const wanted = expected(width, height, bandCount)
    const { told, pixels } = await masked(t, { width, height, bandCount, kind })
    const wrong = pixels.findIndex((pixel, i) => pixel !== wanted[i])
    assert.equal(wrong, -1, `pixel ${wrong} is ${pixels[wrong]}, not ${wanted[wrong]}`)
    const count = (value: number) => wanted.filter((pixel) => pixel === value).length
    assert.deepEqual(told, { clearPixels: count(0), cloudPixels: count(1) })
    assert.ok(count(0) > 0 && count(1) > 0 && count(255) > 0)
  })
