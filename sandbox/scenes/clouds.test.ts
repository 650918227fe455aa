import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { runMethod } from '#raster/process/index.ts'
import { openFileSource } from '#raster/source/file.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { memorySink } from '#raster/write/sink.ts'
import { describeScene, renderScene, type SceneRequest } from './index.ts'

/** Forest and water are darker than this in blue; a pixel that is half cloud is brighter (scenes.test.ts compares it with the metadata). */
const HALF_CLOUD = 2900
const LEAST_F1 = 0.8

// Goal: the cloud mask finds the simulated clouds; its F1 over broken clouds is printed.
test('the cloud mask on simulated clouds', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'clouds-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const skies = Array.from({ length: 60 }, (_, day): SceneRequest => ({
    sensor: 'sandbox-open',
    longitude: -61,
    latitude: -4,
    datetime: new Date(Date.UTC(2025, 5, 1 + day, 14, 20)),
    sizePx: 240,
  })).map(describeScene)
  const broken = skies.filter(({ cloudCover }) => cloudCover! > 10 && cloudCover! < 90).slice(0, 4)
  assert.equal(broken.length, 4)
  const [hits, missed, invented] = [0, 1, 2].map(() => ({ count: 0 })) as [Tally, Tally, Tally]
  for (const scene of broken) {
    const sink = memorySink()
    await renderScene(scene, sink)
    const raster = await openTiff(memorySource(sink.bytes()))
    const band = (name: string) => raster.info.bands.findIndex((candidate) => candidate.name === name) + 1
    const bands = { blue: band('blue'), green: band('green'), red: band('red'), nir: band('nir') }
    const file = path.join(folder, 'mask.tif')
    await runMethod('clouds', {
      rasters: [raster],
      options: { bands, scale: 0.0001 },
      files: { 'data.tif': file },
      temporaryDirectory: folder,
      compression: 'deflate',
      signal: new AbortController().signal,
      onProgress: () => {},
    })
    const { width, height } = raster.info
    const whole = { x: 0, y: 0, width, height }
    const mask = (await (await openTiff(await openFileSource(file))).readWindow(0, whole)).data[0]!
    const blue = (await raster.readWindow(0, whole, { bands: [bands.blue - 1] })).data[0]!
    for (let i = 0; i < mask.length; i++) {
      if (blue[i] === 0 || mask[i] === 255) continue
      const [isCloud, isFound] = [blue[i]! > HALF_CLOUD, mask[i] === 1]
      if (isCloud && isFound) hits.count++
      else if (isCloud) missed.count++
      else if (isFound) invented.count++
    }
  }
  const f1 = (2 * hits.count) / (2 * hits.count + missed.count + invented.count)
  t.diagnostic(`F1 ${f1.toFixed(3)}: ${hits.count} true positives, ${missed.count} missed, ${invented.count} false`)
  assert.ok(f1 >= LEAST_F1, `F1 ${f1.toFixed(3)}`)
})

interface Tally {
  count: number
}
