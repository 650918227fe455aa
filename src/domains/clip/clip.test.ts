import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { priceOf } from '#contract/prices.ts'
import { newId } from '#core/ids.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { tasks } from '#registry.ts'
import { fileHost } from '../../../test/support/ranges.ts'
import { scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

const box = (west: number, south: number, east: number, north: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})
/** The task that runs a job. */
const runJob = tasks.find(({ name }) => name === 'processing.run')!

/** Columns 100 to 149 and rows 50 to 99 of the scene. */
const AOI = box(151.1004, -33.0996, 151.1496, -33.0504)
const CLIPPER = 'clipper@example.com'

async function open(t: TestContext, options: Parameters<typeof world>[1] = {}) {
  const w = await world(t, { clipUserEmail: CLIPPER, ...options })
  const org = await w.organization()
  const clipper = await w.join(await w.person(CLIPPER), org, 'admin')
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  return { w, org, clipper }
}

const upload = async (w: World, org: Org): Promise<string> => {
  const image = await scene({ value: (band, x, y) => 1_000 * band + x + y })
  return (await w.upload(org.owner.token, org.projectId, { 'field.tif': image })).body.item_ids[0] as string
}
const balance = async (w: World, org: Org): Promise<number> =>
  (await w.ok(org.owner.token, 'billing.credits.balance')).available_credits as number
const keyed = (key = newId()) => ({ 'idempotency-key': key })

