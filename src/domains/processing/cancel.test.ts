import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { workersOf } from '#adapters/workers/registry.ts'
import { newId } from '#core/ids.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import clear from './clear.task.ts'
import run from './run.task.ts'

const SECRET = 'wrk_a-secret-of-some-length'
const WORKERS = workersOf(
  [{ name: 'one', job_types: ['hillshade'], secret_sha256: createHash('sha256').update(SECRET).digest('hex') }],
  ['hillshade'],
)

const wallet = async (w: World, org: Org) => {
  const { available_credits, reserved_credits } = await w.ok(org.owner.token, 'billing.credits.balance')
  return [available_credits, reserved_credits]
}
const eventsOf = async (w: World, jobId: string) =>
  (await w.db.selectFrom('event').select(['type', 'data']).where('entity_id', '=', jobId).orderBy('seq').execute()).map(
    ({ type, data }) => [type, (data as { reason?: string }).reason ?? null, (data as { status: string }).status],
  )

// Goal: editors of a project can cancel its jobs; the reservation is released, the run stops and leaves nothing behind.
test('processing.job.cancel', async (t) => {
  const w = await world(t, { workers: WORKERS })
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const raster = await scene({ width: 64, height: 64 })
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': raster })).body.item_ids[0] as string
  const make = async (operation: string, jobType = 'band_math') => {
    const input_params = { item_id: itemId, ...(jobType === 'band_math' ? { expression: 'b1*2' } : {}) }
    return (await w.ok(token, operation, { project_id: org.projectId, job_type_id: jobType, input_params })).job
  }
  const cancel = (id: string, credential = token) => w.call(credential, 'processing.job.cancel', { job_id: id })
  const items = async () => (await w.ok(token, 'items.list', { project_id: org.projectId })).total
  const before = await wallet(w, org)

  await t.test('pending and dispatched jobs', async () => {
    for (const operation of ['processing.create', 'processing.create_and_dispatch']) {
      const job = await make(operation)
      assert.notDeepEqual(await wallet(w, org), before)
      const { status, body } = await cancel(job.id)
      assert.deepEqual([status, body.job.status, body.job.captured_credits, body.job.error], [200, 'cancelled', 0, null])
      assert.ok(body.job.completed_at)
      assert.deepEqual(await wallet(w, org), before)
      const expected = [
        ['job.created', null, operation === 'processing.create' ? 'pending' : 'dispatched'],
        ['job.failed', 'cancelled', 'cancelled'],
        ['job.released', null, 'cancelled'],
      ]
      assert.deepEqual(await eventsOf(w, job.id), expected)
      const again = await cancel(job.id)
      assert.deepEqual([again.status, again.body], [200, body], 'a second time changes nothing')
      assert.deepEqual(await eventsOf(w, job.id), expected)
      assert.equal((await w.call(token, 'processing.dispatch', { job_id: job.id })).status, 400)
    }
    await w.drain(run)
    assert.equal(await items(), 1, 'it does not run')
  })

  await t.test('a clip job', async () => {
    const area = (await w.ok(token, 'items.get', { item_id: itemId })).item.geometry
    const { body } = await w.call(token, 'clip.create_from_item', {
      source_item_id: itemId,
      project_id: org.projectId,
      aoi_geometry: area,
    })
    const id = (body.job?.id ?? body.id ?? body.job_id) as string
    assert.equal((await cancel(id)).status, 200, JSON.stringify(body))
    await w.drain(run)
    assert.deepEqual([await items(), await wallet(w, org)], [1, before])
  })

  await t.test('a running job stops, and its files are removed', async () => {
    const job = await make('processing.create_and_dispatch')
    const put = w.storage.put.bind(w.storage)
    const storing = Promise.withResolvers<void>()
    const written: Parameters<typeof put>[0][] = []
    const mocked = t.mock.method(w.storage, 'put', async (...[at, content, options]: Parameters<typeof put>) => {
      if (!('path' in content)) return await put(at, content, options)
      written.push(at)
      const stored = await put(at, content, options)
      storing.resolve()
      if (!options.signal!.aborted) await once(options.signal!, 'abort') // Only the cancellation ends this.
      return stored
    })
    const working = w.drain(run)
    await storing.promise
    assert.equal((await cancel(job.id)).body.job.status, 'cancelled')
    assert.equal(await working, 1)
    mocked.mock.restore()
    assert.deepEqual(await Promise.all(written.map((at) => w.storage.stat(at))), [null])
    assert.deepEqual([await items(), await wallet(w, org)], [1, before])
    assert.deepEqual(
      (await eventsOf(w, job.id)).map(([type]) => type),
      ['job.created', 'job.started', 'job.failed', 'job.released'],
    )
    assert.deepEqual(
      w.logLines.filter((line) => /"level":(50|60)/.test(line)),
      [],
      'a cancelled run is no fault',
    )
  })

  await t.test('an external worker is told and leaves nothing behind', async () => {
    const job = await make('processing.create_and_dispatch', 'hillshade')
    const { body } = await w.post('/workers/claim', {}, { authorization: `Bearer ${SECRET}` })
    const sign = (name: string) =>
      w.post(
        body.outputs_url_template.replace('{name}', name).replace(w.baseUrl, ''),
        { content_type: 'image/tiff' },
        { authorization: `Bearer ${body.token}` },
      )
    const [early, late] = [await sign('early.tif'), await sign('late.tif')]
    assert.equal(await w.put(early.body.url, raster, 'image/tiff'), 200)
    assert.equal((await cancel(job.id)).status, 200)
    assert.equal(await w.put(late.body.url, raster, 'image/tiff'), 200, 'a URL that was signed before stays valid')
    const heard = await w.call(body.token, 'processing.job.register', { job_id: job.id, status: 'running', progress: 50 })
    assert.deepEqual([heard.status, heard.body.job.status], [200, 'cancelled'])
    const done = await w.call(body.token, 'processing.job.register', { job_id: job.id, outputs: [{ name: 'early.tif' }] })
    assert.deepEqual([done.status, done.body.job.status, done.body.job.output_item_ids], [200, 'cancelled', []])
    assert.equal((await sign('more.tif')).status, 400)
    assert.equal(await w.drain(clear), 2, 'at once, and when the last address has expired')
    const { bucketName } = await w.db
      .selectFrom('project')
      .select('bucket_name as bucketName')
      .where('id', '=', org.projectId)
      .executeTakeFirstOrThrow()
    assert.deepEqual((await w.storage.list(bucketName!, { prefix: `jobs/${job.id}/` })).objects, [])
    assert.deepEqual([await items(), await wallet(w, org)], [1, before])
  })

  await t.test('a job that has ended stays unchanged', async () => {
    const job = await make('processing.create_and_dispatch')
    await w.drain(run)
    const late = await cancel(job.id)
    assert.equal(late.status, 400)
    assert.match(late.body.detail, /^This job is completed; only a pending, dispatched or running job can be cancelled$/)
    assert.equal(await items(), 2)
  })

  await t.test('of concurrent calls, one releases the reservation', async () => {
    const job = await make('processing.create')
    const [, reserved] = await wallet(w, org)
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(job.id)))
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.job.status]),
      answers.map(() => [200, 'cancelled']),
    )
    assert.ok(reserved! > 0)
    assert.equal((await wallet(w, org))[1], 0)
    assert.equal((await eventsOf(w, job.id)).filter(([type]) => type === 'job.failed').length, 1)
  })

  await t.test('viewers get 403, strangers and unknown IDs 404, invalid IDs 422', async () => {
    const job = await make('processing.create')
    const [viewer, stranger] = [await w.member(org, 'viewer'), await w.organization()]
    assert.equal((await cancel(job.id, viewer.token)).status, 403)
    assert.equal((await cancel(job.id, stranger.owner.token)).status, 404)
    assert.equal((await cancel(newId())).status, 404)
    assert.equal((await cancel('nothing')).status, 422)
    const reading = await w.key(token, ['read'])
    assert.equal((await cancel(job.id, reading.key)).status, 403)
    assert.equal((await cancel(job.id, (await w.member(org, 'editor')).token)).status, 200)
  })
  assert.deepEqual(await moneyViolations(w.db), [])
})
