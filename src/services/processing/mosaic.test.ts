import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parquetReadObjects } from 'hyparquet'
import { DAY_MS } from '#core/time.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { memorySource } from '#raster/source/memory.ts'
import { seeded } from '../../../test/support/random.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'
import run from '../../domains/processing/run.task.ts'

const SCENES = 30
const BANDS = 4
const SIDE = 40
const DEGREES = 0.001
const [WEST, NORTH] = [151, -33] as const
/** Maximum offset of the scenes in pixels. */
const SPREAD = 60
/** Bright in all bands; everything else here is far darker. */
const CLOUD = 6_000
const NOTHING = 0

interface TestScene {
  itemId: string
  /** Position of its first pixel. */
  left: number
  top: number
  /** Values by band, in row order. */
  values: Uint16Array[]
  takenAt: number
}

/** Bright, with at least three bright neighbours of eight: what cloud_mask classifies as cloud. */
function isCloudy({ values: [blue] }: TestScene, at: number): boolean {
  let around = 0
  for (const y of [-1, 0, 1])
    for (const x of [-1, 0, 1]) {
      const column = (at % SIDE) + x
      if (column >= 0 && column < SIDE && (blue![at + y * SIDE + x] ?? NOTHING) >= CLOUD) around++
    }
  return around >= 4
}
const sum = (scene: TestScene, at: number) => scene.values.reduce((all, band) => all + band[at]!, 0)
const ndvi = ({ values: [, , red, nir] }: TestScene, at: number) => (nir![at]! - red![at]!) / (nir![at]! + red![at]!)
const median = (sorted: readonly number[]) => (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2

type Candidate = { index: number; scene: TestScene; at: number }
const best = (candidates: readonly Candidate[], score: (candidate: Candidate) => number) =>
  candidates.reduce((first, next) => (score(next) > score(first) ? next : first))

/** Chooses one of the scenes that have the pixel; of equal ones, the first. */
const RULES: Record<string, (candidates: readonly Candidate[]) => Candidate> = {
  first: ([candidate]) => candidate!,
  brightest: (candidates) => best(candidates, ({ scene, at }) => sum(scene, at)),
  darkest: (candidates) => best(candidates, ({ scene, at }) => -sum(scene, at)),
  most_recent: (candidates) => best(candidates, ({ scene }) => scene.takenAt),
  highest_index: (candidates) => best(candidates, ({ scene, at }) => Math.fround(ndvi(scene, at))),
  median: (candidates) => {
    const middle = median(candidates.map(({ scene, at }) => sum(scene, at)).toSorted((a, b) => a - b))
    return best(candidates, ({ scene, at }) => -Math.abs(sum(scene, at) - middle))
  },
}

async function planes(bytes: Uint8Array) {
  const raster = await openTiff(memorySource(bytes))
  const { width, height, transform } = raster.info
  const { data, starts, stride } = await raster.readWindow(0, { x: 0, y: 0, width, height })
  const place = (step: number) => Math.round(step / DEGREES)
  return {
    width,
    height,
    left: place(transform![0] - WEST),
    top: place(NORTH - transform![3]),
    at: (band: number, i: number) => Number(data[band]![i * stride + (starts[band] ?? 0)]),
  }
}

// Goal: in a mosaic of 30 items each pixel has, in all bands, the values of the scene with its source index, and that scene is
// the one that the method chooses.
test('mosaics of 30 items', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
  const random = seeded(30)
  const uploads: (() => Promise<TestScene>)[] = []
  for (let n = 0; n < SCENES; n++) {
    const [left, top] = [random.integer(0, SPREAD), random.integer(0, SPREAD)]
    const values = Array.from({ length: BANDS }, () => new Uint16Array(SIDE * SIDE).map(() => random.integer(200, 1_500)))
    const cloud = random.integer(0, SIDE - 12)
    for (let at = 0; at < SIDE * SIDE; at++) {
      const [x, y] = [at % SIDE, Math.floor(at / SIDE)]
      if (x >= cloud && x < cloud + 10 && y >= cloud && y < cloud + 10) for (const band of values) band[at] = CLOUD + n
      if (random.next() < 0.2) for (const band of values) band[at] = NOTHING
    }
    const bytes = await scene({
      width: SIDE,
      height: SIDE,
      nodata: NOTHING,
      west: WEST + left * DEGREES,
      north: NORTH - top * DEGREES,
      degrees: DEGREES,
      value: (band, x, y) => values[band]![y * SIDE + x]!,
    })
    const takenAt = Date.parse('2025-01-01T00:00:00Z') + random.integer(0, 300) * DAY_MS + n * 1_000
    uploads.push(async () => {
      const { body } = await w.upload(token, org.projectId, { 'scene.tif': bytes })
      await w.ok(token, 'items.update', { item_id: body.item_ids[0], datetime: new Date(takenAt).toISOString() })
      return { itemId: body.item_ids[0], left, top, values, takenAt }
    })
  }
  const taken = await Promise.all(uploads.map((upload) => upload()))
  const ids = taken.map(({ itemId }) => itemId)

  const make = async (params: object) => {
    const input = { project_id: org.projectId, job_type_id: 'mosaic', input_params: { item_ids: ids, ...params } }
    const { job } = await w.ok(token, 'processing.create_and_dispatch', input)
    await w.drain(run)
    const { job: done } = await w.ok(token, 'processing.job.get', { job_id: job.id })
    assert.equal(done.status, 'completed', done.error)
    const item_id = done.output_item_ids[0] as string
    const assets = (await w.ok(token, 'items.list_assets', { item_id })) as { id: string; key: string }[]
    const file = async (key: string) => {
      const { url } = await w.ok(token, 'items.asset.download', { item_id, asset_id: assets.find((asset) => asset.key === key)!.id })
      return new Uint8Array(await (await fetch(url)).arrayBuffer())
    }
    return { stac: await w.ok(token, 'items.get_stac', { item_id }), file }
  }

  /** Compares every pixel of the mosaic with the scenes; returns the number of pixels. */
  const compare = async (params: { method: string; cloud_aware?: boolean }) => {
    const { stac, file } = await make(params)
    const [data, index] = [await planes(await file('data')), await planes(await file('provenance'))]
    assert.deepEqual([index.width, index.height, index.left, index.top], [data.width, data.height, data.left, data.top])
    const classes = stac.assets.provenance['classification:classes'] as { value: number; name: string }[]
    assert.equal(classes.length, SCENES)
    const named = new Map(classes.map(({ value, name }) => [value, name]))
    let [filled, clouds] = [0, 0]
    for (let i = 0; i < data.width * data.height; i++) {
      const [x, y] = [data.left + (i % data.width), data.top + Math.floor(i / data.width)]
      const candidates = taken.flatMap((scene, index): Candidate[] => {
        const at = (y - scene.top) * SIDE + (x - scene.left)
        const isInside = x >= scene.left && x < scene.left + SIDE && y >= scene.top && y < scene.top + SIDE
        return isInside && scene.values[0]![at] !== NOTHING && !(params.cloud_aware && isCloudy(scene, at)) ? [{ index, scene, at }] : []
      })
      const number = index.at(0, i)
      const pixel = Array.from({ length: BANDS }, (_, band) => data.at(band, i))
      if (candidates.length === 0) {
        assert.deepEqual([number, pixel], [0, [0, 0, 0, 0]], `nothing stands at ${x}, ${y}`)
        continue
      }
      const right = RULES[params.method]!(candidates)
      if (isCloudy(right.scene, right.at)) clouds++
      assert.equal(named.get(number), right.scene.itemId, `the scene at ${x}, ${y} of ${params.method}`)
      assert.deepEqual(
        pixel,
        right.scene.values.map((band) => band[right.at]),
      )
      filled++
    }
    return { filled, clouds, stac, file }
  }

  for (const method of Object.keys(RULES))
    await t.test(method, async () => {
      const { filled, stac } = await compare({ method })
      assert.ok(filled > SPREAD * SPREAD, `${filled} pixels`)
      assert.deepEqual(
        [stac.properties['svc:item_type'], stac.properties['svc:mosaic_method'], stac.properties['svc:source_scene_count']],
        ['mosaic', method, SCENES],
      )
    })

  await t.test('clouds are excluded', async () => {
    const plain = await compare({ method: 'brightest' })
    const clear = await compare({ method: 'brightest', cloud_aware: true })
    assert.ok(plain.clouds > 500 && clear.clouds === 0, `${plain.clouds} cloudy pixels, then ${clear.clouds}`)
    const create = (params: object) =>
      w.call(token, 'processing.create', { project_id: org.projectId, job_type_id: 'mosaic', input_params: { item_ids: ids, ...params } })
    const refused = await create({ cloud_values: [3] })
    assert.deepEqual([refused.status, refused.body.errors[0].field], [422, 'cloud_values'])
    const grey = await w.upload(token, org.projectId, { 'grey.tif': await scene({ width: 8, height: 8, bandNames: ['grey'] }) })
    const bandless = await create({ item_ids: grey.body.item_ids, cloud_aware: true })
    assert.deepEqual([bandless.status, bandless.body.errors[0].field], [422, 'cloud_aware'])
  })

  await t.test('the manifest lists every scene in the order of the source index', async () => {
    const { stac, file } = await make({ method: 'most_recent' })
    const bytes = await file('source_manifest')
    const rows = await parquetReadObjects({ file: bytes.buffer as ArrayBuffer })
    const order = taken.toSorted((a, b) => b.takenAt - a.takenAt).map(({ itemId }) => itemId)
    assert.deepEqual(
      rows.map(({ id }) => id),
      order,
    )
    assert.deepEqual(
      stac.assets.provenance['classification:classes'].map(({ name }: { name: string }) => name),
      order,
    )
  })
})