// Goal: a clip is charged once and contains exactly the requested pixels; a rejected clip costs nothing.
test('a clip of an item', async (t) => {
  const { w, org, clipper } = await open(t)
  const item = await upload(w, org)
  const input = { source_item_id: item, project_id: org.projectId, aoi_geometry: AOI, aoi_name: 'North paddock' }
  const clip = (id: string, given: object) => w.call(clipper.token, id, given)
  const before = await balance(w, org)
  const { credits } = await w.ok(org.owner.token, 'processing.catalog.estimate', {
    process_id: 'cog_clip',
    inputs: { item_id: item, geometry: AOI },
  })

  const key = newId()
  const response = await w.call(org.owner.token, 'clip.create_from_item', input, keyed(key))
  assert.equal(response.status, 200, JSON.stringify(response.body))
  const { job, assets_to_clip, asset_keys } = response.body
  assert.deepEqual(
    [job.status, job.job_type, job.organization_id, assets_to_clip, asset_keys],
    ['running', 'cog_clip', org.id, 1, ['data']],
  )
  assert.equal(await balance(w, org), before - credits, 'as estimated')

  await t.test('the same idempotency key creates no second job', async () => {
    const again = await w.call(org.owner.token, 'clip.create_from_item', input, keyed(key))
    assert.equal(again.body.job.id, job.id)
    assert.equal((await clip('clip.jobs.list', {})).body.total, 1)
  })

  await t.test('before it is completed it has no files and its status is running', async () => {
    assert.equal((await clip('clip.job.get', { job_id: job.id })).body.status, 'running')
    assert.equal((await clip('clip.jobs.list', { status: 'running' })).body.total, 1)
    for (const [id, more] of [
      ['clip.job.downloads', {}],
      ['clip.job.download', { mosaic_type: 'data' }],
      ['clip.job.tile_info', {}],
    ] as const)
      assert.equal((await clip(id, { job_id: job.id, ...more })).status, 400, id)
  })

  await w.drain(runJob)

  await t.test('the file contains the pixels of the area, and the download is counted', async () => {
    const { body } = await clip('clip.job.get', { job_id: job.id })
    assert.equal(body.status, 'completed', JSON.stringify(body))
    const [file] = (await clip('clip.job.downloads', { job_id: job.id })).body
    assert.deepEqual(body.output_artifacts.clips, [file])
    assert.equal(file.mosaic_type, 'data')
    assert.match(file.gcs_path, /^store:\/\//)
    const { status, headers, bytes } = await clip('clip.job.download', { job_id: job.id, mosaic_type: 'data' })
    assert.deepEqual([status, headers.get('content-type'), bytes.length], [200, 'image/tiff', file.size_bytes])
    assert.match(headers.get('content-disposition')!, /attachment; filename\*=UTF-8''North%20paddock/)
    const tiff = await openTiff(memorySource(bytes))
    assert.deepEqual([tiff.info.width, tiff.info.height, tiff.info.bandCount], [50, 50, 4])
    const { data, starts, stride } = await tiff.readWindow(0, { x: 0, y: 0, width: 50, height: 50 }, { bands: [2] })
    for (const [x, y] of [
      [0, 0],
      [49, 49],
      [13, 37],
    ] as const)
      assert.equal(data[0]![(y * 50 + x) * stride + starts[0]!], 2_000 + 100 + x + 50 + y)
    const log = await w.db.selectFrom('egress_log').select(['kind', 'bytes']).where('org_id', '=', org.id).execute()
    assert.deepEqual(log, [{ kind: 'clip', bytes: file.size_bytes }])
    assert.equal((await clip('clip.job.download', { job_id: job.id, mosaic_type: 'none' })).status, 404)
  })

  await t.test('the result is an item with tiles and lineage', async () => {
    const { tiles } = (await clip('clip.job.tile_info', { job_id: job.id })).body
    assert.equal(tiles.length, 1)
    assert.ok(Math.abs(tiles[0].bounds[0] - 151.1) < 1e-6)
    const graph = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: item, direction: 'down' })
    assert.ok(
      graph.edges.some((edge: { src_type: string; src_id: string }) => edge.src_type === 'processing_job' && edge.src_id === job.id),
    )
    assert.ok(graph.nodes.some(({ entity_id }: { entity_id: string }) => entity_id === tiles[0].item_id))
  })

  await t.test('deleting the job deletes its files', async () => {
    const [outputId] = (await clip('clip.job.get', { job_id: job.id })).body.output_item_ids
    assert.equal((await clip('clip.job.delete', { job_id: job.id })).status, 200)
    assert.equal((await clip('clip.job.get', { job_id: job.id })).status, 404)
    assert.equal((await w.call(org.owner.token, 'items.get', { item_id: outputId })).status, 404)
    assert.equal(await balance(w, org), before - credits, 'completed work stays charged')
  })

  await t.test('deleting a running job cancels it and releases its credits', async () => {
    const initial = await balance(w, org)
    const { body } = await w.call(org.owner.token, 'clip.create_from_item', input, keyed())
    assert.ok((await balance(w, org)) < initial)
    assert.equal((await clip('clip.job.delete', { job_id: body.job.id })).status, 200)
    assert.equal(await balance(w, org), initial)
    await w.drain(runJob)
    assert.equal((await clip('clip.jobs.list', {})).body.total, 0)
  })

  await t.test('rejections cost nothing and say what to change', async () => {
    const initial = await balance(w, org)
    for (const [more, status, words] of [
      [{ aoi_geometry: box(10, 10, 11, 11) }, 400, /does not intersect/],
      [{ aoi_geometry: { type: 'Point', coordinates: [151, -33] } }, 422, /aoi_geometry/],
      [
        { asset_keys: ['data', 'nothing'] },
        400,
        /^No raster assets resolved: asset_keys: 'nothing' is not a raster asset of .*; available: data$/,
      ],
      [{ source_item_id: newId() }, 404, /item/],
    ] as const) {
      const { status: got, body } = await w.call(org.owner.token, 'clip.create_from_item', { ...input, ...more }, keyed())
      assert.equal(got, status, JSON.stringify(body))
      assert.match(body.detail, words)
      if ('asset_keys' in more) assert.equal(body.errors[0].field, 'asset_keys')
    }
    assert.equal(await balance(w, org), initial)
  })

  await t.test('a clip above the monthly quota is rejected, and nothing is reserved', async () => {
    const before = await balance(w, org)
    const day = w.clock.now().toISOString().slice(0, 10)
    const clips = { org_id: org.id, day, meter: 'compute_jobs' as const, amount: 10 }
    const quota = w.db
      .insertInto('usage_day')
      .values(clips)
      .onConflict((conflict) => conflict.columns(['org_id', 'meter', 'day']).doUpdateSet({ amount: 10 }))
    await quota.execute()
    const job = { project_id: org.projectId, job_type_id: 'band_math', input_params: { item_id: item, expression: 'b1' } }
    const other = await w.call(org.owner.token, 'processing.create', job, keyed())
    assert.equal(other.status, 200, 'other jobs have a separate quota')
    const used = await w.ok(org.owner.token, 'usage.current')
    assert.deepEqual([used.compute_jobs, used.processing_jobs], [10, 1])
    assert.deepEqual([used.limits.compute_jobs, used.limits.processing_jobs], [10, 100])
    await w.db.updateTable('usage_day').set({ amount: 100 }).where('org_id', '=', org.id).where('meter', '=', 'processing_jobs').execute()
    const full = await w.call(org.owner.token, 'processing.create', job, keyed())
    assert.deepEqual([full.status, full.body.used, full.body.limit], [402, 100, 100])
    await w.ok(clipper.token, 'processing.job.delete', { job_id: other.body.job.id })
    const { status, body } = await w.call(org.owner.token, 'clip.create_from_item', input, keyed())
    assert.deepEqual(
      [status, body.title, body.code, body.used, body.limit],
      [402, 'Compute Quota Exceeded', 'compute-quota-exceeded', 10, 10],
    )
    assert.equal(await balance(w, org), before)
    await w.db.updateTable('usage_day').set({ amount: 0 }).where('org_id', '=', org.id).where('meter', '=', 'compute_jobs').execute()
  })

  await t.test('only the clip user can read clips', async () => {
    assert.equal((await w.call(org.owner.token, 'clip.jobs.list')).status, 403)
    assert.equal((await clip('clip.jobs.list', { organization_id: newId() })).status, 403)
  })
})

