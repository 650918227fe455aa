/** Run: PEER_PYTHON=venv/bin/python npm test -- test/peers/stack.ts. The interpreter needs rasterio and numpy. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compileExpression, parseExpression, scalesOf } from '#raster/expression/index.ts'
import { memorySource } from '#raster/source/memory.ts'
import { StackRaster } from '#raster/stack/raster.ts'
import { joinedMask } from '#raster/statistics/area.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { createBlockCache } from '#raster/warp/blocks.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { tileTransform } from '#raster/warp/mercator.ts'
import { planTile } from '#raster/warp/plan.ts'
import { samplePlanes } from '#raster/warp/sample.ts'
import { tileAt } from '../support/scene.ts'
import { bandFile, reflectance, UTM_LEFT, UTM_TOP, type BandFile } from '../support/stack.ts'

const PYTHON = process.env['PEER_PYTHON'] ?? 'python3'
const folder = mkdtempSync(path.join(tmpdir(), 'stack-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const script = fileURLToPath(new URL('stack.py', import.meta.url))
const hasPeer = spawnSync(PYTHON, ['-c', 'import rasterio, numpy']).status === 0

const holes = (value: (x: number, y: number) => number) => (x: number, y: number) =>
  Math.floor(x / 70) % 9 === 3 && Math.floor(y / 50) % 7 === 2 ? 0 : value(x, y)

/** Bands as Sentinel-2 has them: 10, 20 and 60 m, unsigned integers; a float; and a grid that is off by 1.4 pixels. */
const FILES: Record<string, BandFile> = {
  red: { width: 600, height: 480, pixelM: 10, nodata: 0, value: holes(reflectance(900)) },
  nir: { width: 600, height: 480, pixelM: 10, nodata: 0, blockSize: 128, value: reflectance(3_000, 1) },
  swir16: { width: 300, height: 240, pixelM: 20, nodata: 0, value: holes(reflectance(2_000, 2)) },
  coastal: { width: 100, height: 80, pixelM: 60, nodata: 0, value: reflectance(400, 3) },
  height: { width: 300, height: 240, pixelM: 20, dataType: 'float32', value: (x, y) => 100 * Math.sin(x / 900) + y / 17 },
  shifted: { width: 620, height: 500, pixelM: 10, left: UTM_LEFT - 14, top: UTM_TOP + 14, nodata: 0, value: reflectance(1_200, 4) },
}
const SCALES: Record<string, { scale: number; offset: number }> = {
  red: { scale: 0.0001, offset: -0.1 },
  nir: { scale: 0.0001, offset: -0.1 },
  swir16: { scale: 0.0001, offset: -0.1 },
  coastal: { scale: 0.0001, offset: 0 },
}
const CASES = [
  { name: 'ndvi', expression: '(nir-red)/(nir+red)' },
  { name: 'nbr', expression: '(nir-swir16)/(nir+swir16)' },
  { name: 'three-resolutions', expression: '(nir+coastal)/(swir16+red)' },
  { name: 'float', expression: 'sqrt(abs(height))*red', python: 'numpy.sqrt(numpy.abs(height))*red' },
  { name: 'shifted', expression: 'shifted/(red+2)' },
]
/** Steep enough that the nearest pixel would differ by a multiple of the tolerance. */
const SMOOTH: Record<string, BandFile['value']> = {
  red: (x, y) => Math.round(1_500 + 600 * Math.sin(x / 90) * Math.cos(y / 70)),
  swir16: (x, y) => Math.round(2_500 + 900 * Math.sin(x / 110 + 1) * Math.cos(y / 130)),
  coastal: (x, y) => Math.round(2_000 + 700 * Math.cos(x / 240) * Math.sin(y / 310)),
  height: (x, y) => 100 * Math.sin(x / 150) + y / 17,
}
/** Of the range of values: GDAL interpolates positions between some exact ones. */
const TOLERANCE = 0.01
const WINDOW = [37, 51, 401, 333] as const

