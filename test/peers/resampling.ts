// Goal: a tile that is coarser than its source holds the mean that its kernel stands for, to a level; rio-tiler holds the same where it
// warps by the same method; and subsampled JPEG is read as by libjpeg-turbo, to the last bit.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, test } from 'node:test'

import { createContext } from '#raster/render/context.ts'
import { drawTile } from '#raster/render/tile.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'

interface Drawn {
  name: string
  method: 'bilinear' | 'cubic'
  z: number
  x: number
  y: number
  column: number
  row: number
  cut: number
}

const folder = mkdtempSync(path.join(tmpdir(), 'resampling-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const script = fileURLToPath(new URL('resampling.py', import.meta.url))
const tiles = JSON.parse(execFileSync(process.env['PEER_PYTHON'] ?? 'python3', [script, folder], { encoding: 'utf8' })) as Drawn[]
const bytesOf = (name: string) => readFileSync(path.join(folder, name))
const numbersOf = (name: string) => new Float64Array(Uint8Array.from(bytesOf(name)).buffer)

/** The root mean square of differences, and the share of those of more than two levels. */
function apart(a: ArrayLike<number>, b: ArrayLike<number>): { rms: number; far: number } {
  const differences = Array.from({ length: a.length }, (_, i) => Math.abs(a[i]! - b[i]!))
  return {
    rms: Math.sqrt(differences.reduce((sum, difference) => sum + difference ** 2, 0) / a.length),
    far: differences.filter((difference) => difference > 2).length / a.length,
  }
}

for (const { name, method, z, x, y, column, row, cut } of tiles)
  test(`${method} at zoom ${z}`, async () => {
    const raster = await openTiff(memorySource(bytesOf('scene.tif')))
    const style = { kind: 'single', band: 1, ranges: [[0, 255]] } as const
    const picture = await drawTile(createContext(), raster, { z, x, y }, { resampling: method, style })
    assert.ok(picture && 'data' in picture)
    const ours = Array.from({ length: cut * cut }, (_, i) => {
      const pixel = (row + Math.floor(i / cut)) * picture.width + column + (i % cut)
      return picture.data[pixel * picture.channels]!
    })
    const toExact = apart(ours, numbersOf(`${name}-exact.raw`))
    // Levels are rounded down, which alone is 0.58.
    assert.ok(toExact.rms < 1 && toExact.far < 0.02, JSON.stringify(toExact))
    const toSame = apart(ours, numbersOf(`${name}-same.raw`))
    assert.ok(toSame.rms < 1.5 && toSame.far < 0.05, JSON.stringify(toSame))
    const nearest = apart(numbersOf(`${name}-nearest.raw`), numbersOf(`${name}-exact.raw`))
    assert.ok(nearest.rms > 10 * toExact.rms, `warped by the nearest pixel rio-tiler is ${nearest.rms} levels off`)
  })

for (const layout of ['tiles', 'strips', 'tall'])
  test(`JPEG with half of its colours in ${layout} is what libjpeg-turbo reads`, async () => {
    const raster = await openTiff(memorySource(bytesOf(`jpeg-${layout}.tif`)))
    const { width, height } = raster.info
    const { data, stride, starts } = await raster.readWindow(0, { x: 0, y: 0, width, height })
    const theirs = bytesOf(`jpeg-${layout}.raw`)
    for (let band = 0; band < 3; band++)
      for (let i = 0; i < width * height; i++)
        assert.equal(data[band]![i * stride + starts[band]!], theirs[band * width * height + i], `band ${band}, pixel ${i}`)
  })