// Goal: areas are configured, and their mosaics can be clipped without belonging to an organization.
test('clips of areas', async (t) => {
  const files = await fileHost(t)
  files.put('rgb.tif', await scene({ value: (band, x) => 10 * band + x }))
  files.put('dem.tif', await scene({ bandNames: ['elevation'], dataType: 'float32', value: (_band, x, y) => x - y }))
  const mosaic = (type: string) => ({ type, title: type, description: 'A test', url: files.url(`${type}.tif`), acquired: null })
  const area = {
    id: 'harbour',
    name: 'Harbour',
    description: 'A test',
    bbox: [151, -33.2, 151.3, -33] as const,
    attribution: 'Nobody',
    mosaics: [mosaic('rgb'), mosaic('dem')],
  }
  const { w, org, clipper } = await open(t, { clipAreas: [area], egressAllow: [files.host] })
  const clip = (id: string, given: object = {}, headers = {}) => w.call(clipper.token, id, given, headers)

  await t.test('areas are listed and described, with the price of a clip', async () => {
    assert.deepEqual((await clip('clip.areas.list')).body, { areas: [{ id: 'harbour', name: 'Harbour', bbox: [151, -33.2, 151.3, -33] }] })
    const { body } = await clip('clip.area.metadata', { area: 'harbour' })
    assert.deepEqual([body.mosaic_types, body.price.minimum_credits > 0], [['rgb', 'dem'], true])
    assert.deepEqual(
      (await clip('clip.area.mosaics', { area: 'harbour' })).body.mosaics.map(({ mosaic_type }: { mosaic_type: string }) => mosaic_type),
      ['rgb', 'dem'],
    )
    assert.equal((await clip('clip.area.metadata', { area: 'nowhere' })).status, 404)
  })

  await t.test('a clip of two mosaics gives one item with two files, in the only project', async () => {
    const request = { area: 'harbour', aoi_geometry: AOI, organization_id: org.id }
    const call = async (id: string, input: object): Promise<unknown> => await w.ok(clipper.token, id, input)
    const price = await priceOf(call, 'clip.create_from_area', request)
    const before = await balance(w, org)
    const { status, body } = await clip('clip.create_from_area', request, keyed())
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(price, { credits: before - (await balance(w, org)), aud: price.credits! / 100 })
    await assert.rejects(
      priceOf(call, 'clip.create_from_area', { ...request, mosaic_types: ['sar'] }),
      /Harbour has no mosaic sar; it has rgb, dem/,
    )
    assert.deepEqual(body.asset_keys, ['rgb', 'dem'])
    await w.drain(runJob)
    const done = (await clip('clip.job.get', { job_id: body.job.id })).body
    assert.equal(done.status, 'completed', JSON.stringify(done))
    assert.deepEqual(done.output_artifacts.clips.map(({ mosaic_type }: { mosaic_type: string }) => mosaic_type).toSorted(), ['dem', 'rgb'])
    assert.equal(done.output_item_ids.length, 1)
    const graph = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'project', entity_id: org.projectId, direction: 'down' })
    assert.ok(
      graph.edges.some((edge: { src_id: string; relation: string }) => edge.src_id === body.job.id && edge.relation === 'created_in'),
    )
  })

  await t.test('an unknown mosaic and an area outside it are rejected', async () => {
    assert.equal((await clip('clip.create_from_area', { area: 'harbour', mosaic_types: ['sar'], aoi_geometry: AOI }, keyed())).status, 422)
    assert.equal((await clip('clip.create_from_area', { area: 'harbour', aoi_geometry: box(10, 10, 11, 11) }, keyed())).status, 400)
    assert.equal((await clip('clip.create_from_area', { area: 'nowhere', aoi_geometry: AOI }, keyed())).status, 404)
    await w.ok(org.owner.token, 'projects.create', { name: 'Second' })
    assert.equal((await clip('clip.create_from_area', { area: 'harbour', aoi_geometry: AOI }, keyed())).status, 422)
  })
})