// Goal: expressions over several files have the values that rasterio and numpy compute on the same windows.
test(
  'expressions over several files beside rasterio and numpy',
  { skip: hasPeer ? false : 'PEER_PYTHON has no rasterio and numpy' },
  async (t) => {
    const names = Object.keys(FILES)
    const opened = await Promise.all(
      names.map(async (name) => {
        const bytes = await bandFile(FILES[name]!)
        writeFileSync(path.join(folder, `${name}.tif`), bytes)
        return openTiff(memorySource(bytes))
      }),
    )
    const bandsOf = (expression: string) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(expression))
    const cases = CASES.map(({ name, expression, python = expression }) => ({
      name,
      python,
      reference: bandsOf(expression).includes('red') ? 'red.tif' : 'nir.tif',
      window: WINDOW,
      bands: Object.fromEntries(bandsOf(expression).map((band) => [band, { file: `${band}.tif`, scale: 1, offset: 0, ...SCALES[band] }])),
    }))
    writeFileSync(path.join(folder, 'cases.json'), JSON.stringify(cases))
    const peer = spawnSync(PYTHON, [script, folder], { encoding: 'utf8' })
    assert.equal(peer.status, 0, peer.stderr)
    for (const { name, expression } of CASES)
      await t.test(name, async () => {
        const used = bandsOf(expression)
        const raster = new StackRaster({
          bands: names.map((each) => ({ name: each, ...SCALES[each] })),
          files: names.map((each, index) => (used.includes(each) ? opened[index]! : null)),
          key: name,
          blocks: createBlockCache(64 * 2 ** 20),
        })
        const [x, y, width, height] = WINDOW
        const parsed = parseExpression(expression, { names: Object.fromEntries(names.map((each, index) => [each, index + 1])) })
        const bands = parsed.bands.map((band) => band - 1)
        const { data, mask } = await raster.readWindow(0, { x, y, width, height }, { bands })
        const nodata = bands.map((band) => raster.info.bands[band]!.nodata)
        const compiled = compileExpression(parsed, { dataType: raster.info.dataType, scales: scalesOf(raster.info.bands) })
        const ours = compiled.run(data, joinedMask(data, mask, nodata, width * height), width * height).values[0]!
        const theirs = new Float64Array(Uint8Array.from(readFileSync(path.join(folder, `${name}.raw`))).buffer)
        assert.equal(theirs.length, width * height)
        let [missing, worst] = [0, 0]
        for (let i = 0; i < ours.length; i++) {
          assert.equal(Number.isNaN(ours[i]!), Number.isNaN(theirs[i]!), `the same pixels are data: ${i}`)
          if (Number.isNaN(ours[i]!)) missing++
          else worst = Math.max(worst, Math.abs(ours[i]! - theirs[i]!) / Math.max(1e-6, Math.abs(theirs[i]!)))
        }
        assert.ok(missing < ours.length / 2)
        assert.ok(worst < 1e-12, `relative difference ${worst}`)
        t.diagnostic(`${name}: ${ours.length - missing} pixels, largest relative difference ${worst}`)
      })
  },
)

// Goal: smooth pixels of a coarse band in a stack are those of a bilinear warp of its own file by GDAL, not of its nearest pixels.
test('smooth pixels beside GDAL', { skip: hasPeer ? false : 'PEER_PYTHON has no rasterio and numpy' }, async (t) => {
  const names = ['red', 'swir16', 'coastal', 'height'] as const
  const smooth = Object.fromEntries(names.map((name) => [name, { ...FILES[name]!, value: SMOOTH[name]! }]))
  const files = await Promise.all(
    names.map(async (name) => {
      const bytes = await bandFile(smooth[name]!)
      writeFileSync(path.join(folder, `smooth-${name}.tif`), bytes)
      return openTiff(memorySource(bytes))
    }),
  )
  const { bounds, maxZoom } = coverageOf(files[0]!.info)
  const tile = tileAt((bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2, maxZoom + 1)
  const [left, pixelM, , top] = tileTransform(tile, 256)
  const cases = names.map((name) => ({ name, file: `smooth-${name}.tif`, left, top, pixelM, size: 256 }))
  writeFileSync(path.join(folder, 'warps.json'), JSON.stringify(cases))
  const peer = spawnSync(PYTHON, [script, folder, 'warps'], { encoding: 'utf8' })
  assert.equal(peer.status, 0, peer.stderr)
  const raster = new StackRaster({ bands: names.map((name) => ({ name })), files, key: 'smooth', blocks: createBlockCache(64 * 2 ** 20) })
  const { planes } = await samplePlanes({
    raster,
    blocks: createBlockCache(64 * 2 ** 20),
    windows: planTile(raster, tile, 256),
    bands: names.map((_, index) => index),
    width: 256,
    height: 256,
    resampling: 'bilinear',
    rule: 'all',
  })
  for (const [index, name] of names.entries()) {
    const theirs = new Float64Array(Uint8Array.from(readFileSync(path.join(folder, `${name}.warp`))).buffer)
    const worst = Float64Array.from(planes[index]!).reduce((most, value, i) => Math.max(most, Math.abs(value - theirs[i]!)), 0)
    const range = Math.max(...theirs) - Math.min(...theirs)
    assert.ok(range > 20, `${name} varies by ${range}`)
    assert.ok(worst < TOLERANCE * range, `${name} differs by ${worst} of ${range}`)
    t.diagnostic(`${name}: largest difference ${worst.toFixed(4)} of a range of ${range.toFixed(0)}`)
  }
})
