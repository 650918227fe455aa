import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { workersOf } from '#adapters/workers/registry.ts'
import { newId } from '#core/ids.ts'
import { moneyViolations } from '../../../test/money/invariants.ts'
import { scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'
import resume from './resume.task.ts'
import run from './run.task.ts'

const SECRET = 'wrk_a-secret-of-some-length'
const OTHER_SECRET = 'wrk_another-secret-of-length'
const digest = (secret: string) => createHash('sha256').update(secret).digest('hex')
const WORKERS = workersOf(
  [
    { name: 'one', job_types: ['hillshade'], secret_sha256: digest(SECRET) },
    { name: 'two', job_types: ['slope'], secret_sha256: digest(OTHER_SECRET) },
  ],
  ['hillshade', 'slope'],
)

const claim = (w: World, secret: string, body: object = {}) => w.post('/workers/claim', body, { authorization: `Bearer ${secret}` })
const wallet = async (w: World, org: Org) => {
  const { available_credits, reserved_credits } = await w.ok(org.owner.token, 'billing.credits.balance')
  return [available_credits, reserved_credits]
}

// Goal: an external worker gets jobs of its types, reads and writes with signed URLs, reports, and can do nothing else.
test('external workers', async (t) => {
  const w = await world(t, { workers: WORKERS })
  const org = await w.organization()
  const { token } = org.owner
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  const raster = await scene({ width: 64, height: 64, bandNames: ['elevation'] })
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': raster })).body.item_ids[0] as string
  const newJob = async () =>
    (
      await w.ok(token, 'processing.create_and_dispatch', {
        project_id: org.projectId,
        job_type_id: 'hillshade',
        input_params: { item_id: itemId },
      })
    ).job
  const get = async (id: string) => (await w.ok(token, 'processing.job.get', { job_id: id })).job

  await t.test('only registered workers, and only for their job types', async () => {
    assert.equal((await w.post('/workers/claim', {})).status, 401)
    assert.equal((await claim(w, 'wrk_a-secret-of-some-lengtH')).status, 401)
    assert.equal((await claim(w, token)).status, 401)
    assert.equal((await claim(w, SECRET, { job_types: ['slope'] })).status, 403)
    assert.equal((await claim(w, SECRET, { wait_seconds: 26 })).status, 422)
    assert.equal((await claim(w, SECRET)).status, 204)
  })

  await t.test('from the claim to the item', async () => {
    const before = await wallet(w, org)
    const job = await newJob()
    assert.equal(await w.drain(run), 0, 'we leave it to the worker')
    assert.equal((await claim(w, OTHER_SECRET)).status, 204, 'not a job type of the other worker')
    const { status, body } = await claim(w, SECRET, { wait_seconds: 1 })
    assert.equal(status, 200)
    assert.deepEqual([body.job.id, body.job.status, (await claim(w, SECRET)).status], [job.id, 'running', 204])
    const fetched = Buffer.from(await (await fetch(body.inputs[0].url)).arrayBuffer())
    assert.deepEqual([body.inputs[0].item_id, fetched.equals(Buffer.from(raster))], [itemId, true])
    const register = (input: object) => w.call(body.token, 'processing.job.register', { job_id: job.id, ...input })
    const reported = await register({ status: 'running', progress: 40, stage: 'shading' })
    assert.deepEqual([reported.status, reported.body.job.progress, reported.body.job.stage], [200, 40, 'shading'])
    assert.equal((await register({ outputs: [{ name: 'shade.tif' }] })).status, 422, 'nothing was uploaded yet')
    const address = await w.post(
      body.outputs_url_template.replace('{name}', 'shade.tif').replace(w.baseUrl, ''),
      { content_type: 'image/tiff' },
      { authorization: `Bearer ${body.token}` },
    )
    assert.equal(address.status, 200)
    assert.equal(await w.put(address.body.url, raster, 'image/tiff'), 200)
    const done = await register({ status: 'completed', outputs: [{ name: 'shade.tif', title: 'Shade' }] })
    assert.equal(done.status, 200, done.bytes.toString())
    assert.deepEqual([done.body.job.status, done.body.job.captured_credits], ['completed', job.reserved_credits])
    const again = await register({ status: 'completed', outputs: [{ name: 'shade.tif' }] })
    assert.deepEqual([again.status, again.body.job.output_item_ids], [200, done.body.job.output_item_ids], 'a second time changes nothing')
    assert.deepEqual(await wallet(w, org), [before[0]! - job.reserved_credits, 0])
    const graph = await w.ok(token, 'provenance.get', { entity_type: 'item', entity_id: done.body.job.output_item_ids[0], direction: 'up' })
    assert.ok(graph.edges.some(({ relation, dst_id }: Record<string, string>) => relation === 'produced_by' && dst_id === job.id))
  })

  await t.test('a token gives access to its own job only', async () => {
    const [first, second] = [await newJob(), await newJob()]
    const { body } = await claim(w, SECRET)
    assert.equal(body.job.id, first.id)
    const { body: theirs } = await claim(w, SECRET)
    assert.equal((await w.call(body.token, 'processing.job.register', { job_id: second.id, status: 'failed' })).status, 403)
    assert.equal((await w.call(body.token, 'processing.job.register', { job_id: newId(), status: 'failed' })).status, 403)
    for (const op of w.platform.operations.values()) {
      if (op.public || op.id === 'processing.job.register') continue
      assert.equal((await w.call(body.token, op.id, {})).status, 403, op.id)
    }
    const foreign = theirs.outputs_url_template.replace('{name}', 'a.tif').replace(w.baseUrl, '')
    assert.equal((await w.post(foreign, {}, { authorization: `Bearer ${body.token}` })).status, 403)
    assert.equal((await w.post(foreign, {}, { authorization: `Bearer ${token}` })).status, 401)
    for (const job of [first, second]) {
      const { token: own } = job.id === first.id ? body : theirs
      await w.ok(own, 'processing.job.register', { job_id: job.id, status: 'failed', error: 'no light' })
      assert.deepEqual([(await get(job.id)).status, (await get(job.id)).error], ['failed', 'no light'])
    }
  })

  await t.test('a worker that stops reporting loses the job, and nothing is charged', async () => {
    const before = await wallet(w, org)
    const lostJob = await newJob()
    const { body } = await claim(w, SECRET)
    w.clock.advance({ minutes: 50 })
    await w.ok(body.token, 'processing.job.register', { job_id: lostJob.id, status: 'running', progress: 5 })
    w.clock.advance({ minutes: 50 })
    org.owner.token = (await w.signIn(org.owner)).token
    await w.runTask(resume)
    const { job } = await w.ok(org.owner.token, 'processing.job.get', { job_id: lostJob.id })
    assert.equal(job.status, 'running', 'it has reported since')
    w.clock.advance({ minutes: 11 })
    await w.runTask(resume)
    org.owner.token = (await w.signIn(org.owner)).token
    const { job: lost } = await w.ok(org.owner.token, 'processing.job.get', { job_id: lostJob.id })
    assert.equal(lost.status, 'failed')
    assert.deepEqual(await wallet(w, org), before)
  })

  assert.deepEqual(await moneyViolations(w.db), [])
})
