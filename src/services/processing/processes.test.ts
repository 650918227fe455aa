import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTiff } from '#raster/tiff/open.ts'
import { memorySource } from '#raster/source/memory.ts'
import { scene, type Scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import run from '../../domains/processing/run.task.ts'
import { validateParams, PROCESSES } from './catalogue.ts'

// Goal: the example of every process matches its schema, and IDs are unique.
test('process definitions', () => {
  for (const process of PROCESSES) validateParams(process, process.example, 'example')
  assert.equal(new Set(PROCESSES.map(({ id }) => id)).size, PROCESSES.length)
})

const [WIDTH, HEIGHT] = [90, 70]
const DEGREES = 0.001

/** The values of a file at one pixel. */
async function pixel(bytes: Uint8Array, x: number, y: number): Promise<number[]> {
  const raster = await openTiff(memorySource(bytes))
  const { data } = await raster.readWindow(0, { x, y, width: 1, height: 1 })
  return data.map((plane) => Number(plane[0]))
}

// Goal: every process creates its documented outputs from uploaded items, with the right values.
test('process runs', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
  await w.db.updateTable('organization').set({ plan_id: 'team' }).where('id', '=', org.id).execute()
  const upload = async (options: Scene): Promise<string> =>
    (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: WIDTH, height: HEIGHT, ...options }) })).body.item_ids[0]
  const plain = await upload({ value: (band, x, y) => 100 * (band + 1) + x + y })
  const bright = await upload({ value: (band, x) => (x < 45 ? 0 : 1000 * (band + 1)), nodata: 0 })
  const heights = await upload({ bandNames: ['elevation'], dataType: 'float32', value: (_band, x) => 10 * x })
  const classes = await upload({ bandNames: ['classes'], dataType: 'uint8', value: (_band, x, y) => (x < 30 ? 1 : y < 35 ? 2 : 3) })

  /** Runs a process and returns an output file. */
  const make = async (id: string, params: object, key = 'data') => {
    const { job } = await w.ok(token, 'processing.create_and_dispatch', {
      project_id: org.projectId,
      job_type_id: id,
      input_params: params,
    })
    await w.drain(run)
    const { job: done } = await w.ok(token, 'processing.job.get', { job_id: job.id })
    assert.equal(done.status, 'completed', `${id}: ${done.error}`)
    const assets = await w.ok(token, 'items.list_assets', { item_id: done.output_item_ids[0] })
    const list = assets as { id: string; key: string }[]
    const { url } = await w.ok(token, 'items.asset.download', {
      item_id: done.output_item_ids[0],
      asset_id: list.find((asset) => asset.key === key)!.id,
    })
    return { bytes: new Uint8Array(await (await fetch(url)).arrayBuffer()), done }
  }
  const east = {
    type: 'Polygon',
    coordinates: [
      [
        [151.0455, -33.0105],
        [151.0805, -33.0105],
        [151.0805, -33.0505],
        [151.0455, -33.0505],
        [151.0455, -33.0105],
      ],
    ],
  }

  await t.test('cog_clip keeps the pixels of the area', async () => {
    const { bytes } = await make('cog_clip', { item_id: plain, geometry: east })
    assert.deepEqual(await pixel(bytes, 5, 5), [165, 265, 365, 465])
  })
  await t.test('band_math and index', async () => {
    const math = await make('band_math', { item_id: plain, expression: 'b2 - b1; b4 / 2' })
    assert.deepEqual(await pixel(math.bytes, 7, 9), [100, (400 + 16) / 2])
    const index = await make('index', { item_id: plain, index_name: 'ndvi' })
    assert.ok(Math.abs((await pixel(index.bytes, 3, 4))[0]! - 100 / (307 + 407)) < 1e-7)
  })
  await t.test('reproject, resample and cog_convert', async () => {
    await make('reproject', { item_id: plain, epsg: 32756 })
    const coarse = await make('resample', { item_id: plain, resolution: 2 * DEGREES, resampling: 'average' })
    assert.deepEqual(await pixel(coarse.bytes, 0, 0), [101, 201, 301, 401])
    const same = await make('cog_convert', { item_id: plain, compression: 'deflate' })
    assert.deepEqual(await pixel(same.bytes, 11, 12), [123, 223, 323, 423])
  })
  await t.test('hillshade, slope and aspect', async () => {
    const slope = await make('slope', { item_id: heights, unit: 'percent' })
    assert.ok(Math.abs((await pixel(slope.bytes, 20, 20))[0]! - 1000 / 111.12) < 0.001)
    const aspect = await make('aspect', { item_id: heights })
    assert.deepEqual(await pixel(aspect.bytes, 20, 20), [270], 'it rises to the east, so it faces west')
    const shade = await make('hillshade', { item_id: heights })
    assert.ok((await pixel(shade.bytes, 20, 20))[0]! > 180)
  })
  await t.test('mosaic has the source index of each pixel', async () => {
    const params = { item_ids: [plain, bright], method: 'brightest' }
    const { bytes, done } = await make('mosaic', params)
    assert.deepEqual(
      [await pixel(bytes, 10, 10), await pixel(bytes, 60, 10)],
      [
        [120, 220, 320, 420],
        [1000, 2000, 3000, 4000],
      ],
    )
    assert.deepEqual(
      done.output_artifacts.scenes.map(({ pixels }: { pixels: number }) => pixels),
      [45 * HEIGHT, 45 * HEIGHT],
    )
    const { bytes: index } = await make('mosaic', params, 'provenance')
    assert.deepEqual([await pixel(index, 10, 10), await pixel(index, 60, 10)], [[1], [2]])
  })
  await t.test('composite and change_detection', async () => {
    const { bytes } = await make('composite', { item_ids: [plain, bright], statistic: 'mean' })
    assert.deepEqual(
      [await pixel(bytes, 10, 10), await pixel(bytes, 60, 10)],
      [
        [120, 220, 320, 420],
        [585, 1135, 1685, 2235],
      ],
    )
    const change = await make('change_detection', {
      before_item_id: plain,
      after_item_id: bright,
      index_name: 'ndvi',
      change_threshold: 0.001,
      resampling: 'nearest',
    })
    assert.equal(
      change.done.output_artifacts.pixels_lost + change.done.output_artifacts.pixels_gained + change.done.output_artifacts.pixels_same,
      45 * HEIGHT,
    )
  })
  await t.test('contour and polygonize', async () => {
    const lines = JSON.parse(Buffer.from((await make('contour', { item_id: heights, interval: 100 })).bytes).toString())
    assert.deepEqual(
      lines.features.map(({ properties }: { properties: { elev: number } }) => properties.elev).toSorted((a: number, b: number) => a - b),
      [100, 200, 300, 400, 500, 600, 700, 800],
    )
    assert.equal(lines.features[0].geometry.coordinates.length, HEIGHT)
    const areas = JSON.parse(Buffer.from((await make('polygonize', { item_id: classes })).bytes).toString())
    assert.deepEqual(areas.features.map(({ properties }: { properties: { value: number } }) => properties.value).toSorted(), [1, 2, 3])
    assert.ok(areas.features.every(({ geometry }: { geometry: { coordinates: number[][][] } }) => geometry.coordinates[0]!.length === 5))
  })
  await t.test('cloud_mask and pansharpen', async () => {
    const cloudy = await upload({ value: (_band, x) => (x < 45 ? 6000 : 600) })
    const { bytes, done } = await make('cloud_mask', { item_id: cloudy })
    assert.deepEqual([await pixel(bytes, 10, 10), await pixel(bytes, 80, 10)], [[1], [0]])
    assert.equal(done.output_artifacts.cloud_cover, 50)
    const masked = await upload({ bandNames: ['clear', 'cloud'], value: (band, x) => (band === 1 ? (x < 30 ? 3 : 2) : 0) })
    const mask = { item_id: masked, mask_asset_key: 'data', mask_band: 2, mask_cloud_values: [3, 4] }
    const taken = await make('cloud_mask', mask)
    assert.deepEqual([await pixel(taken.bytes, 10, 10), await pixel(taken.bytes, 80, 10)], [[1], [0]])
    assert.equal(Math.round(taken.done.output_artifacts.cloud_cover), 33)
    const fine = await upload({ bandNames: ['pan'], width: 2 * WIDTH, height: 2 * HEIGHT, degrees: DEGREES / 2, value: () => 500 })
    const flat = await upload({ bandNames: ['red', 'green'], value: (band) => (band === 0 ? 100 : 300) })
    const sharp = await make('pansharpen', { item_id: flat, pan_item_id: fine })
    assert.deepEqual(await pixel(sharp.bytes, 80, 80), [250, 750])
  })
})
